#pragma once

#include "weightfile/bytes.hpp"
#include "weightfile/unpickled.hpp"

#include <string>

namespace spectra::weightfile {

/// Reads a pickle of protocols 2 to 5 as torch.save writes them. Nothing is executed: a pickle may name only
/// tensors, their dtypes and storages, and plain data (dict, list, tuple, set, numbers, text, bytes); any
/// other name is refused. Time and memory are proportional to the pickle's length, which is limited, however
/// its objects refer to each other.
Unpickled unpickle(Bytes pickle, const std::string& where);

}  // namespace spectra::weightfile
