#include "study/page.hpp"

#include "report/explorer_page.hpp"
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

/// `ours`: whether a file may be replaced; `what`: what it must be for that, in words.
template <class Ours>
void check_page(const std::filesystem::path& path, bool force, const Ours& ours, const char* what) {
    std::error_code ignored;
    const auto refuse = [&](const std::string& why) {
        throw std::invalid_argument(fmt::format("`output`: {}: {}", path.string(), why));
    };
    if (path.extension() != ".html") refuse("must be a file name that ends in .html");
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    if (!std::filesystem::is_directory(folder, ignored)) refuse("no such folder");
    if (std::filesystem::is_directory(path, ignored)) refuse("is a folder");
    if (force) return;
    if (std::filesystem::is_symlink(path, ignored))
        refuse("is a symbolic link; use another `output`, or `force`");
    if (std::filesystem::exists(path, ignored) && !ours(path))
        refuse(fmt::format("exists and is no {}; use another `output`, or `force`", what));
}

}  // namespace

std::string write_page(const PageRequest& request) {
    if (request.files.empty())
        throw std::invalid_argument("report: no file given; use spectra report FILE.h5");
    const std::vector<std::filesystem::path> results(request.files.begin(), request.files.end());
    const auto path = page_of(request);
    const auto ours = [&](const std::filesystem::path& file) { return report::is_page_of(file, results); };
    check_page(path, request.force, ours, "page of these results");
    report::write_html_page(results, path);
    return path.string();
}

std::string write_explorer(const ExplorerRequest& request) {
    const std::filesystem::path path = request.output.value_or("spectra-explore.html");
    check_page(path, request.force, report::is_explorer_page, "explorer");
    report::write_explorer_page(path);
    return path.string();
}

}  // namespace spectra::study
