#include "network/model_file.hpp"

#include "base/refuse.hpp"
#include "base/text.hpp"
#include "h5/file.hpp"
#include "network/from_json.hpp"
#include "network/mean_field.hpp"
#include "network/network_file.hpp"

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

const json& require(const json& object, const char* key, const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end()) refuse(where, fmt::format("key '{}' is missing", key));
    return *found;
}

void refuse_other_keys(const json& object, const std::vector<std::string>& accepted,
                       const std::string& where) {
    for (const auto& item : object.items())
        if (std::find(accepted.begin(), accepted.end(), item.key()) == accepted.end())
            refuse(where, fmt::format("unknown key {}; must be one of {}", in_quotes(item.key()),
                                      fmt::join(accepted, ", ")));
}

int integer(const json& value, const char* key, int largest, const std::string& where) {
    const bool fits = value.is_number_integer() && value.get<double>() >= 1 && value.get<double>() <= largest;
    if (!fits) {
        const std::string found =
            value.is_number() ? value.dump() : fmt::format("a JSON {}", value.type_name());
        refuse(where, fmt::format("key '{}' is {}; must be an integer from 1 to {}", key, found, largest));
    }
    return value.get<int>();
}

double variance(const json& value, const std::string& which, const std::string& where) {
    if (!value.is_number())
        refuse(where, fmt::format("{} is a JSON {}; must be a number ≥ 0", which, value.type_name()));
    const double number = value.get<double>();
    if (!std::isfinite(number) || number < 0)
        refuse(where, fmt::format("{} is {}; must be a finite number ≥ 0", which, number));
    return number;
}

/// One number for all layers, or one per layer.
std::vector<double> variances(const json& value, const char* key, int depth, const std::string& where) {
    const auto layers = static_cast<std::size_t>(depth);
    if (!value.is_array()) return std::vector<double>(layers, variance(value, key, where));
    if (value.size() != layers)
        refuse(where, fmt::format("{} has {} values for depth {}; expected one number, or one per layer", key,
                                  value.size(), depth));
    std::vector<double> numbers;
    numbers.reserve(layers);
    for (const json& number : value)
        numbers.push_back(variance(number, fmt::format("{} of layer {}", key, numbers.size() + 1), where));
    return numbers;
}

Eigen::VectorXd connection(const json& value, const std::string& which, int streams,
                           const std::string& where) {
    const std::string accepted = fmt::format("expected {} finite numbers, one per stream", streams);
    if (!value.is_array())
        refuse(where, fmt::format("{} is a JSON {}; {}", which, value.type_name(), accepted));
    if (value.size() != static_cast<std::size_t>(streams))
        refuse(where, fmt::format("{} has {} entries; {}", which, value.size(), accepted));
    Eigen::VectorXd vector(streams);
    for (int i = 0; i < streams; ++i) {
        const json& entry = value[static_cast<std::size_t>(i)];
        const bool good = entry.is_number() && std::isfinite(entry.get<double>());
        if (!good)
            refuse(where,
                   fmt::format("{}, entry {} is {}; {}", which, i + 1,
                               entry.is_number() ? "not finite" : fmt::format("a JSON {}", entry.type_name()),
                               accepted));
        vector(i) = entry.get<double>();
    }
    return vector;
}

/// One vector for all layers, or one per layer.
std::vector<Eigen::VectorXd> connections(const json& value, const char* key, int streams, int depth,
                                         const std::string& where) {
    const auto layers = static_cast<std::size_t>(depth);
    const bool stacked = value.is_array() && !value.empty() && value.front().is_array();
    if (!stacked) return std::vector<Eigen::VectorXd>(layers, connection(value, key, streams, where));
    if (value.size() == 1)
        return std::vector<Eigen::VectorXd>(layers, connection(value.front(), key, streams, where));
    if (value.size() != layers)
        refuse(where, fmt::format("{} has {} vectors for depth {}; expected one, or one per layer", key,
                                  value.size(), depth));
    std::vector<Eigen::VectorXd> vectors;
    vectors.reserve(layers);
    for (const json& entry : value)
        vectors.push_back(
            connection(entry, fmt::format("{} of layer {}", key, vectors.size() + 1), streams, where));
    return vectors;
}

