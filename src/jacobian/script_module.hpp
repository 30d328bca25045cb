#pragma once

/// \file
/// The Jacobian of a TorchScript module from a file.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "jacobian/jacobian_law.hpp"
#include "jacobian/torch.hpp"

namespace spectra::jacobian {

/// A TorchScript module from a file, in evaluation mode: y = module(x), one tensor in, one out (the first of
/// a tuple or list). Every error throws std::invalid_argument, one line that begins with the file's
/// name.
///
/// A module is a program. Loading and running it executes its author's code, within the limits of
/// weightfile::refuse_unsafe_script, which is applied first.
///
/// The file contains a format number (the record `version`), but not the PyTorch version that wrote it.
/// PyTorch refuses numbers above its own; this class refuses the file with both numbers and the version of
/// this Torch. A file with a known number may still call an operator that only newer versions have: the
/// message then names the operator and both versions.
class ScriptModule {
public:
    /// Loads the module to a device.
    explicit ScriptModule(const std::filesystem::path& file, torch::Device device = torch::kCPU);

    /// Precision of the module's parameters and buffers: the type of the first that is a float; float32
    /// without any.
    torch::ScalarType precision() const { return precision_; }

    /// As JacobianLawOptions, and the precision.
    struct Options : JacobianLawOptions {
        /// Widen weights and input. Modules that require float32 internally are measured unchanged.
        bool double_precision = true;
    };
    /// What was found, and how.
    struct Result {
        JacobianLaw law;                ///< the law of ∂y/∂x
        bool double_precision = false;  ///< what it was measured in
        bool batched = false;  ///< the input's first dimension, of size 1, is a batch's: it was replicated
    };
    /// The law of ∂y/∂x, both flattened, at an input in the module's format.
    Result law(const torch::Tensor& input, const Options& options) const;

private:
    torch::Tensor forward(const torch::Tensor& x) const;
    bool runs(const torch::Tensor& x) const;
    /// Whether the first dimension of x, of size 1, is a batch's. Found out on the host, where a failure harms nothing.
    bool takes_rows(const torch::Tensor& x) const;

    std::string where_;
    std::shared_ptr<torch::jit::Module> module_;
    torch::Device device_;
    torch::ScalarType precision_ = torch::kFloat;
};

/// The tensor of a torch.save, safetensors or NumPy file (.npy, .npz): the only one, or the one with key "input" or "x".
/// In double; integers as int64.
torch::Tensor read_input(const std::filesystem::path& file);

/// N(0, 1) numbers, the same in every run for a seed and a number.
torch::Tensor drawn_input(const std::vector<int64_t>& shape, std::uint64_t seed, std::uint32_t number = 0);

}  // namespace spectra::jacobian
