#include "report/diagnosis.hpp"

#include "report/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace spectra::report {
namespace {

constexpr std::size_t health_width = 9;
constexpr std::size_t name_width = 9;

std::string name(Health health) {
    switch (health) {
        case Health::works:
            return "works";
        case Health::missing:
            return "missing";
        default:
            return "fails";
    }
}

const char* colour_of(const Part& part) {
    if (part.health == Health::works) return nullptr;
    return part.required || part.health == Health::fails ? "31" : "33";
}

std::string label(const std::string& state, const std::string& part) {
    return padded(state, health_width) + padded(part, name_width);
}

void add_part(Page& page, const Part& part) {
    const std::string state = part.health == Health::works ? "ok" : part.health == Health::fails ? "FAILS" : "missing";
    const std::string separator = part.found.empty() || part.trial.empty() ? "" : "; ";
    const std::string words = part.found + separator + part.trial;
    const std::size_t room = page.columns() - health_width - name_width - 2;
    if (separator.empty() || width_of(words) <= room) {
        page.entry(label(state, part.name), words, colour_of(part));
    } else {
        page.entry(label(state, part.name), part.found, colour_of(part));
        page.entry(label("", ""), part.trial, colour_of(part));
    }
    if (part.health != Health::works)
        page.entry(label("", ""), fmt::format("For {}: {}.", part.purpose, part.remedy));
}

std::string verdict(const Diagnosis& diagnosis) {
    std::vector<std::string> broken;
    int optional = 0;
    for (const auto& part : diagnosis.parts) {
        if (part.health == Health::works) continue;
        if (part.required)
            broken.push_back(part.name);
        else
            ++optional;
    }
    if (!broken.empty())
        return fmt::format("Required, and not working: {}.", fmt::join(broken, ", "));
    if (optional == 0) return "Everything works.";
    return fmt::format("Everything required works; {} optional part{} missing or failing.", optional,
                       optional == 1 ? " is" : "s are");
}

}  // namespace

bool Diagnosis::works() const {
    return std::none_of(parts.begin(), parts.end(),
                        [](const Part& part) { return part.required && part.health != Health::works; });
}

std::string terminal_page(const Diagnosis& diagnosis, int columns, bool colour, bool unicode) {
    Page page(columns, colour, unicode);
    page.entry("", fmt::format("spectra {} ({}), {} build by {}", diagnosis.version, diagnosis.git, diagnosis.build,
                               diagnosis.compiler));
    page.blank();
    for (const auto& part : diagnosis.parts) add_part(page, part);
    page.blank();
    page.entry("", verdict(diagnosis), diagnosis.works() ? nullptr : "31");
    return page.take();
}

std::string to_json(const Diagnosis& diagnosis) {
    using Json = nlohmann::ordered_json;
    Json out{{"works", diagnosis.works()},
             {"program",
              {{"version", diagnosis.version},
               {"git", diagnosis.git},
               {"build", diagnosis.build},
               {"compiler", diagnosis.compiler},
               {"features", diagnosis.features}}},
             {"parts", Json::array()}};
    for (const auto& part : diagnosis.parts) {
        Json measured = Json::object();
        for (const auto& [what, value] : part.measured) measured[what] = value;
        out["parts"].push_back({{"name", part.name},
                                {"required", part.required},
                                {"health", name(part.health)},
                                {"found", part.found},
                                {"trial", part.trial},
                                {"measured", measured},
                                {"seconds", part.seconds},
                                {"purpose", part.purpose},
                                {"remedy", part.health == Health::works ? Json() : Json(part.remedy)}});
    }
    return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spectra::report