/// The weight set of every layer, named by any integer.
std::vector<int> weight_sets(const json& value, int depth, const std::string& where) {
    const bool good = value.is_array() && value.size() == static_cast<std::size_t>(depth) &&
                      std::all_of(value.begin(), value.end(), [](const json& set) {
                          return set.is_number_integer() && set.get<double>() >= 0 && set.get<double>() < 1e9;
                      });
    if (!good)
        refuse(where, fmt::format("weights is {}; must be {} integers ≥ 0, the weight set of each layer",
                                  value.is_array() ? fmt::format("{} values", value.size())
                                                   : fmt::format("a JSON {}", value.type_name()),
                                  depth));
    return value.get<std::vector<int>>();
}

/// Either sigma2 or singular_values.
template <typename HasLaw>
void read_law(const json& noise, int depth, const std::string& where, HasLaw& branch) {
    const auto values = noise.find("singular_values");
    if (values == noise.end()) {
        branch.sigma2 = variances(require(noise, "sigma2", where), "sigma2", depth, where);
        return;
    }
    if (noise.contains("sigma2")) refuse(where, "has both sigma2 and singular_values; use one of them");
    branch.law = branch_law_from_json(*values, where + ": singular_values");
    if (branch.law.size() != 1 && branch.law.size() != static_cast<std::size_t>(depth))
        refuse(where, fmt::format("singular_values has {} sets for depth {}; expected one, or one per layer",
                                  branch.law.size(), depth));
}

Branch isotropic_from_json(const json& noise, const Network& network, const std::string& where) {
    refuse_other_keys(noise, {"kind", "sigma2", "singular_values"}, where);
    IsotropicBranch branch;
    read_law(noise, network.depth(), where, branch);
    return branch;
}

Branch hyper_connection_from_json(const json& noise, const Network& network, const std::string& where) {
    refuse_other_keys(noise, {"kind", "sigma2", "singular_values", "pre", "post"}, where);
    HyperConnectionBranch branch;
    read_law(noise, network.depth(), where, branch);
    branch.pre = connections(require(noise, "pre", where), "pre", network.streams, network.depth(), where);
    branch.post = connections(require(noise, "post", where), "post", network.streams, network.depth(), where);
    return branch;
}

Branch tied_from_json(const json& noise, const Network& network, const std::string& where) {
    refuse_other_keys(noise, {"kind", "sigma2", "pre", "post", "weights"}, where);
    const int depth = network.depth();
    TiedBranch branch;
    branch.sigma2 = variances(require(noise, "sigma2", where), "sigma2", depth, where);
    if (const auto weights = noise.find("weights"); weights != noise.end())
        branch.weights = weight_sets(*weights, depth, where);
    if (!noise.contains("pre") && !noise.contains("post")) return branch;
    branch.pre = connections(require(noise, "pre", where), "pre", network.streams, depth, where);
    branch.post = connections(require(noise, "post", where), "post", network.streams, depth, where);
    return branch;
}

/// Rows of numbers as the columns of a matrix with `rows` rows.
Eigen::MatrixXd vectors_from_json(const json& value, const char* key, Eigen::Index rows, const std::string& where) {
    if (!value.is_array())
        refuse(where, fmt::format("{} is a JSON {}; must be a list of vectors", key, value.type_name()));
    Eigen::MatrixXd vectors(rows, static_cast<Eigen::Index>(value.size()));
    for (std::size_t k = 0; k < value.size(); ++k) {
        const json& entries = value[k];
        const bool numbers = entries.is_array() && entries.size() == static_cast<std::size_t>(rows) &&
                             std::all_of(entries.begin(), entries.end(), [](const json& x) { return x.is_number(); });
        if (!numbers)
            refuse(where, fmt::format("{}, vector {}: {}; must be {} numbers", key, k + 1,
                                      entries.is_array() ? fmt::format("{} entries", entries.size())
                                                         : fmt::format("a JSON {}", entries.type_name()),
                                      rows));
        for (Eigen::Index i = 0; i < rows; ++i)
            vectors(i, static_cast<Eigen::Index>(k)) = entries[static_cast<std::size_t>(i)].get<double>();
    }
    return vectors;
}

