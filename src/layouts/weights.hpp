#pragma once

#include "weightfile/tensor_file.hpp"

#include <Eigen/Core>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectra::layouts {

/// "24×16384", "3", or "scalar" without dimensions.
std::string shape_text(const weightfile::Shape& shape);

/// The state dict of a weight file for the layouts: by key, in double precision, checked. Refuses a key that
/// is missing, has another shape, or holds NaN or an infinity: std::invalid_argument, one line that begins
/// with the file's name and gives key and shape. Tensors are read on demand.
class Weights {
public:
    /// The file must outlive it.
    explicit Weights(const weightfile::TensorFile& file) : Weights(file, file.state_dict_prefix()) {}
    /// Only tensors with keys that begin with `prefix`.
    Weights(const weightfile::TensorFile& file, std::string prefix);

    const weightfile::TensorFile& file() const { return *file_; }
    /// In the order of the file, without the state dict's prefix.
    const std::vector<std::string>& keys() const { return keys_; }

    bool has(const std::string& key) const { return find(key) != nullptr; }
    const weightfile::Tensor* find(const std::string& key) const;
    const weightfile::Tensor& at(const std::string& key) const;
    /// All elements in row-major order. `count` < 0 allows any number.
    Eigen::VectorXd numbers(const std::string& key, Eigen::Index count = -1) const;
    /// A tensor of two dimensions; < 0 allows any size.
    Eigen::MatrixXd matrix(const std::string& key, Eigen::Index rows, Eigen::Index columns = -1) const;
    /// A tensor of one element, whatever its dimensions.
    double scalar(const std::string& key) const { return numbers(key, 1)(0); }
    /// Refuses a tensor that is missing or has another shape, without reading it; < 0 allows any size.
    void expect_shape(const std::string& key, const std::vector<Eigen::Index>& shape) const;

    /// A number from the dict `config` or `model_args` beside the state dict.
    double setting(std::string_view name, double otherwise) const;
    /// The same for a count: must be 1 to 100000.
    int count_setting(std::string_view name, int otherwise) const;
    /// A string from the same dict; empty if there is none.
    std::string text_setting(std::string_view name) const;
    /// Yes or no from the same dict; nothing if there is none.
    std::optional<bool> flag_setting(std::string_view name) const;

    [[noreturn]] void refuse(const std::string& what) const;
    /// The same about an existing tensor: "key 'a.b' (4×5) …".
    [[noreturn]] void refuse(const weightfile::Tensor& tensor, const std::string& what) const;

private:
    std::optional<weightfile::Value> setting_value(std::string_view name) const;

    const weightfile::TensorFile* file_;
    std::string prefix_;
    std::vector<std::string> keys_;
};

}  // namespace spectra::layouts
