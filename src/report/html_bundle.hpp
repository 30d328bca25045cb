#pragma once

#include <string>

/// The scripts and styles of pages, from src/web/bundle, compiled into the library at build (cmake/SpectraBundle.cmake).
/// A policy is the Content-Security-Policy that allows the script and the style beside it.
namespace spectra::report {

// Pages of results.
std::string html_bundle_script();
std::string html_bundle_style();
std::string html_bundle_policy();

// The explorer.
std::string html_bundle_explorer_script();
std::string html_bundle_explorer_style();
std::string html_bundle_explorer_policy();
/// The theory's solver as WebAssembly: gzip, then base64.
std::string html_bundle_solver();

}  // namespace spectra::report