/// One set per layer.
std::vector<Triplets> triplets_from_json(const json& value, const char* key, Eigen::Index rows, int depth,
                                         const std::string& where) {
    if (!value.is_array() || value.size() != static_cast<std::size_t>(depth))
        refuse(where, fmt::format("{} is {}; must be {} objects with values, left and right, one per layer", key,
                                  value.is_array() ? fmt::format("{} values", value.size())
                                                   : fmt::format("a JSON {}", value.type_name()),
                                  depth));
    std::vector<Triplets> sets;
    for (const json& set : value) {
        const std::string here = fmt::format("{}: {} of layer {}", where, key, sets.size() + 1);
        if (!set.is_object())
            refuse(here, fmt::format("a JSON {}; must be an object with values, left and right", set.type_name()));
        refuse_other_keys(set, {"values", "left", "right"}, here);
        const json& values = require(set, "values", here);
        const bool numbers = values.is_array() &&
                             std::all_of(values.begin(), values.end(), [](const json& x) { return x.is_number(); });
        if (!numbers) refuse(here, "values must be a list of numbers");
        const auto list = values.get<std::vector<double>>();
        sets.push_back({Eigen::Map<const Eigen::VectorXd>(list.data(), static_cast<Eigen::Index>(list.size())),
                        vectors_from_json(require(set, "left", here), "left", rows, here),
                        vectors_from_json(require(set, "right", here), "right", rows, here)});
    }
    return sets;
}

/// Singular values of the rest, one set per layer; a set may be empty.
BranchLaw rest_from_json(const json& value, int depth, const std::string& where) {
    const bool good = value.is_array() && value.size() == static_cast<std::size_t>(depth) &&
                      std::all_of(value.begin(), value.end(), [](const json& set) {
                          return set.is_array() && std::all_of(set.begin(), set.end(),
                                                               [](const json& x) { return x.is_number(); });
                      });
    if (!good)
        refuse(where, fmt::format("singular_values must be {} lists of numbers: those of the rest of each layer", depth));
    return value.get<BranchLaw>();
}

Branch aligned_from_json(const json& noise, const Network& network, const std::string& where) {
    refuse_other_keys(noise, {"kind", "pre", "post", "triplets", "singular_values", "derivative"}, where);
    const int depth = network.depth();
    AlignedBranch branch;
    if (noise.contains("pre") || noise.contains("post")) {
        branch.pre = connections(require(noise, "pre", where), "pre", network.streams, depth, where);
        branch.post = connections(require(noise, "post", where), "post", network.streams, depth, where);
    }
    const Eigen::Index rows = branch.hyper_connection() ? network.width : network.size();
    branch.kept = triplets_from_json(require(noise, "triplets", where), "triplets", rows, depth, where);
    branch.rest = rest_from_json(require(noise, "singular_values", where), depth, where);
    if (const auto derivative = noise.find("derivative"); derivative != noise.end())
        branch.derivative = triplets_from_json(*derivative, "derivative", network.size(), depth, where);
    return branch;
}

