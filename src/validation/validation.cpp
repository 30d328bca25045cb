#include "validation/validation.hpp"

#include "base/parallel.hpp"
#include "dyson/law/cdf_law.hpp"
#include "spectrum/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

namespace spectra::validation {

namespace {

std::vector<double> logs(const std::vector<double>& values) {
    std::vector<double> result;
    for (const double value : values) result.push_back(std::log(value));
    std::sort(result.begin(), result.end());
    return result;
}

void add_mixers(Validation& v, const layouts::Stack& stack) {
    v.layout = stack.layout;
    v.stack = stack;
    v.mixers = layouts::tabulate(stack);
}

void compare_with_measured(Validation& v) {
    v.agreement.assign(v.predictions.size(), std::nullopt);
    if (!v.measured) return;
    for (std::size_t k = 0; k < v.predictions.size(); ++k)
        if (!v.predictions[k].law.empty()) v.agreement[k] = agreement(v.predictions[k].law, v.measured->law);
}

/// Every connection separately, at the first input.
std::vector<LayerDistance> layer_distances(const Validation& v, int threads) {
    const auto& first = v.measurements.front();
    const auto& whole = v.predictions.back().networks.front();
    std::vector<LayerDistance> distances(first.branches.size());
    std::vector<dyson::CountedLaw> laws(distances.size());
    parallel_for(laws.size(), threads, [&](std::size_t l) {
        try {
            laws[l] = dyson::count_law(layer_of(whole, l));
        } catch (const std::exception&) {  // not certified
        }
    });
    for (std::size_t l = 0; l < distances.size(); ++l) {
        auto& d = distances[l];
        const auto measured = Spectrum::from_log_values(logs(first.branches[l].values));
        d.wasserstein1 = laws[l].certified ? agreement(laws[l].law, measured).wasserstein1 : NAN;
        d.largest = 0;
        d.smallest = INFINITY;
        double mixer_variance = 0;
        for (const auto& m : v.measurements) {
            const auto& branch = m.branches[l];
            d.variance += branch.variance / static_cast<double>(v.measurements.size());
            mixer_variance += branch.mixer_variance / static_cast<double>(v.measurements.size());
            const auto [low, high] = std::minmax_element(branch.values.begin(), branch.values.end());
            d.smallest = std::min(d.smallest, *low);
            d.largest = std::max(d.largest, *high);
        }
        d.mixer_share = d.variance > 0 ? mixer_variance / d.variance : 0;
    }
    return distances;
}

}  // namespace

const Metrics* Validation::judged() const {
    if (measured) return &measured->metrics;
    return predicted() != nullptr && !predicted()->law.empty() ? &predicted()->metrics : nullptr;
}

const Metrics* Validation::judged_error() const {
    return measured && measured->error ? &*measured->error : nullptr;
}

bool Validation::certified() const {
    return std::all_of(predictions.begin(), predictions.end(),
                       [](const Prediction& p) { return p.certificate.certified; });
}

std::optional<Estimate> quantity(const Validation& v, const std::string& name) {
    for (const auto& metric : metric_names)
        if (name == metric.name) {
            if (v.judged() == nullptr) return std::nullopt;
            const auto* const error = v.judged_error();
            return Estimate{v.judged()->*metric.member, error != nullptr ? error->*metric.member : 0};
        }
    if (name == "wasserstein1") {
        if (v.agreement.empty() || !v.agreement.back()) return std::nullopt;
        return Estimate{v.agreement.back()->wasserstein1};
    }
    if (!v.mixers) return std::nullopt;
    const auto& m = *v.mixers;
    if (name == "norm") return Estimate{m.composites.back().spectral_norm};
    if (name == "row_sum_defect") return Estimate{m.row_sum_defect};
    if (name == "column_sum_defect") return Estimate{m.column_sum_defect};
    if (name == "orthogonality_defect") return Estimate{m.orthogonality_defect};
    if (name == "spectral_norm_max") return Estimate{m.spectral_norm_max};
    if (name == "identity_distance") return Estimate{m.identity_distance};
    if (name == "forward_gain") return Estimate{m.forward_gain};
    if (name == "backward_gain") return Estimate{m.backward_gain};
    if (name == "diagonal_dominant_share") return Estimate{m.diagonal_dominant_share};
    return std::nullopt;
}

void add_stacks(Validation& v, const std::vector<layouts::Stack>& stacks, double noise, int threads) {
    add_mixers(v, stacks.front());
    std::vector<Network> mixers, whole;
    for (const auto& stack : stacks) {
        mixers.push_back(network_of(stack, 0));
        whole.push_back(network_of(stack, noise));
    }
    Network identity = whole.front();
    for (auto& mixer : identity.mixers) mixer.setIdentity();
    v.predictions.push_back(predict(Part::mixers, std::move(mixers), threads));
    v.predictions.push_back(predict(Part::full, std::move(whole), threads));
    if (const auto p = predict(Part::full, {std::move(identity)}, threads); p.certificate.certified) v.identity = p.metrics;
    compare_with_measured(v);
}

std::vector<Requirement> requirements_for(const Validation& v) {
    auto all = default_requirements();
    if (!v.identity || v.measured) return all;
    const auto reset = [](Requirement& r, double threshold, const std::string& reason) {
        r.threshold = threshold;
        r.reason = reason;
    };
    for (auto& r : all) {
        if (r.name == "window")
            reset(r, r.threshold * v.identity->window,
                  fmt::format("{} of the identity's {:.4g} with the same branches", r.threshold, v.identity->window));
        if (r.name == "collapsed" && v.identity->collapsed > 1e-6)
            reset(r, r.threshold + v.identity->collapsed,
                  fmt::format("{} above the identity's {:.4g}", r.threshold, v.identity->collapsed));
        if (const double most = 1.25 * v.identity->largest; r.name == "largest" && most > r.threshold)
            reset(r, most, fmt::format("1.25 times the identity's {:.4g}", v.identity->largest));
    }
    return all;
}

void add_measurements(Validation& v, std::vector<layouts::Measurement> measurements, double resolution,
                      int threads) {
    v.measurements = std::move(measurements);
    add_mixers(v, v.measurements.front().stack);
    for (const Part part : {Part::mixers, Part::isotropic, Part::full}) {
        std::vector<Network> networks;
        for (const auto& m : v.measurements) {
            networks.push_back(network_of(m, part));
            // Every layer is coupled to every other: one minute per law at 24 connections.
            if (std::holds_alternative<TiedBranch>(networks.back().branch)) break;
        }
        v.predictions.push_back(predict(part, std::move(networks), threads));
    }
    if (!v.measured) {
        std::vector<std::vector<double>> values;
        for (const auto& m : v.measurements) values.push_back(logs(m.singular_values));
        add_values(v, std::move(values), "", resolution);
    }
    compare_with_measured(v);
    v.layers = layer_distances(v, threads);
}

void add_values(Validation& v, std::vector<std::vector<double>> log_values, std::string words,
                double resolution) {
    Measured measured;
    std::vector<double> all;
    for (const auto& set : log_values) all.insert(all.end(), set.begin(), set.end());
    const double largest = *std::max_element(all.begin(), all.end());
    measured.law = Spectrum::from_log_values(std::move(all), largest + std::log(resolution));
    measured.metrics = measured.law.metrics();
    measured.values = std::move(log_values);
    measured.words = std::move(words);
    v.measured = std::move(measured);
    compare_with_measured(v);
}

void add_probed(Validation& v, std::vector<ProbedLaw> laws, std::string words, double resolution) {
    std::vector<std::vector<double>> values;
    for (auto& law : laws) values.push_back(std::move(law.log_values));
    add_values(v, std::move(values), std::move(words), resolution);
    auto& metrics = v.measured->metrics;
    auto& error = v.measured->error.emplace();
    const auto mean = [&](Metrics ProbedLaw::*which, double Metrics::*metric) {
        double sum = 0;
        for (const auto& law : laws) sum += law.*which.*metric;
        return sum / static_cast<double>(laws.size());
    };
    for (const auto metric :
         {&Metrics::mean_square, &Metrics::log_mean, &Metrics::window, &Metrics::collapsed}) {
        metrics.*metric = mean(&ProbedLaw::metrics, metric);
        error.*metric = mean(&ProbedLaw::error, metric);
    }
    if (laws.size() == 1) metrics.effective_rank = laws.front().metrics.effective_rank;
    error.effective_rank = mean(&ProbedLaw::error, &Metrics::effective_rank);
    // The outermost value, and how much further out another one may be; unknown if any input's value is.
    const auto outermost = [&](double Metrics::*metric, double direction) {
        double value = -INFINITY, reach = -INFINITY;
        for (const auto& law : laws) {
            value = std::max(value, direction * law.metrics.*metric);
            reach = std::max(reach, direction * law.metrics.*metric + law.error.*metric);
        }
        metrics.*metric = direction * value;
        error.*metric = std::isnan(mean(&ProbedLaw::error, metric)) ? NAN : reach - value;
    };
    outermost(&Metrics::largest, +1);
    outermost(&Metrics::smallest, -1);
}

void conclude(Validation& v, std::vector<Requirement> requirements) {
    v.requirements = std::move(requirements);
    v.verdict = judge(v.requirements, [&](const std::string& name) { return quantity(v, name); });
}

}  // namespace spectra::validation
