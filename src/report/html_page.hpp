#pragma once

#include "report/html_document.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// A page to look at: one self-contained HTML file of one or several result files, which makes no request. Its script
/// and style are src/web's, compiled into the library (html_bundle.hpp); a Content-Security-Policy allows these two by
/// their hashes and nothing else. What comes from the files is data, never markup.
namespace spectra::report {

/// The whole page. Throws as page_data does.
std::string html_page(const std::vector<std::filesystem::path>& results);

/// Writes the page; it appears complete or not at all.
void write_html_page(const std::vector<std::filesystem::path>& results, const std::filesystem::path& path);

/// Whether a file is a page that was written from result files of these names. Never throws.
bool is_page_of(const std::filesystem::path& path, const std::vector<std::filesystem::path>& results);

}  // namespace spectra::report
