#pragma once

#include <string>

namespace spectra {

/// The function `symbol` of a module: a shared library that programs load when they need it. Searched for beside
/// the program, in ../lib/jacobian_spectra, and in the folder that modules are installed to; never by the
/// loader's own search, which may include the current folder. The module stays loaded; with `global` its symbols
/// serve libraries loaded later. Returns null if there is none, and why_not explains why in one line.
void* load_module(const std::string& file_name, const char* symbol, bool global, std::string& why_not);

}  // namespace spectra
