#include "report/html_page.hpp"

#include "base/atomic_file.hpp"
#include "base/text.hpp"
#include "report/html_bundle.hpp"
#include "report/html_data.hpp"

#include <fmt/format.h>

namespace spectra::report {
namespace {

/// The first bytes of a page, by which it is recognised.
std::string beginning(const std::vector<std::filesystem::path>& results) {
    std::string names;
    constexpr std::size_t longest = 4000;
    for (const auto& path : results)
        names += (names.empty() ? "" : ", ") + printable(path.filename().string());
    if (names.size() > longest) names = fmt::format("{} result files", results.size());
    return html_beginning("spectra-report", names);
}

}  // namespace

std::string html_page(const std::vector<std::filesystem::path>& results) {
    return to_html({.beginning = beginning(results),
                    .title = results.size() == 1 ? printable(results.front().filename().string())
                                                 : fmt::format("{} results", results.size()),
                    .policy = html_bundle_policy(),
                    .style = html_bundle_style(),
                    .data = {{"data", script_safe(page_data(results))}},
                    .script = html_bundle_script()});
}

void write_html_page(const std::vector<std::filesystem::path>& results, const std::filesystem::path& path) {
    const std::string page = html_page(results);
    AtomicFile file(path);
    file.write(page);
    file.commit();
}

bool is_page_of(const std::filesystem::path& path, const std::vector<std::filesystem::path>& results) {
    return is_html_page(path, beginning(results));
}

}  // namespace spectra::report
