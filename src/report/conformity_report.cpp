#include "report/conformity_report.hpp"

#include "base/text.hpp"
#include "report/json_number.hpp"
#include "report/page.hpp"

#include <fmt/format.h>

namespace spectra::validation {

using Json = nlohmann::ordered_json;

std::string conformity_page(const Conformity& c, const std::string& reference, const std::string& candidate,
                            int columns, bool colour, bool unicode) {
    report::Page page(columns, colour, unicode);
    page.entry("reference", fmt::format("{}: {}", printable(reference),
                                        c.scheme.empty() ? "no published scheme that is known here"
                                                         : "computes what " + c.scheme + " does"));
    page.entry("candidate", printable(candidate));
    for (const auto& d : c.differences)
        page.entry(d.name,
                   fmt::format("differs by up to {:.3g}; rounding explains {:.2g}", d.largest, d.tolerance));
    for (const auto& finding : c.findings) page.entry("found", finding);
    for (const auto& note : c.notes) page.entry("note", note);
    page.entry("verdict", c.conforms ? "the same connection" : "NOT the same connection",
               c.conforms ? "32" : "31");
    return page.take();
}

Json conformity_json(const Conformity& c, const std::string& reference, const std::string& candidate) {
    Json object{{"reference", reference},      {"candidate", candidate},
                {"conforms", c.conforms},      {"scheme", c.scheme.empty() ? Json(nullptr) : Json(c.scheme)},
                {"findings", c.findings},      {"notes", c.notes},
                {"differences", Json::array()}};
    for (const auto& d : c.differences)
        object["differences"].push_back({{"name", d.name},
                                         {"largest", report::number(d.largest)},
                                         {"tolerance", report::number(d.tolerance)}});
    return object;
}

}  // namespace spectra::validation
