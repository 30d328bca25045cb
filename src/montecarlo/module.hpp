#pragma once

#include <string>

namespace spectra::montecarlo {

/// The function `symbol` of a module, a shared library that programs do without until they need it: looked
/// for beside the program, in ../lib/jacobian_spectra, where it was built (`built`, may be empty), and where
/// the system looks. It stays loaded; with `global` its symbols serve libraries loaded later. Null where
/// there is none, and why_not says why in one line.
void* load_module(const std::string& file_name, const std::string& built, const char* symbol, bool global,
                  std::string& why_not);

}  // namespace spectra::montecarlo
