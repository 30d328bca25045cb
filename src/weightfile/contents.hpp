#pragma once

#include "weightfile/bytes.hpp"
#include "weightfile/objects.hpp"
#include "weightfile/tensor.hpp"
#include "weightfile/value.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace spectra::weightfile {

/// A range of bytes; tensors are views of it.
struct Storage {
    std::string name;         ///< in a torch file: "0", "1", …
    std::uint64_t size = 0;   ///< in bytes
    std::uint64_t place = 0;  ///< torch file: the number of its archive entry; safetensors: its first byte
};

/// The contents of a file.
struct Contents {
    std::vector<Storage> storages;
    std::vector<Tensor> tensors;  ///< in the order of the file
    Objects objects;
    bool big_endian = false;
};

}  // namespace spectra::weightfile
