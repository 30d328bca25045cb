#pragma once

#include "weightfile/tensor_file.hpp"

#include <Eigen/Core>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectra::layouts {

/// "24×16384", "3", and "scalar" where there are no dimensions.
std::string shape_text(const weightfile::Shape& shape);

/// The state dict of a weight file as the layouts read it: by its own keys, in double precision, checked.
/// A key that is missing, of another shape, or holds NaN or an infinity is refused: std::invalid_argument,
/// one line that begins with the file's name and gives key and shape. Nothing is read before it is asked for.
class Weights {
public:
    /// The file must outlive it.
    explicit Weights(const weightfile::TensorFile& file) : Weights(file, file.state_dict_prefix()) {}
    /// Of the tensors whose keys begin so.
    Weights(const weightfile::TensorFile& file, std::string prefix);

    const weightfile::TensorFile& file() const { return *file_; }
    /// In the order of the file, without the state dict's prefix.
    const std::vector<std::string>& keys() const { return keys_; }

    bool has(const std::string& key) const { return find(key) != nullptr; }
    const weightfile::Tensor* find(const std::string& key) const;
    const weightfile::Tensor& at(const std::string& key) const;
    /// All elements in row-major order. `count` < 0 takes any number.
    Eigen::VectorXd numbers(const std::string& key, Eigen::Index count = -1) const;
    /// A tensor of two dimensions; those that are < 0 take any size.
    Eigen::MatrixXd matrix(const std::string& key, Eigen::Index rows, Eigen::Index columns = -1) const;
    /// A tensor of one element, whatever its dimensions.
    double scalar(const std::string& key) const { return numbers(key, 1)(0); }
    /// Refuses where the tensor is missing or of another shape, without reading it; < 0 takes any size.
    void expect_shape(const std::string& key, const std::vector<Eigen::Index>& shape) const;

    /// A number of the dict that stands beside the state dict under `config` or `model_args`.
    double setting(std::string_view name, double otherwise) const;
    /// The same where it counts something: 1 to 100000, others are refused.
    int count_setting(std::string_view name, int otherwise) const;
    /// A text of it; empty where there is none.
    std::string text_setting(std::string_view name) const;

    [[noreturn]] void refuse(const std::string& what) const;
    /// As above, about a tensor that is there: "key 'a.b' (4×5) …".
    [[noreturn]] void refuse(const weightfile::Tensor& tensor, const std::string& what) const;

private:
    std::optional<weightfile::Value> setting_value(std::string_view name) const;

    const weightfile::TensorFile* file_;
    std::string prefix_;
    std::vector<std::string> keys_;
};

}  // namespace spectra::layouts
