#include "report/html_document.hpp"

#include <fmt/format.h>

#include <fstream>

namespace spectra::report {

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

std::string html_beginning(std::string_view name, std::string_view content) {
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"{}\" content=\"{}\">\n",
        html_safe(name), html_safe(content));
}

std::string to_html(const HtmlDocument& document) {
    std::string page = document.beginning;
    page += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", document.policy);
    page +=
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n";
    page += fmt::format("<title>{} – spectra</title>\n<style>{}</style>\n</head>\n<body>\n",
                        html_safe(document.title), document.style);
    page +=
        "<noscript>This page needs JavaScript to draw its charts and tables. It makes no request.</noscript>\n";
    for (const auto& [id, content] : document.data)
        page += fmt::format("<script type=\"application/json\" id=\"{}\">", id) + content + "</script>\n";
    page += "<script>" + document.script + "</script>\n</body>\n</html>\n";
    return page;
}

bool is_html_page(const std::filesystem::path& path, const std::string& beginning) {
    std::string found(beginning.size(), '\0');
    std::ifstream stream(path, std::ios::binary);
    return stream.read(found.data(), static_cast<std::streamsize>(found.size())) && found == beginning;
}

}  // namespace spectra::report