Branch activation_from_json(const json& noise, const Network& network, const std::string& where) {
    const json& law = require(noise, "law", where);
    if (!law.is_string())
        refuse(where, fmt::format("law is a JSON {}; must be one of bernoulli, {}", law.type_name(),
                                  fmt::join(activation_names(), ", ")));
    const auto name = law.get<std::string>();
    const auto& names = activation_names();
    const bool bernoulli = name == "bernoulli";
    if (!bernoulli && std::find(names.begin(), names.end(), name) == names.end())
        refuse(where,
               fmt::format("law {}; must be one of bernoulli, {}", in_quotes(name), fmt::join(names, ", ")));
    ActivationBranch branch;
    if (bernoulli) {
        refuse_other_keys(noise, {"kind", "law", "probability", "sigma_w2"}, where);
        const json& probability = require(noise, "probability", where);
        const bool good =
            probability.is_number() && probability.get<double>() >= 0 && probability.get<double>() <= 1;
        if (!good)
            refuse(where,
                   fmt::format("probability is {}; must be a number from 0 to 1",
                               probability.is_number() ? fmt::format("{}", probability.get<double>())
                                                       : fmt::format("a JSON {}", probability.type_name())));
        branch.activation = {ActivationKind::bernoulli, probability.get<double>()};
    } else {
        refuse_other_keys(noise, {"kind", "law", "sigma_w2", "preactivation_variance"}, where);
        branch.activation = activation_from_name(name);
    }
    branch.sigma_w2 = variances(require(noise, "sigma_w2", where), "sigma_w2", network.depth(), where);
    if (const auto q = noise.find("preactivation_variance"); q != noise.end()) {
        branch.preactivation_variance = variances(*q, "preactivation_variance", network.depth(), where);
    } else if (depends_on_variance(branch.activation)) {
        try {
            branch.preactivation_variance =
                propagated_variances(network.mixers, branch.sigma_w2, branch.activation);
        } catch (const std::invalid_argument& error) {
            refuse(where, error.what());
        }
    }
    return branch;
}

/// The branch of a network; its streams and mixers are already read.
Branch branch_from_json(const json& noise, const Network& network, const std::string& where) {
    struct Kind {
        const char* name;
        Branch (*read)(const json&, const Network&, const std::string&);
    };
    constexpr Kind kinds[] = {{"isotropic", isotropic_from_json},
                              {"activation", activation_from_json},
                              {"hyper-connection", hyper_connection_from_json},
                              {"tied", tied_from_json},
                              {"aligned", aligned_from_json}};
    constexpr const char* accepted = "must be one of isotropic, activation, hyper-connection, tied, aligned";
    if (!noise.is_object())
        refuse(where,
               fmt::format("is a JSON {}; must be an object with kind and its fields", noise.type_name()));
    const json& kind = require(noise, "kind", where);
    if (!kind.is_string()) refuse(where, fmt::format("kind is a JSON {}; {}", kind.type_name(), accepted));
    const auto name = kind.get<std::string>();
    for (const auto& known : kinds)
        if (name == known.name) return known.read(noise, network, where);
    refuse(where, fmt::format("kind {}; {}", in_quotes(name), accepted));
}

}  // namespace

Network model_from_json(const json& value, const std::string& where) {
    if (!value.is_object())
        refuse(where, fmt::format("is a JSON {}; must be an object with streams, depth, mixers, noise",
                                  value.type_name()));
    if (value.contains("cases"))
        refuse(where, "holds several cases (key 'cases'); expected one case, as an object");
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
        if (static_cast<double>(depth) * static_cast<double>(n * n) > max_mixer_entries)
            refuse(where,
                   fmt::format(
                       "depth {} of {}×{} mixers takes too much memory; depth·streams² must be at most {}",
                       depth, n, n, max_mixer_entries));
        network.mixers.assign(static_cast<std::size_t>(depth), Mixer(network.mixers.front()));
    } else if (network.depth() != depth) {
        refuse(where, fmt::format("{} mixers for depth {}; expected one mixer, or one per layer",
                                  network.depth(), depth));
    }
    network.branch = branch_from_json(require(value, "noise", where), network, where + ": noise");
    try {
        check(network);
    } catch (const std::invalid_argument& error) {
        refuse(where, error.what());
    }
    return network;
}

Network read_model(const std::filesystem::path& path) {
    const std::string where = path.string();
    const auto read = [&] {
        if (!h5::is_hdf5(path)) return model_from_json(parse_json(read_text(path), where), where);
        const auto file = h5::File::open_read(path);
        if (!file.is_group(stored_network))
            refuse(where, "holds no network; a validation stores one if it is asked for triplets");
        return read_network(file, stored_network, where);
    };
    Network network = read();
    network.mixer_name = path.filename().string();
    return network;
}

}  // namespace spectra
