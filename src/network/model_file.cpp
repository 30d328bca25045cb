#include "network/model_file.hpp"

#include "network/input.hpp"
#include "network/mixer_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

namespace spectra {

namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
    throw std::invalid_argument(where + ": " + what);
}

const json& require(const json& object, const char* key, const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end()) refuse(where, fmt::format("key '{}' is missing", key));
    return *found;
}

void refuse_other_keys(const json& object, const std::vector<std::string>& accepted,
                       const std::string& where) {
    for (const auto& item : object.items())
        if (std::find(accepted.begin(), accepted.end(), item.key()) == accepted.end())
            refuse(where, fmt::format("unknown key {}; accepted: {}", in_quotes(item.key()),
                                      fmt::join(accepted, ", ")));
}

int integer(const json& value, const char* key, int largest, const std::string& where) {
    const bool fits = value.is_number_integer() && value.get<double>() >= 1 && value.get<double>() <= largest;
    if (!fits) {
        const std::string found =
            value.is_number() ? value.dump() : fmt::format("a JSON {}", value.type_name());
        refuse(where, fmt::format("key '{}' is {}; accepted: an integer from 1 to {}", key, found, largest));
    }
    return value.get<int>();
}

double variance(const json& value, const std::string& which, const std::string& where) {
    if (!value.is_number())
        refuse(where, fmt::format("{} is a JSON {}; accepted: numbers, 0 or more", which, value.type_name()));
    const double number = value.get<double>();
    if (!std::isfinite(number) || number < 0)
        refuse(where, fmt::format("{} is {}; accepted: finite numbers, 0 or more", which, number));
    return number;
}

IsotropicBranch isotropic_from_json(const json& noise, int depth, const std::string& where) {
    if (!noise.is_object())
        refuse(where,
               fmt::format("is a JSON {}; accepted: an object with kind and sigma2", noise.type_name()));
    const json& kind = require(noise, "kind", where);
    if (!kind.is_string())
        refuse(where, fmt::format("kind is a JSON {}; accepted: isotropic", kind.type_name()));
    if (kind.get<std::string>() != "isotropic")
        refuse(where, fmt::format("kind {}; accepted: isotropic", in_quotes(kind.get<std::string>())));
    if (noise.contains("singular_values"))
        refuse(where, "a branch given by 'singular_values'; accepted: isotropic with sigma2");
    refuse_other_keys(noise, {"kind", "sigma2"}, where);

    const json& sigma2 = require(noise, "sigma2", where);
    const auto layers = static_cast<std::size_t>(depth);
    if (!sigma2.is_array()) return {std::vector<double>(layers, variance(sigma2, "sigma2", where))};
    if (sigma2.size() != layers)
        refuse(where, fmt::format("sigma2 has {} values for depth {}; accepted: one number, or one per layer",
                                  sigma2.size(), depth));
    IsotropicBranch branch;
    branch.sigma2.reserve(layers);
    for (const json& value : sigma2)
        branch.sigma2.push_back(
            variance(value, fmt::format("sigma2 of layer {}", branch.sigma2.size() + 1), where));
    return branch;
}

}  // namespace

Network model_from_json(const json& value, const std::string& where) {
    if (!value.is_object())
        refuse(where, fmt::format("is a JSON {}; accepted: an object with streams, depth, mixers, noise",
                                  value.type_name()));
    if (value.contains("cases"))
        refuse(where, "holds several cases (key 'cases'); accepted: one case, an object of its own");
    refuse_other_keys(
        value,
        {"streams", "depth", "mixers", "noise", "width", "name", "omega", "g", "mean_square_singular_value"},
        where);

    Network network;
    network.streams = integer(require(value, "streams", where), "streams", max_streams, where);
    const int depth = integer(require(value, "depth", where), "depth", max_depth, where);
    if (const auto width = value.find("width"); width != value.end())
        network.width = integer(*width, "width", max_width, where);

    network.mixers = mixers_from_json(require(value, "mixers", where), where + ": mixers");
    const auto n = network.mixers.front().rows();
    if (n != network.streams)
        refuse(where, fmt::format("mixers are {}×{} but streams is {}", n, n, network.streams));
    if (network.mixers.size() == 1) {
        network.mixers.assign(static_cast<std::size_t>(depth), Mixer(network.mixers.front()));
    } else if (network.depth() != depth) {
        refuse(where, fmt::format("{} mixers for depth {}; accepted: one mixer, or one per layer",
                                  network.depth(), depth));
    }
    network.branch = isotropic_from_json(require(value, "noise", where), depth, where + ": noise");
    check(network);
    return network;
}

Network read_model(const std::filesystem::path& path) {
    const std::string where = path.string();
    Network network = model_from_json(parse_json(read_text(path), where), where);
    network.mixer_name = path.filename().string();
    return network;
}

}  // namespace spectra
