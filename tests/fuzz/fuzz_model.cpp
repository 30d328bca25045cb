#include "network/model_file.hpp"

#include "base/text.hpp"
#include "network/from_json.hpp"
#include "target.hpp"

#include <nlohmann/json.hpp>

using namespace spectra;
using nlohmann::json;

namespace {

std::size_t keys_of(const json& value) {
    std::size_t count = value.is_object() ? value.size() : 0;
    if (value.is_structured())
        for (const auto& inner : value) count += keys_of(inner);
    return count;
}

/// Nothing that was written is lost: a key that is there twice would be.
void check_json(const std::string& text, const json& value) {
    std::size_t keys = 0;
    const auto again = json::parse(text, [&](int, json::parse_event_t event, const json&) {
        keys += event == json::parse_event_t::key ? 1U : 0U;
        return true;
    });
    if (again.is_discarded()) std::abort();
    if (keys != keys_of(value) || parse_json(value.dump(), "input") != value) std::abort();
}

/// Making many layers is work that the file asks for, and no part of reading it.
bool is_deep(const json& value) {
    const auto number = [&](const char* key) {
        const bool there = value.is_object() && value.contains(key) && value[key].is_number();
        return there ? value[key].get<double>() : 0;
    };
    return number("depth") > 2000 && number("depth") * number("streams") * number("streams") <= max_mixer_entries;
}

void check_network(const Network& network) {
    check(network);
    for (const auto& mixer : network.mixers)
        if (!mixer.allFinite()) std::abort();
    const auto variances = sigma2(network);
    if (variances.size() != network.mixers.size()) std::abort();
    for (const double v : variances)
        if (!(v >= 0)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::must_read_or_refuse([&] {
        const auto text = fuzz::text(data, size);
        const auto value = parse_json(text, "input");
        check_json(text, value);
        if (!is_deep(value)) check_network(model_from_json(value, "input"));
    });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
