#include "python/describe.hpp"

#include "study/build_branch.hpp"

#include <fmt/format.h>

namespace spectra::python {

namespace {

study::StreamWeights stream_weights(const py::object& given) {
    study::StreamWeights out;
    if (py::isinstance<py::str>(given)) {
        const auto word = py::cast<std::string>(given);
        if (word != "mean" && word != "drawn")
            throw std::invalid_argument(fmt::format("`pre`, `post` \"{}\": must be mean, drawn or numbers", word));
        out.choice = word == "mean" ? study::StreamWeights::Choice::mean : study::StreamWeights::Choice::drawn;
        return out;
    }
    const auto array = py::cast<Doubles>(given);
    out.choice = study::StreamWeights::Choice::given;
    out.values.assign(array.data(), array.data() + array.size());
    out.layers = array.ndim() == 2 ? static_cast<std::size_t>(array.shape(0)) : 1;
    return out;
}

/// Matrices of an array (n, n) or (L, n, n).
std::vector<Mixer> mixers_of(const Doubles& array) {
    const auto dimensions = array.ndim();
    if ((dimensions != 2 && dimensions != 3) || array.shape(dimensions - 1) != array.shape(dimensions - 2) ||
        array.shape(0) == 0)
        throw std::invalid_argument("`mixer`: an array must have the shape (n, n) or (L, n, n)");
    const auto n = array.shape(dimensions - 1);
    const auto layers = dimensions == 3 ? array.shape(0) : 1;
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    std::vector<Mixer> out;
    for (py::ssize_t l = 0; l < layers; ++l)
        out.emplace_back(Eigen::Map<const Rows>(array.data() + l * n * n, n, n));
    return out;
}

template <class T>
void take(const py::dict& fields, const char* name, std::optional<T>& into) {
    if (fields.contains(name)) into = py::cast<T>(fields[name]);
}

/// One value or several.
void take_numbers(const py::dict& fields, const char* name, std::optional<std::vector<double>>& into) {
    if (!fields.contains(name)) return;
    const auto array = py::cast<Doubles>(fields[name]);
    into = std::vector<double>(array.data(), array.data() + array.size());
}

void take_recipe(const py::dict& fields, study::Request& request) {
    auto& recipe = request.recipe;
    const auto given = [&](const char* name) {
        if (!fields.contains(name)) return false;
        request.family_fields.emplace_back(name);
        return true;
    };
    if (given("logit_scale")) recipe.logit_scale = py::cast<double>(fields["logit_scale"]);
    if (given("sinkhorn_iterations")) recipe.sinkhorn_iterations = py::cast<int>(fields["sinkhorn_iterations"]);
    if (given("cayley_iterations")) {
        recipe.cayley_iterations.reset();  // exact
        const py::object value = fields["cayley_iterations"];
        if (!py::isinstance<py::str>(value) || py::cast<std::string>(value) != "exact")
            recipe.cayley_iterations = py::cast<int>(value);
    }
    if (given("cayley_step")) recipe.cayley_step = py::cast<double>(fields["cayley_step"]);
    if (given("gate")) recipe.gate = py::cast<double>(fields["gate"]);
    if (given("beta")) recipe.beta = py::cast<double>(fields["beta"]);
    if (given("rank")) recipe.rank = py::cast<int>(fields["rank"]);
    if (given("permutations")) recipe.permutations = py::cast<int>(fields["permutations"]);
}

study::Request request_of(const py::dict& fields) {
    study::Request request;
    take(fields, "mixer", request.mixer);
    take(fields, "model", request.model);
    take(fields, "depth", request.depth);
    take(fields, "streams", request.streams);
    take(fields, "width", request.width);
    if (fields.contains("shared")) request.shared_draws = py::cast<bool>(fields["shared"]);
    if (fields.contains("seed")) request.seed = py::cast<std::uint64_t>(fields["seed"]);
    take_recipe(fields, request);
    take(fields, "branch", request.branch);
    take(fields, "noise", request.noise);
    take_numbers(fields, "sigma2", request.sigma2);
    take(fields, "activation", request.activation);
    take_numbers(fields, "preactivation_variance", request.preactivation_variance);
    take(fields, "branch_law", request.branch_law);
    if (fields.contains("pre")) request.pre = stream_weights(fields["pre"]);
    if (fields.contains("post")) request.post = stream_weights(fields["post"]);
    return request;
}

/// Replaces what was drawn by the user's own matrices, with the branch that the request describes for them.
void set_mixers(const study::Request& request, std::vector<Mixer> mixers, study::DescribedNetwork& described) {
    auto& network = described.network;
    if (mixers.size() == 1) mixers.assign(static_cast<std::size_t>(network.depth()), Mixer(mixers.front()));
    const auto drawn_as = network.mixer_name;
    network.mixers = std::move(mixers);
    network.branch = study::describe_branch(request, network);
    network.mixer_name = described.short_name = "given";
    network.title.replace(0, drawn_as.size(), "given mixers");
    described.recipe.reset();
    check(network);
}

}  // namespace

Described describe(py::dict fields, const std::optional<Doubles>& mixers, const std::optional<BranchLaw>& law) {
    fields = py::dict(**fields);
    std::vector<Mixer> given;
    if (mixers) {
        given = mixers_of(*mixers);
        fields["mixer"] = "identity";
        const auto n = static_cast<int>(given.front().rows()), layers = static_cast<int>(given.size());
        const auto must_be = [&](const char* name, int value) {
            if (fields.contains(name) && py::cast<int>(fields[name]) != value)
                throw std::invalid_argument(fmt::format("`{}` {} contradicts `mixer`: it has {} matrices of {}×{}", name,
                                                        py::cast<int>(fields[name]), layers, n, n));
            fields[name] = value;
        };
        must_be("streams", n);
        if (layers > 1) must_be("depth", layers);
    }
    auto request = request_of(fields);
    study::check_conflicts(request);
    Described out;
    out.seed = request.seed;
    out.shared = request.shared_draws.value_or(false);
    out.is = study::describe_network(request);
    if (mixers) set_mixers(request, std::move(given), out.is);
    if (law) {
        auto& branch = out.is.network.branch;
        const auto set = [&](auto& of) {
            of.sigma2.clear();
            of.law = *law;
        };
        if (auto* isotropic = std::get_if<IsotropicBranch>(&branch))
            set(*isotropic);
        else if (auto* hyper = std::get_if<HyperConnectionBranch>(&branch))
            set(*hyper);
        else
            throw std::invalid_argument("`branch_law`: it only applies to `branch` isotropic, hyper-connection");
        check(out.network());
        auto& title = out.is.network.title;  // "…, Lσ² = 0.05, seed 1": the variance is another one
        const auto seed = title.rfind(", seed"), variance = title.rfind(", ", seed - 1);
        title.replace(variance, seed - variance, ", branch as given");
    }
    return out;
}

py::array_t<double> mixer_array(const Described& described) {
    const auto& network = described.network();
    const auto n = static_cast<py::ssize_t>(network.streams);
    py::array_t<double> out({static_cast<py::ssize_t>(network.mixers.size()), n, n});
    auto entry = out.mutable_unchecked<3>();
    for (py::ssize_t l = 0; l < out.shape(0); ++l)
        for (py::ssize_t i = 0; i < n; ++i)
            for (py::ssize_t j = 0; j < n; ++j) entry(l, i, j) = network.mixers[static_cast<std::size_t>(l)](i, j);
    return out;
}

}  // namespace spectra::python
