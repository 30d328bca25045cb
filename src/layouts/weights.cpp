#include "layouts/weights.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <stdexcept>

namespace spectra::layouts {

using weightfile::Tensor;

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

bool agrees(const weightfile::Shape& shape, const std::vector<Eigen::Index>& wanted) {
    if (shape.size() != wanted.size()) return false;
    for (std::size_t k = 0; k < shape.size(); ++k)
        if (wanted[k] >= 0 && shape[k] != static_cast<std::uint64_t>(wanted[k])) return false;
    return true;
}

std::string wanted_text(const std::vector<Eigen::Index>& wanted) {
    std::vector<std::string> sizes;
    for (const auto size : wanted) sizes.push_back(size < 0 ? "any" : std::to_string(size));
    return fmt::format("{}", fmt::join(sizes, "×"));
}

}  // namespace

std::string shape_text(const weightfile::Shape& shape) {
    return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "×"));
}

Weights::Weights(const weightfile::TensorFile& file, std::string prefix)
    : file_(&file), prefix_(std::move(prefix)) {
    for (const auto& key : file.keys())
        if (key.starts_with(prefix_)) keys_.push_back(key.substr(prefix_.size()));
}

const Tensor* Weights::find(const std::string& key) const {
    return file_->find(prefix_ + key);
}

const Tensor& Weights::at(const std::string& key) const {
    const auto* const tensor = find(key);
    if (tensor == nullptr) refuse(fmt::format("has no key {}", in_quotes(prefix_ + key)));
    return *tensor;
}

Eigen::VectorXd Weights::numbers(const std::string& key, Eigen::Index count) const {
    const auto& tensor = at(key);
    const auto held = weightfile::element_count(tensor.shape);
    if (!held || (count >= 0 && *held != static_cast<std::uint64_t>(count)))
        refuse(tensor, fmt::format("must have {} elements", count));
    const auto values = file_->read_doubles(tensor);
    for (std::size_t k = 0; k < values.size(); ++k)
        if (!std::isfinite(values[k]))
            refuse(tensor, fmt::format("holds {} as element {}; must be finite", values[k], k));
    return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

Eigen::MatrixXd Weights::matrix(const std::string& key, Eigen::Index rows, Eigen::Index columns) const {
    expect_shape(key, {rows, columns});
    const auto& shape = at(key).shape;
    const auto values = numbers(key);
    return Eigen::Map<const RowMajor>(values.data(), static_cast<Eigen::Index>(shape[0]),
                                      static_cast<Eigen::Index>(shape[1]));
}

void Weights::expect_shape(const std::string& key, const std::vector<Eigen::Index>& shape) const {
    const auto& tensor = at(key);
    // A view of few numbers can claim any size, and vectors of that size are allocated.
    const auto count = weightfile::element_count(tensor.shape);
    if (!count || *count > weightfile::TensorFile::default_most_elements) refuse(tensor, "is too large");
    if (!agrees(tensor.shape, shape)) refuse(tensor, fmt::format("must be {}", wanted_text(shape)));
}

namespace {

/// GGUF's names of settings, behind the model's architecture and a dot.
constexpr std::pair<std::string_view, std::string_view> gguf_settings[] = {
    {"hc_mult", "hyper_connection.count"},
    {"hc_sinkhorn_iters", "hyper_connection.sinkhorn_iterations"},
    {"hc_eps", "hyper_connection.epsilon"},
    {"rms_norm_eps", "attention.layer_norm_rms_epsilon"}};

std::optional<weightfile::Value> gguf_setting(const weightfile::TensorFile& file, std::string_view name) {
    const auto architecture = file.value().find("general.architecture");
    if (file.kind() != weightfile::Kind::gguf || !architecture || !architecture->text()) return {};
    if (name == "model_type") return architecture;
    for (const auto& [ours, theirs] : gguf_settings)
        if (ours == name) return file.value().find(fmt::format("{}.{}", *architecture->text(), theirs));
    return {};
}

}  // namespace

std::optional<weightfile::Value> Weights::setting_value(std::string_view name) const {
    if (const auto value = gguf_setting(*file_, name)) return value;
    for (const char* const place : {"config", "model_args"})
        if (const auto dict = file_->value().find(place)) {
            if (const auto value = dict->find(name)) return value;
            // Models of text and images have those of the text model apart.
            const auto inner = dict->find("text_config");
            if (const auto value = inner ? inner->find(name) : std::nullopt) return value;
        }
    return {};
}

double Weights::setting(std::string_view name, double otherwise) const {
    const auto value = setting_value(name);
    return value ? value->number().value_or(otherwise) : otherwise;
}

int Weights::count_setting(std::string_view name, int otherwise) const {
    const double value = setting(name, otherwise);
    if (!(value >= 1 && value <= 100'000))
        refuse(fmt::format("its setting {} is {}; must be 1 to 100000", name, value));
    return static_cast<int>(value);
}

std::string Weights::text_setting(std::string_view name) const {
    const auto value = setting_value(name);
    return std::string(value ? value->text().value_or("") : "");
}

std::optional<bool> Weights::flag_setting(std::string_view name) const {
    const auto value = setting_value(name);
    return value ? value->boolean() : std::nullopt;
}

void Weights::refuse(const std::string& what) const {
    throw std::invalid_argument(fmt::format("{}: {}", file_->where(), what));
}

void Weights::refuse(const Tensor& tensor, const std::string& what) const {
    refuse(fmt::format("key {} ({}) {}", in_quotes(tensor.key), shape_text(tensor.shape), what));
}

}  // namespace spectra::layouts
