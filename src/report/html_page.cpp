#include "report/html_page.hpp"

#include "base/atomic_file.hpp"
#include "base/text.hpp"
#include "report/html_bundle.hpp"
#include "report/html_data.hpp"

#include <fmt/format.h>

#include <fstream>

namespace spectra::report {
namespace {

/// The first bytes of a page, by which it is recognised.
std::string beginning(const std::vector<std::filesystem::path>& results) {
    std::string names;
    constexpr std::size_t longest = 4000;
    for (const auto& path : results)
        names += (names.empty() ? "" : ", ") + printable(path.filename().string());
    if (names.size() > longest) names = fmt::format("{} result files", results.size());
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"spectra-report\" content=\"{}\">\n",
        html_safe(names));
}

}  // namespace

std::string script_safe(std::string_view json) {
    std::string out;
    out.reserve(json.size() + json.size() / 64);
    for (std::size_t k = 0; k < json.size(); ++k) {
        const char c = json[k];
        if (c == '<')
            out += "\\u003c";
        else if (c == '>')
            out += "\\u003e";
        else if (c == '&')
            out += "\\u0026";
        else if (json.substr(k, 3) == "\xE2\x80\xA8")
            out += "\\u2028", k += 2;
        else if (json.substr(k, 3) == "\xE2\x80\xA9")
            out += "\\u2029", k += 2;
        else
            out += c;
    }
    return out;
}

std::string html_safe(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

std::string html_page(const std::vector<std::filesystem::path>& results) {
    const std::string title = results.size() == 1 ? printable(results.front().filename().string())
                                                  : fmt::format("{} results", results.size());
    std::string page = beginning(results);
    page +=
        fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", html_bundle_policy());
    page +=
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n";
    page += fmt::format("<title>{} – spectra</title>\n<style>{}</style>\n</head>\n<body>\n", html_safe(title),
                        html_bundle_style());
    page +=
        "<noscript>This page needs JavaScript to draw its charts and tables. It makes no request.</noscript>\n";
    page +=
        "<script type=\"application/json\" id=\"data\">" + script_safe(page_data(results)) + "</script>\n";
    page += "<script>" + html_bundle_script() + "</script>\n</body>\n</html>\n";
    return page;
}

void write_html_page(const std::vector<std::filesystem::path>& results, const std::filesystem::path& path) {
    const std::string page = html_page(results);
    AtomicFile file(path);
    file.write(page);
    file.commit();
}

bool is_page_of(const std::filesystem::path& path, const std::vector<std::filesystem::path>& results) {
    const std::string expected = beginning(results);
    std::string found(expected.size(), '\0');
    std::ifstream stream(path, std::ios::binary);
    return stream.read(found.data(), static_cast<std::streamsize>(found.size())) && found == expected;
}

}  // namespace spectra::report
