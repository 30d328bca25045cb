#pragma once

#include <string>

namespace spectra {

/// The function `symbol` of a module, a shared library that programs load on demand. It is searched for
/// beside the program, in ../lib/jacobian_spectra, beside the shared library that contains this code (a Python
/// package), in ../../lib/jacobian_spectra from there, and in the folder where modules are installed; never by the
/// loader's own search, which may include the current folder. The module stays loaded; with `global` its
/// symbols are visible to libraries loaded later. Returns null on failure; why_not then gives the reason in
/// one line.
void* load_module(const std::string& file_name, const char* symbol, bool global, std::string& why_not);

/// Whether the module is in one of these places, whether or not it can be loaded.
bool has_module(const std::string& file_name);

}  // namespace spectra
