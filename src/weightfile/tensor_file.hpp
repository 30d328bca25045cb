#pragma once

#include "weightfile/contents.hpp"
#include "weightfile/zip.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Common weight files: torch.save and safetensors. They are read without Torch, without executing anything
/// from the file, and without trusting its contents.
namespace spectra::weightfile {

enum class Kind {
    safetensors,
    torch_save,
    torch_script,  ///< recognised only: it is a program that needs Torch to run
};

/// "a safetensors file", "a torch.save file", "a TorchScript module".
std::string_view name(Kind kind);

/// Whether a file begins like one of these; false if it cannot be read.
bool is_weight_file(const std::filesystem::path& path);

/// An open weight file, mapped into memory: opening reads only its directory, and tensors are read one by
/// one.
///
/// Every fault of a file throws std::invalid_argument, one line that begins with the file's name.
class TensorFile {
public:
    /// Recognises the file by its content. Files of torch.save before 1.6 are refused with advice.
    static TensorFile open(const std::filesystem::path& path);
    /// The same for bytes in memory, which must outlive it; `name` stands for the file in messages.
    static TensorFile from_bytes(std::span<const std::byte> bytes, std::string name);

    Kind kind() const { return kind_; }
    /// The file's name, with which messages about it begin.
    const std::string& where() const { return name_; }
    /// In the order of the file, with unique keys; empty for a TorchScript module. The key of a tensor in a
    /// torch.save file is the path to it through dicts and lists, joined by dots: "model.h.0.weight" for
    /// {"model": {"h.0.weight": …}}.
    const std::vector<Tensor>& tensors() const { return contents_.tensors; }
    /// Null if there is no tensor with that key.
    const Tensor* find(std::string_view key) const;
    /// Refuses a missing key.
    const Tensor& at(std::string_view key) const;

    /// A tensor's elements in row-major order, whatever its strides, widened from its dtype. At most
    /// `most_elements` are read: a small file can declare a tensor of any size. Complex numbers are refused.
    std::vector<double> read_doubles(const Tensor& tensor,
                                     std::size_t most_elements = default_most_elements) const;
    /// The same in single precision; doubles are rounded.
    std::vector<float> read_floats(const Tensor& tensor,
                                   std::size_t most_elements = default_most_elements) const;

    static constexpr std::size_t default_most_elements = std::size_t{1} << 28;

    /// The contents of the file beside and around its tensors: the object that was passed to torch.save; the
    /// `__metadata__` of safetensors, a dict of strings; None for a TorchScript module.
    Value value() const { return {contents_.objects, contents_.objects.root}; }

    /// The prefix of the model's state dict in the keys: "model." for {model, optimizer, …}, "state_dict.",
    /// "" for a bare one and for safetensors. Looks for model, state_dict, model_state_dict, module, also
    /// nested; otherwise for the only dict with tensors, if no tensor lies beside it.
    std::string state_dict_prefix() const;
    /// The tensors of that state dict under their keys in it.
    std::vector<Tensor> state_dict() const;

    /// The training step at which the file was saved, if it is stored beside the model: an integer
    /// (safetensors: its digits) called step, global_step, iter_num, iteration, iter or steps.
    std::optional<std::int64_t> training_step() const;

private:
    TensorFile(std::string name, Bytes bytes) : name_(std::move(name)), bytes_(bytes) {}
    void recognise();
    void index_keys();
    bool has_key_with(std::string_view prefix) const;
    /// The key of the dict inside `dict` that holds the model, if there is one.
    std::optional<std::string> inner_dict(const Value& dict, const std::string& prefix) const;
    Bytes bytes_of(const Storage& storage) const;
    template <class Real>
    std::vector<Real> read(const Tensor& tensor, std::size_t most_elements) const;

    std::string name_;
    MappedFile mapped_;
    Bytes bytes_;
    Kind kind_ = Kind::safetensors;
    ZipArchive archive_;
    Contents contents_;
    std::vector<std::size_t> by_key_;  ///< numbers of the tensors, sorted by key
};

}  // namespace spectra::weightfile
