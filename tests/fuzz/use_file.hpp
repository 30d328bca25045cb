#pragma once

#include "weightfile/tensor_file.hpp"

#include <cstdlib>
#include <stdexcept>

namespace spectra::fuzz {

/// Everything that can be asked of an open file.
inline void use(const weightfile::TensorFile& file) {
    constexpr std::size_t most_elements = 1 << 12;
    for (const auto& tensor : file.tensors()) {
        if (file.find(tensor.key) != &tensor) std::abort();
        try {
            const auto values = file.read_doubles(tensor, most_elements);
            const auto singles = file.read_floats(tensor, most_elements);
            if (values.size() != singles.size() || values.size() > most_elements) std::abort();
        } catch (const std::invalid_argument&) {
        }
    }
    const auto prefix = file.state_dict_prefix();
    for (const auto& tensor : file.state_dict())
        if (file.find(prefix + tensor.key) == nullptr) std::abort();
    const auto root = file.value();
    for (std::size_t k = 0; k < root.size(); ++k) (void)root.item(k).kind();
}

}  // namespace spectra::fuzz
