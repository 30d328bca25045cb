#pragma once

#include <filesystem>
#include <string>

/// The explorer: one self-contained HTML file in which a reader moves a network and sees its law move. The theory is
/// solved in the page, by this program's solver compiled to WebAssembly. The page makes no request; its policy allows
/// its own script, a worker made from it, and WebAssembly.
namespace spectra::report {

/// The whole page: the same bytes at every call.
std::string explorer_page();

/// Writes the page; it appears complete or not at all.
void write_explorer_page(const std::filesystem::path& path);

/// Whether a file is an explorer, of any version. Never throws.
bool is_explorer_page(const std::filesystem::path& path);

}  // namespace spectra::report
