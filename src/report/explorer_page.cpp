#include "report/explorer_page.hpp"

#include "base/atomic_file.hpp"
#include "report/html_bundle.hpp"
#include "report/html_document.hpp"
#include "spectrum/metrics.hpp"

#include <nlohmann/json.hpp>

namespace spectra::report {
namespace {

std::string beginning() {
    return html_beginning("spectra-explorer", "");
}

/// What metrics are called, for the page's tables.
std::string data() {
    nlohmann::ordered_json root;
    root["metrics"] = nlohmann::ordered_json::array();
    for (const auto& metric : metric_names)
        root["metrics"].push_back({{"name", metric.name}, {"label", metric.label}, {"brief", metric.brief}});
    return root.dump();
}

}  // namespace

std::string explorer_page() {
    return to_html({.beginning = beginning(),
                    .title = "Explore how depth acts on signals",
                    .policy = html_bundle_explorer_policy(),
                    .style = html_bundle_explorer_style(),
                    .data = {{"data", script_safe(data())}, {"solver", '"' + html_bundle_solver() + '"'}},
                    .script = html_bundle_explorer_script()});
}

void write_explorer_page(const std::filesystem::path& path) {
    AtomicFile file(path);
    file.write(explorer_page());
    file.commit();
}

bool is_explorer_page(const std::filesystem::path& path) {
    return is_html_page(path, beginning());
}

}  // namespace spectra::report
