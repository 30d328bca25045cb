#include "claims/claim.hpp"

#include "base/refuse.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace spectra::claims {
namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

constexpr std::array<std::pair<Verdict, std::string_view>, 5> verdict_names{
    {{Verdict::holds, "holds"},
     {Verdict::holds_in_part, "holds in part"},
     {Verdict::refuted, "refuted"},
     {Verdict::not_testable, "not testable here"},
     {Verdict::open, "open"}}};

/// An object that refuses keys nobody asked for.
class Fields {
public:
    Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
        if (!json.is_object()) refuse(where_, "must be an object");
    }

    template <class T>
    T need(const char* key) {
        if (!json_.contains(key)) refuse(where_, std::string("key '") + key + "' is missing");
        return get<T>(key);
    }

    template <class T>
    T get_or(const char* key, T other) {
        return json_.contains(key) ? get<T>(key) : other;
    }

    const Json* find(const char* key) {
        known_.emplace_back(key);
        return json_.contains(key) ? &json_.at(key) : nullptr;
    }

    void refuse_others() const {
        for (const auto& [key, value] : json_.items())
            if (std::find(known_.begin(), known_.end(), key) == known_.end())
                refuse(where_, "unknown key '" + key + "'");
    }

private:
    template <class T>
    T get(const char* key) {
        known_.emplace_back(key);
        try {
            return json_.at(key).get<T>();
        } catch (const Json::exception&) {
            refuse(where_, std::string("key '") + key + "' has the wrong type");
        }
    }

    const Json& json_;
    std::string where_;
    std::vector<std::string> known_;
};

std::optional<double> number_or_nothing(Fields& fields, const char* key) {
    const Json* const value = fields.find(key);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return value->get<double>();
}

Number read_number(const Json& json, const std::string& where) {
    Fields fields(json, where);
    Number number;
    number.name = fields.need<std::string>("name");
    number.value = fields.need<double>("value");
    // JSON has no infinity: a number without a tolerance is not compared.
    number.tolerance =
        number_or_nothing(fields, "tolerance").value_or(std::numeric_limits<double>::infinity());
    number.published = number_or_nothing(fields, "published");
    number.spread = number_or_nothing(fields, "spread");
    fields.refuse_others();
    return number;
}

Ordered write_number(const Number& number) {
    Ordered out{{"name", number.name}, {"value", number.value}};
    if (std::isfinite(number.tolerance)) out["tolerance"] = number.tolerance;
    if (number.published) out["published"] = *number.published;
    if (number.spread) out["spread"] = *number.spread;
    return out;
}

std::vector<int> release(std::string_view version) {
    std::vector<int> parts;
    const char* at = version.data();
    const char* const end = at + version.size();
    while (at < end) {
        int part{};
        const auto [next, error] = std::from_chars(at, end, part);
        if (error != std::errc{}) break;
        parts.push_back(part);
        at = next;
        if (at == end || *at != '.') break;
        ++at;
    }
    return parts;
}

}  // namespace

std::string_view name(Verdict verdict) {
    for (const auto& [value, text] : verdict_names)
        if (value == verdict) return text;
    return "open";
}

std::optional<Verdict> find_verdict(std::string_view name) {
    for (const auto& [value, text] : verdict_names)
        if (text == name) return value;
    return std::nullopt;
}

Claim from_json(const nlohmann::json& json, const std::string& where) {
    Fields fields(json, where);
    Claim claim;
    claim.id = fields.need<std::string>("id");
    const Json place = fields.need<Json>("source");
    Fields source(place, where + ": source");
    claim.source = {source.need<std::string>("paper"), source.need<std::string>("place")};
    source.refuse_others();
    claim.statement = fields.need<std::string>("statement");
    claim.test = fields.need<std::string>("test");
    claim.criterion = fields.get_or<std::string>("criterion", "");
    claim.quick = fields.need<bool>("quick");
    const auto verdict = fields.need<std::string>("verdict");
    const auto found = find_verdict(verdict);
    if (!found) refuse(where, "unknown verdict '" + verdict + "'");
    claim.verdict = *found;
    for (const auto& number : fields.get_or<Json>("numbers", Json::array()))
        claim.numbers.push_back(read_number(number, where + ": numbers"));
    claim.seeds = fields.get_or<std::vector<std::uint64_t>>("seeds", {});
    claim.samples = fields.get_or<std::string>("samples", "");
    claim.sizes = fields.get_or<std::string>("sizes", "");
    claim.machine = fields.get_or<std::string>("machine", "");
    claim.version = fields.get_or<std::string>("version", "");
    claim.command = fields.get_or<std::string>("command", "");
    claim.remark = fields.get_or<std::string>("remark", "");
    if (const Json* const correction = fields.find("correction")) {
        Fields parts(*correction, where + ": correction");
        claim.correction =
            Correction{parts.need<std::string>("statement"), parts.need<std::string>("evidence")};
        parts.refuse_others();
    }
    fields.refuse_others();
    return claim;
}

nlohmann::ordered_json to_json(const Claim& claim) {
    Ordered out{{"id", claim.id},
                {"source", {{"paper", claim.source.paper}, {"place", claim.source.place}}},
                {"statement", claim.statement},
                {"test", claim.test}};
    const auto add = [&](const char* key, const std::string& text) {
        if (!text.empty()) out[key] = text;
    };
    add("criterion", claim.criterion);
    out["quick"] = claim.quick;
    out["verdict"] = name(claim.verdict);
    if (!claim.numbers.empty()) {
        out["numbers"] = Ordered::array();
        for (const auto& number : claim.numbers) out["numbers"].push_back(write_number(number));
    }
    if (!claim.seeds.empty()) out["seeds"] = claim.seeds;
    add("samples", claim.samples);
    add("sizes", claim.sizes);
    add("machine", claim.machine);
    add("version", claim.version);
    add("command", claim.command);
    add("remark", claim.remark);
    if (claim.correction)
        out["correction"] = {{"statement", claim.correction->statement},
                             {"evidence", claim.correction->evidence}};
    return out;
}

std::vector<std::string> defects(const Claim& claim) {
    std::vector<std::string> out;
    const auto need = [&](bool there, const char* what) {
        if (!there) out.emplace_back(what);
    };
    need(!claim.source.paper.empty() && !claim.source.place.empty(), "no source");
    need(!claim.statement.empty(), "no statement");
    need(!claim.test.empty(), "no test");
    need(!claim.command.empty(), "no command");
    const bool measured = claim.verdict == Verdict::holds || claim.verdict == Verdict::holds_in_part ||
                          claim.verdict == Verdict::refuted;
    if (measured) {
        need(!claim.numbers.empty(), "no numbers");
        need(!claim.machine.empty(), "no machine");
        need(!claim.version.empty(), "no version");
        need(std::all_of(claim.numbers.begin(), claim.numbers.end(),
                         [](const Number& number) { return std::isfinite(number.value); }),
             "a number that is not finite");
    } else {
        need(!claim.remark.empty(), "no reason");
        need(!claim.quick, "computed in seconds, and without a verdict");
    }
    need(claim.verdict != Verdict::refuted || claim.correction.has_value(), "no correction");
    return out;
}

bool known_version(std::string_view version, std::string_view current) {
    const auto made = release(version), now = release(current);
    const auto open = version.find(" ("), close = version.rfind(')');
    return made.size() == 3 && made <= now && open != std::string_view::npos && close == version.size() - 1 &&
           close > open + 2;
}

}  // namespace spectra::claims
