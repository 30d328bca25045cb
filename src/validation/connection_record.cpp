#include "validation/connection_record.hpp"

#include "layouts/weights.hpp"
#include "mixers/raw.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace spectra::validation {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

Index length_of(const weightfile::Tensor& tensor, std::size_t dimension) {
    return static_cast<Index>(tensor.shape[dimension]);
}

/// Results may hold what is not finite: that is a finding, not a mistake of the user.
VectorXd any_numbers(const weightfile::TensorFile& file, const std::string& key) {
    const auto values = file.read_doubles(file.at(key));
    return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

/// Row t of a tensor of tokens.
VectorXd token(const VectorXd& all, Index t, Index size) {
    return all.segment(t * size, size);
}

void expect_keys(const layouts::Weights& weights) {
    for (const char* key : {"x", "branch", "fn", "base", "scale", "pre", "post", "mixer", "output"})
        if (!weights.has(key))
            weights.refuse(fmt::format(
                "has no key '{}'; the record of a connection has x, branch, fn, base, scale, pre, "
                "post, mixer and output (docs/conform.md)",
                key));
}

void read_settings(const layouts::Weights& weights, ConnectionInput& input) {
    if (weights.has("sweeps")) {
        const double sweeps = weights.scalar("sweeps");
        if (!(sweeps >= 1 && sweeps <= 100'000) || sweeps != std::floor(sweeps))
            weights.refuse(weights.at("sweeps"),
                           fmt::format("is {}; must be a whole number, 1 to 100000", sweeps));
        input.sweeps = static_cast<int>(sweeps);
    }
    for (const auto& [key, value] :
         {std::pair("epsilon", &input.epsilon), std::pair("norm_epsilon", &input.norm_epsilon)})
        if (weights.has(key)) {
            *value = weights.scalar(key);
            if (!(*value >= 0 && *value < 1))
                weights.refuse(weights.at(key), fmt::format("is {}; must be 0 to 1", *value));
        }
}

void read_states(const layouts::Weights& weights, ConnectionInput& input) {
    weights.expect_shape("x", {-1, -1, -1});
    const auto& x = weights.at("x");
    const Index tokens = length_of(x, 0), n = length_of(x, 1), p = length_of(x, 2);
    if (tokens == 0 || n == 0 || p == 0) weights.refuse(x, "is empty");
    weights.expect_shape("branch", {tokens, p});
    const VectorXd states = weights.numbers("x"), branch = weights.numbers("branch");
    for (Index t = 0; t < tokens; ++t) {
        input.states.push_back(
            mixers::by_rows(token(states, t, n * p), static_cast<int>(n), static_cast<int>(p)));
        input.branch.push_back(token(branch, t, p));
    }
    input.projection = weights.matrix("fn", n * n + 2 * n, n * p);
    input.bias = weights.numbers("base", n * n + 2 * n);
    input.scale = weights.numbers("scale", 3);
}

}  // namespace

ConnectionRecord read_connection_record(const weightfile::TensorFile& file) {
    const layouts::Weights weights(file);
    ConnectionRecord record;
    record.name = file.where();
    expect_keys(weights);
    read_states(weights, record.input);
    read_settings(weights, record.input);
    const auto tokens = static_cast<Index>(record.input.states.size());
    const Index n = record.input.streams(), p = record.input.states.front().cols();
    weights.expect_shape("pre", {tokens, n});
    weights.expect_shape("mixer", {tokens, n, n});
    weights.expect_shape("post", {tokens, n});
    weights.expect_shape("output", {tokens, n, p});
    const auto prefix = file.state_dict_prefix();
    const VectorXd pre = any_numbers(file, prefix + "pre"), post = any_numbers(file, prefix + "post"),
                   mixer = any_numbers(file, prefix + "mixer"), output = any_numbers(file, prefix + "output");
    for (Index t = 0; t < tokens; ++t)
        record.outputs.push_back(
            {token(pre, t, n),
             mixers::by_rows(token(mixer, t, n * n), static_cast<int>(n), static_cast<int>(n)),
             token(post, t, n),
             mixers::by_rows(token(output, t, n * p), static_cast<int>(n), static_cast<int>(p))});
    return record;
}

}  // namespace spectra::validation
