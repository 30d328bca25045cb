#pragma once

/// \file
/// Weight files as people have them: what torch.save wrote, safetensors, and folders of these. Read without Torch,
/// without running anything that a file asks for, and without trust in what it says of itself.

#include "weightfile/tensor.hpp"
#include "weightfile/value.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spectra::weightfile {

/// The formats that are recognised.
enum class Kind {
    safetensors,   ///< of Hugging Face
    torch_save,    ///< of torch.save since version 1.6
    torch_script,  ///< recognised only: it is a program, and takes Torch to run
    sharded,       ///< a model in several files, with an index
    gguf,          ///< of llama.cpp
};

/// "a safetensors file", "a torch.save file", "a TorchScript module", "a model in several files", "a GGUF
/// file".
std::string_view name(Kind kind);

/// Whether a file begins like one of these, or is a folder or an index of them; false if it cannot be read.
bool is_weight_file(const std::filesystem::path& path);

/// An open weight file, mapped into memory: opening reads only its directory, and tensors are read one by
/// one. A model in several files is one of these too: each of its files is opened when a tensor of it is asked for.
///
/// Every fault of a file throws std::invalid_argument, one line that begins with the file's name.
class TensorFile {
public:
    /// Recognises the file by its content. Files of torch.save before 1.6 are refused with advice. A folder, or an
    /// index in it (*.index.json), is opened with the files it names and with the settings of its config.json.
    static TensorFile open(const std::filesystem::path& path);
    /// The same for bytes in memory, which must outlive it; `name` stands for the file in messages.
    static TensorFile from_bytes(std::span<const std::byte> bytes, std::string name);

    /// Files can be moved, not copied. Tensors and values stay valid.
    TensorFile(TensorFile&& other) noexcept;
    /// Closes this file and takes over the other.
    TensorFile& operator=(TensorFile&& other) noexcept;
    ~TensorFile();

    /// What the file was recognised as.
    Kind kind() const;
    /// The file's name, as messages about it begin.
    const std::string& where() const;
    /// The files it consists of: one, or those that an index names.
    const std::vector<std::filesystem::path>& files() const;
    /// In the order of the file, every key once; none of a TorchScript module. The key of a torch.save file's
    /// tensor is the way to it through dicts and lists, joined by dots: "model.h.0.weight" of {"model":
    /// {"h.0.weight": …}}. Opens all files of a model; its tensors are sorted by key.
    const std::vector<Tensor>& tensors() const;
    /// The keys of tensors(), in that order. Opens no file.
    std::vector<std::string> keys() const;
    /// Null where there is none of that key.
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

    /// Largest number of elements that is read where the caller names no other.
    static constexpr std::size_t default_most_elements = std::size_t{1} << 28;

    /// What the file holds beside and around its tensors: the object that torch.save was given; the
    /// `__metadata__` of safetensors, a dict of texts; None for a TorchScript module. Opened by its folder, it also has
    /// the item "config", the folder's config.json.
    Value value() const;

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
    struct Inside;  // the mapped file, its archive and what was read of it
    explicit TensorFile(std::unique_ptr<Inside> inside);
    static TensorFile open_file(const std::filesystem::path& path);
    static TensorFile open_folder(const std::filesystem::path& path);

    std::unique_ptr<Inside> inside_;
};

}  // namespace spectra::weightfile
