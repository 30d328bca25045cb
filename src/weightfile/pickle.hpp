#pragma once

#include "weightfile/bytes.hpp"
#include "weightfile/unpickled.hpp"

#include <string>

namespace spectra::weightfile {

/// Reads a pickle of protocols 2 to 5 as torch.save writes them. Nothing is run: the names a pickle may ask
/// for are those of tensors, their dtypes and storages, and of plain data (dict, list, tuple, set, numbers,
/// text, bytes), whose meaning is known; any other name is refused. Time and memory are proportional to the
/// pickle's length, which is limited, whatever refers to whatever.
Unpickled unpickle(Bytes pickle, const std::string& where);

}  // namespace spectra::weightfile
