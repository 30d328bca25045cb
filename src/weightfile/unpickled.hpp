#pragma once

#include "weightfile/objects.hpp"
#include "weightfile/tensor.hpp"
#include "weightfile/value.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace spectra::weightfile {

/// A storage that a pickle names.
struct NamedStorage {
    std::string key;
    std::uint64_t size = 0;  ///< in bytes
};

/// The contents of a pickle. Tensors have no keys yet.
struct Unpickled {
    Objects objects;
    std::vector<NamedStorage> storages;
    std::vector<Tensor> tensors;
    std::map<std::string, std::size_t> storage_numbers;  ///< by key
    // Both are limited: a short pickle can request a lot of them.
    std::size_t sizes = 0;    ///< dimensions of all tensors, plus a constant per tensor
    std::size_t encoded = 0;  ///< bytes made from text
};

}  // namespace spectra::weightfile
