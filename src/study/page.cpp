#include "study/page.hpp"

#include "report/html_page.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

namespace spectra::study {
namespace {

std::filesystem::path page_of(const PageRequest& request) {
    if (request.output) return *request.output;
    if (request.files.size() > 1) return "spectra-report.html";
    return std::filesystem::path(request.files.front()).replace_extension(".html");
}

void check_page(const std::filesystem::path& path, const std::vector<std::filesystem::path>& results,
                bool force) {
    std::error_code ignored;
    const auto refuse = [&](const char* what) {
        throw std::invalid_argument(fmt::format("`output`: {}: {}", path.string(), what));
    };
    if (path.extension() != ".html") refuse("must be a file name that ends in .html");
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    if (!std::filesystem::is_directory(folder, ignored)) refuse("no such folder");
    if (std::filesystem::is_directory(path, ignored)) refuse("is a folder");
    if (force) return;
    if (std::filesystem::is_symlink(path, ignored))
        refuse("is a symbolic link; use another `output`, or `force`");
    if (std::filesystem::exists(path, ignored) && !report::is_page_of(path, results))
        refuse("exists and is no page of these results; use another `output`, or `force`");
}

}  // namespace

std::string write_page(const PageRequest& request) {
    if (request.files.empty())
        throw std::invalid_argument("report: no file given; use spectra report FILE.h5");
    const std::vector<std::filesystem::path> results(request.files.begin(), request.files.end());
    const auto path = page_of(request);
    check_page(path, results, request.force);
    report::write_html_page(results, path);
    return path.string();
}

}  // namespace spectra::study
