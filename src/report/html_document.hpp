#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What all HTML pages have in common: one file with its style, data and script, under a Content-Security-Policy.
namespace spectra::report {

/// JSON that may stand in a script element: <, > and &, U+2028 and U+2029 as escapes, so that no text can end the
/// element or begin another.
std::string script_safe(std::string_view json);

/// Text for an element or an attribute in double quotes.
std::string html_safe(std::string_view text);

/// The parts of a page. Style, script and data are written as they are; the caller has made them safe.
struct HtmlDocument {
    std::string beginning;  ///< from html_beginning()
    std::string title;      ///< any text
    std::string policy;     ///< the Content-Security-Policy
    std::string style;
    std::vector<std::pair<std::string, std::string>>
        data;  ///< elements that are not executed: id and content
    std::string script;
};

/// The first bytes of a page, by which is_html_page() recognises it. `content` is any text.
std::string html_beginning(std::string_view name, std::string_view content);

std::string to_html(const HtmlDocument& document);

/// Whether a file begins so. Never throws.
bool is_html_page(const std::filesystem::path& path, const std::string& beginning);

}  // namespace spectra::report
