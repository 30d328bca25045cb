#include "jacobian/script_module.hpp"

#include <caffe2/serialize/read_adapter_interface.h>
#include <caffe2/serialize/versions.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "weightfile/bytes.hpp"
#include "weightfile/npy.hpp"
#include "weightfile/script_scan.hpp"
#include "weightfile/tensor_file.hpp"
#include "weightfile/torch_file.hpp"
#include "random/stream.hpp"

namespace spectra::jacobian {

using torch::Tensor;

namespace {

/// The number in the record `version`; nothing if there is none.
std::optional<std::uint64_t> format_version(const weightfile::ZipArchive& archive, const std::string& root) {
    for (const auto* const record : {"version", ".data/version"})
        if (const auto* const entry = archive.find(root + record)) {
            const auto text = archive.unpacked(*entry, 64);
            std::uint64_t version = 0;
            if (std::from_chars(text.data(), text.data() + text.size(), version).ec == std::errc())
                return version;
        }
    return std::nullopt;
}

/// Lets Torch read bytes in memory.
class BytesReader : public caffe2::serialize::ReadAdapterInterface {
public:
    explicit BytesReader(weightfile::Bytes bytes) : bytes_(bytes) {}
    std::size_t size() const override { return bytes_.size(); }
    std::size_t read(std::uint64_t at, void* out, std::size_t count, const char*) const override {
        if (at >= bytes_.size()) return 0;
        count = std::min<std::size_t>(count, bytes_.size() - at);
        std::memcpy(out, bytes_.data() + at, count);
        return count;
    }

private:
    weightfile::Bytes bytes_;
};

/// The line of an exception with the cause: the operator's message, after the interpreter's traceback.
std::string reason(const std::exception& error) {
    std::string text = error.what();
    if (const auto* const torch_error = dynamic_cast<const c10::Error*>(&error))
        text = torch_error->what_without_backtrace();
    text = text.substr(0, text.find("\nException raised from"));
    constexpr std::string_view mark = "RuntimeError: ";
    if (const auto at = text.rfind(mark); at != std::string::npos) text = text.substr(at + mark.size());
    while (!text.empty() && text.front() == '\n') text.erase(0, 1);
    return text.substr(0, text.find('\n'));
}

/// The text after "Unknown builtin op: ", up to the full stop; empty for other errors.
std::string unknown_operator(const std::exception& error) {
    const std::string text = error.what();
    constexpr std::string_view mark = "Unknown builtin op: ";
    const auto at = text.find(mark);
    if (at == std::string::npos) return "";
    const auto begin = at + mark.size();
    return text.substr(begin, text.find_first_of(". \n", begin) - begin);
}

/// The operator of "derivative for aten::… is not implemented"; empty for other errors.
std::string without_derivative(const std::string& text) {
    constexpr std::string_view mark = "derivative for aten::";
    const auto at = text.find(mark);
    if (at == std::string::npos) return "";
    const auto begin = at + mark.size();
    return text.substr(begin, text.find_first_of(" '", begin) - begin);
}

/// What a failed measurement is refused with.
std::string explained(const std::exception& error) {
    const auto text = reason(error);
    const auto op = without_derivative(text);
    if (op.empty()) return text;
    return fmt::format("calls aten::{}, a fused operation without a derivative; save the module again from a model in "
                       "training mode (with dropout 0), which does not fuse it, or validate the live model in Python: "
                       "jacobian_spectra.validate(model, inputs)",
                       op);
}

/// Gives floating-point parameters and buffers another type while it exists; integers are unchanged.
class Retyped {
public:
    Retyped(torch::jit::Module& module, torch::ScalarType type) {
        const auto change = [&](Tensor t) {
            if (!t.is_floating_point() || t.scalar_type() == type) return;
            before_.emplace_back(t, t.scalar_type());
            t.set_data(t.detach().to(type));
        };
        for (const Tensor& t : module.parameters()) change(t);
        for (const Tensor& t : module.buffers()) change(t);
    }
    ~Retyped() {
        for (auto& [t, type] : before_) t.set_data(t.detach().to(type));
    }
    Retyped(const Retyped&) = delete;
    Retyped& operator=(const Retyped&) = delete;

private:
    std::vector<std::pair<Tensor, torch::ScalarType>> before_;
};

Tensor first_tensor(const c10::IValue& value, const std::string& where) {
    if (value.isTensor()) return value.toTensor();
    if (value.isTuple() && !value.toTupleRef().elements().empty())
        return first_tensor(value.toTupleRef().elements()[0], where);
    if (value.isTensorList() && !value.toTensorVector().empty()) return value.toTensorVector().front();
    refuse(where, fmt::format("returns a {}; must be a tensor, or a tuple or list that begins with one",
                              value.tagKind()));
}

bool is_whole(weightfile::Dtype dtype) {
    return dtype >= weightfile::Dtype::i64 && dtype <= weightfile::Dtype::boolean;
}

}  // namespace

ScriptModule::ScriptModule(const std::filesystem::path& file, torch::Device device)
    : where_(file.string()), device_(device) {
    // Scans and loads the same private copy, which no other process can change in between.
    std::vector<std::byte> bytes;
    {
        const weightfile::MappedFile mapped(where_);
        bytes.assign(mapped.bytes().begin(), mapped.bytes().end());
    }
    const auto kind = weightfile::TensorFile::from_bytes(bytes, where_).kind();
    if (kind != weightfile::Kind::torch_script)
        refuse(where_, fmt::format("is {}, not a TorchScript module", weightfile::name(kind)));
    const weightfile::ZipArchive archive(bytes, where_);
    const auto root = weightfile::torch_root(archive, where_);
    weightfile::refuse_unsafe_script(archive, root, where_);
    const auto format = format_version(archive, root);
    constexpr auto newest = caffe2::serialize::kMaxSupportedFileFormatVersion;
    if (format && *format > newest)
        refuse(where_, fmt::format("has format {} of a newer PyTorch; this program's Torch {} reads up to {}",
                                   *format, TORCH_VERSION, newest));
    try {
        module_ = std::make_shared<torch::jit::Module>(
            torch::jit::load(std::make_shared<BytesReader>(bytes), device));
    } catch (const std::exception& error) {
        if (const auto op = unknown_operator(error); !op.empty())
            refuse(where_,
                   fmt::format("calls {}, which this program's Torch {} does not have (file format {}; a "
                               "newer PyTorch saved it?)",
                               op, TORCH_VERSION, format.value_or(0)));
        refuse(where_, fmt::format("cannot be loaded by Torch {}: {}", TORCH_VERSION, reason(error)));
    }
    module_->eval();
    const auto see = [&](const Tensor& t) {
        if (!t.is_floating_point()) return false;
        precision_ = t.scalar_type();
        return true;
    };
    bool found = false;
    for (const Tensor& t : module_->parameters()) {
        if (!found) found = see(t);
        t.set_requires_grad(false);
    }
    for (const Tensor& t : module_->buffers())
        if (!found) found = see(t);
}

Tensor ScriptModule::forward(const Tensor& x) const {
    // Plain operators: compiled graphs pay off only for many runs, and have their own gradients.
    const torch::jit::GraphOptimizerEnabledGuard as_written(false);
    return first_tensor(module_->forward({x}), where_);
}

bool ScriptModule::takes_rows(const Tensor& x) const {
    const auto one = x[0];
    if (!device_.is_cuda()) return takes_batches([this](const Tensor& batch) { return forward(batch); }, one);
    // On the host: an index out of range, or another failed assertion in a kernel, would end every later use of the GPU.
    try {
        auto copy = module_->deepcopy();
        copy.to(torch::kCPU);
        const torch::jit::GraphOptimizerEnabledGuard as_written(false);
        return takes_batches([&](const Tensor& batch) { return first_tensor(copy.forward({batch}), where_); },
                             one.to(torch::kCPU));
    } catch (const std::exception&) {
        return false;  // it cannot leave the GPU: one row at a time is right for every module
    }
}

bool ScriptModule::runs(const Tensor& x) const {
    const torch::NoGradGuard no_grad;
    try {
        forward(x);
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

ScriptModule::Result ScriptModule::law(const Tensor& input, const Options& options) const {
    if (!input.is_floating_point())
        refuse(where_, fmt::format("cannot be differentiated with respect to {} numbers; use floating point",
                                   c10::toString(input.scalar_type())));
    Result out;
    std::optional<Retyped> widened;
    auto x = input.detach().to(device_);
    if (options.double_precision) {
        widened.emplace(*module_, torch::kDouble);
        x = x.to(torch::kDouble);
        if (!runs(x)) widened.reset();
    }
    out.double_precision = widened.has_value() || precision_ == torch::kDouble;
    if (!widened) x = x.to(precision_);
    JacobianLawOptions how = options;
    try {
        if (x.dim() > 1 && x.size(0) == 1) {
            out.batched = takes_rows(x);
            try {
                if (out.batched)
                    out.law = jacobian_law([this](const Tensor& batch) { return forward(batch); }, x[0], how);
            } catch (const c10::Error&) {
                out.batched = false;  // a batch can be run, but not differentiated: row by row
            }
        }
        if (!out.batched) {
            how.batched = false;
            out.law =
                jacobian_law([this](const Tensor& one) { return forward(one[0]).unsqueeze(0); }, x, how);
        }
    } catch (const std::invalid_argument&) {
        throw;
    } catch (const std::exception& error) {
        refuse(where_, explained(error));
    }
    return out;
}

namespace {

Tensor tensor_of(const weightfile::Shape& shape, const std::vector<double>& values, bool whole) {
    auto out = torch::empty(std::vector<int64_t>(shape.begin(), shape.end()), torch::kDouble);
    std::copy(values.begin(), values.end(), out.data_ptr<double>());
    return whole ? out.to(torch::kLong) : out;
}

/// The array of a .npy or .npz file; nothing for other files.
std::optional<Tensor> numpy_input(const std::filesystem::path& path) {
    if (std::filesystem::is_directory(path)) return std::nullopt;
    const weightfile::MappedFile file(path.string());
    const bool archive = weightfile::looks_like_npz(file.bytes());
    if (!archive && !weightfile::looks_like_npy(file.bytes())) return std::nullopt;
    std::string_view name = "input";
    if (archive) {
        const weightfile::ZipArchive entries(file.bytes(), path.string());
        if (entries.find("input.npy") == nullptr && entries.find("x.npy") != nullptr) name = "x";
    }
    const auto array = weightfile::read_numpy(file.bytes(), path.string(), name);
    if (array.complex) refuse(path.string(), "has complex numbers; must be real");
    return tensor_of(array.shape, array.values, array.whole);
}

}  // namespace

Tensor read_input(const std::filesystem::path& file) {
    if (auto array = numpy_input(file)) return *std::move(array);
    const auto opened = weightfile::TensorFile::open(file);
    const auto& all = opened.tensors();
    const weightfile::Tensor* chosen = all.size() == 1 ? &all.front() : nullptr;
    for (const auto* const key : {"input", "x"})
        if (chosen == nullptr) chosen = opened.find(key);
    if (chosen == nullptr)
        refuse(opened.where(),
               fmt::format("has {} tensors; expected one, or one with key \"input\" or \"x\"", all.size()));
    return tensor_of(chosen->shape, opened.read_doubles(*chosen), is_whole(chosen->dtype));
}

Tensor drawn_input(const std::vector<int64_t>& shape, std::uint64_t seed, std::uint32_t number) {
    auto out = torch::empty(shape, torch::kDouble);
    random::Stream(seed, random::Purpose::batch, 0, number)
        .fill_normal({out.data_ptr<double>(), static_cast<std::size_t>(out.numel())});
    return out;
}

}  // namespace spectra::jacobian
