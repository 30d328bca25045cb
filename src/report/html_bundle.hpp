#pragma once

#include <string>

/// The script and the style of a page, from src/web/bundle, compiled into the library at build
/// (cmake/SpectraBundle.cmake).
namespace spectra::report {

std::string html_bundle_script();
std::string html_bundle_style();
/// The Content-Security-Policy that allows these two.
std::string html_bundle_policy();

}  // namespace spectra::report
