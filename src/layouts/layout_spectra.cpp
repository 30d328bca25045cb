#include "base/text.hpp"
#include "layouts/connection_names.hpp"
#include "layouts/layout.hpp"
#include "mixers/generating_set.hpp"
#include "mixers/raw.hpp"
#include "mixers/registry.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace spectra::layouts {

namespace {

/// The options of `spectra train` on which mixers depend.
struct Description {
    std::string task, architecture, mixer;
    int cycles = 1;
    bool to_limit = true;  ///< iterate to tolerance, ignoring sinkhorn_iterations
    int sinkhorn_iterations = 20, cayley_iterations = 2;
    double cayley_step = 0.1;
    double temperature = 1, sinkhorn_clamp = 0;
    int permutations = 0;  ///< 0: all
    bool optimal_permutations = false;

    mixers::RawOptions family_options() const {
        mixers::RawOptions options;
        options.temperature = temperature;
        if (!to_limit && sinkhorn_iterations > 0) options.sweeps = sinkhorn_iterations;
        options.cayley_iterations = iterations();
        options.cayley_step = cayley_step;
        return options;
    }
    std::optional<int> iterations() const {
        return cayley_iterations > 0 ? std::optional(cayley_iterations) : std::nullopt;
    }
};

Description description_of(const Weights& weights) {
    const auto config = weights.file().value().find("config");
    const auto text = config ? config->text() : std::nullopt;
    if (!text) weights.refuse("has no description of the model ('config', JSON text)");
    const auto json = parse_json(std::string(*text), weights.file().where() + ": config");
    Description d;
    try {
        d.task = json.value("task", "");
        d.architecture = json.at("architecture").get<std::string>();
        d.mixer = json.value("mixer", "");
        d.cycles = json.value("cycles", d.cycles);
        d.to_limit = json.value("sinkhorn_backward", "direct") == "direct";
        d.sinkhorn_iterations = json.value("sinkhorn_iterations", d.sinkhorn_iterations);
        d.cayley_iterations = json.value("cayley_iterations", d.cayley_iterations);
        d.cayley_step = json.value("cayley_step", d.cayley_step);
        d.temperature = json.value("temperature", d.temperature);
        d.sinkhorn_clamp = json.value("sinkhorn_clamp", d.sinkhorn_clamp);
        d.permutations = json.value("permutations", d.permutations);
        d.optimal_permutations = json.value("permutation_basis", "published") == "optimal";
    } catch (const nlohmann::json::exception&) {
        weights.refuse("its description ('config') was not written by spectra train");
    }
    const auto counted = [](int value, int least) { return value >= least && value <= 100'000; };
    if (!counted(d.cycles, 1) || !counted(d.sinkhorn_iterations, 0) || !counted(d.cayley_iterations, 0) ||
        !counted(d.permutations, 0))
        weights.refuse(
            "its description ('config') has cycles, iterations or permutations outside 0 to 100000");
    if (!(d.temperature > 0) || !(d.sinkhorn_clamp >= 0))
        weights.refuse("its description ('config') has a temperature or clamp that is not positive");
    return d;
}

std::string family_of(const Description& d) {
    if (d.architecture == "mhc") return "bistochastic";
    if (d.architecture == "mhc-lite") return "permutation";
    if (d.architecture == "shc") return "spectral-sphere";
    if (d.architecture == "hc") return "matrix";
    if (d.architecture == "delta") return "householder";
    return d.mixer == "hyper" ? "matrix" : d.mixer;
}

/// A mixture of K permutations, not of all.
Mixer mixture(const Weights& weights, const Description& d, const std::string& name, const HyperNumbers& h) {
    double all = 1;
    for (int k = 2; k <= h.streams; ++k) all *= k;
    if (h.raw.size() != d.permutations || d.permutations > all)
        weights.refuse(weights.at(name + ".b_res"),
                       fmt::format("does not have the weights of {} permutations of {} streams",
                                   d.permutations, h.streams));
    const auto list = d.optimal_permutations ? mixers::largest_gap(h.streams, d.permutations).permutations
                                             : mixers::published_permutations(h.streams, d.permutations);
    return mixers::permutation_mixture(list, mixers::softmax(h.raw / d.temperature));
}

Connection read_hyper_connection(const Weights& weights, const Description& d, const std::string& name,
                                 const InputPoint& input, std::size_t number, Stack& stack) {
    const bool unbounded = d.architecture == "hc";
    auto h = read_hyper(weights, name, input, number, unbounded, stack);
    const auto family = h.raw.size() == 0 ? "identity" : family_of(d);
    const auto fits = [&] {
        if (family == "grassmann") return h.raw.size() % h.streams == 0;
        return mixers::streams_of(family, static_cast<std::uint64_t>(h.raw.size())) == h.streams;
    };
    const bool chosen = family == "permutation" && d.permutations > 0;
    if (h.raw.size() > 0 && !chosen && !fits())
        weights.refuse(weights.at(name + ".b_res"),
                       fmt::format("does not have the size of a {} mixer of {} streams", in_quotes(family),
                                   h.streams));
    if (family == "bistochastic" && d.sinkhorn_clamp > 0)
        h.raw = h.raw.cwiseMin(d.sinkhorn_clamp).cwiseMax(-d.sinkhorn_clamp);
    const Mixer mixer = chosen ? mixture(weights, d, name, h)
                               : mixers::mixer_of(family, h.raw, h.streams, d.family_options());
    if (d.architecture == "delta") {  // post is β k of I − β k kᵀ
        const Eigen::VectorXd k = h.raw.head(h.streams);
        const double norm = k.norm();
        h.post = Eigen::VectorXd::Zero(h.streams);
        if (norm > 0) h.post = 2 * mixers::sigmoid(h.raw(h.streams)) / norm * k;
        return {name, mixer, mixers::sigmoid(h.pre), h.post};
    }
    return {name, mixer, unbounded ? h.pre : mixers::sigmoid(h.pre),
            unbounded ? h.post : Eigen::VectorXd(2 * mixers::sigmoid(h.post)), d.architecture == "mhc"};
}

Connection read_connection(const Weights& weights, const Description& d, const std::string& name,
                           const InputPoint& input, std::size_t number, Stack& stack) {
    if (d.architecture == "edelta" || d.architecture == "edelta-cayley")
        return read_hybrid(weights, name, input, number, stack);
    if (d.architecture == "edelta-stream") return read_stream_hybrid(weights, name, input, number, stack);
    if (d.architecture == "jpmhc")
        return read_jpmhc(weights, name, input, number, d.iterations(), d.cayley_step, stack, d.temperature);
    return read_hyper_connection(weights, d, name, input, number, stack);
}

void expect_streams(const Weights& weights, const Description& d) {
    const auto& a = d.architecture;
    if (d.task == "reflection")
        weights.refuse("a model for the task reflection is one operator, not a stack of mixers");
    if (a == "gpt" || a == "post-ln")
        weights.refuse(fmt::format("a {} model has plain residual connections and no mixers", a));
    if (a == "ddl" || a.starts_with("mgt"))
        weights.refuse(fmt::format("a {} model acts on all channels, so it has no streams and no mixers", a));
}

bool fits(const Weights& weights) {
    const auto format = weights.file().value().find("format");
    return format && format->text() == "spectra-training";
}

void read(const Weights& weights, const InputPoint& input, Stack& stack) {
    const auto d = description_of(weights);
    expect_streams(weights, d);
    // Every connection with pre and post has b_pre, even if its mixer is the identity.
    const auto names = connection_names(
        weights, ending_in({".b_pre", ".u_net.2.weight", ".geo_proj.2.weight", ".fused_proj.weight"}));
    for (int cycle = 0; cycle < d.cycles; ++cycle)
        for (const auto& name : names)
            add_connection(weights, read_connection(weights, d, name, input, stack.connections.size(), stack),
                           stack);
}

}  // namespace

const Layout spectra_layout{"spectra", "the format 'spectra-training'", fits, read};

}  // namespace spectra::layouts
