#include "report/json.hpp"

#include "report/branch_fields.hpp"
#include "report/json_number.hpp"
#include "spectrum/metrics.hpp"

#include <cmath>
#include <complex>
#include <nlohmann/json.hpp>

namespace spectra::report {
namespace {

using Json = nlohmann::ordered_json;

Json numbers(const std::vector<double>& values) {
    Json list = Json::array();
    for (const double v : values) list.push_back(number(v));
    return list;
}

Json table(const std::vector<std::vector<double>>& rows) {
    Json list = Json::array();
    for (const auto& row : rows) list.push_back(numbers(row));
    return list;
}

Json pairs(const std::vector<std::complex<double>>& values) {
    Json list = Json::array();
    for (const auto& z : values) list.push_back(Json::array({number(z.real()), number(z.imag())}));
    return list;
}

Json network_object(const Network& network) {
    Json object;
    object["title"] = network.title;
    object["mixer"] = network.mixer_name;
    object["depth"] = network.depth();
    object["streams"] = network.streams;
    object["width"] = network.width;
    const BranchFields fields = branch_fields(network);
    object["branch"] = fields.branch;
    object["activation"] = fields.activation;
    if (fields.activation_probability)
        object["activation_probability"] = number(*fields.activation_probability);
    object["sigma2"] = numbers(fields.sigma2);
    if (!fields.sigma_w2.empty()) object["sigma_w2"] = numbers(fields.sigma_w2);
    if (!fields.preactivation_variance.empty())
        object["preactivation_variance"] = numbers(fields.preactivation_variance);
    if (!fields.pre.empty()) {
        object["pre"] = table(fields.pre);
        object["post"] = table(fields.post);
    }
    if (!fields.weights.empty()) object["weights"] = fields.weights;
    if (!fields.branch_singular_values.empty())
        object["branch_singular_values"] = table(fields.branch_singular_values);
    return object;
}

Json theory_object(const dyson::Theory& theory) {
    const dyson::Summary& summary = theory.summary;
    Json object;
    object["points"] = summary.points;
    object["certified"] = summary.certified;
    object["uncertified"] = summary.uncertified;
    object["message"] = summary.message;
    object["checks"] = Json::array();
    for (const auto& check : summary.checks)
        object["checks"].push_back({{"what", check.what}, {"limit", number(check.limit)}, {"found", number(check.found)}});
    object["mass"] = number(summary.mass);
    object["mean_square"] = number(summary.mean_square);
    object["mean_square_exact"] = number(summary.mean_square_exact);
    object["log_mean"] = number(summary.log_mean);
    const auto where_known = [&](const char* name, const std::optional<double>& value) {
        if (value) object[name] = number(*value);
    };
    where_known("log_mean_exact", summary.log_mean_exact);
    object["mean_fourth"] = number(summary.mean_fourth);
    where_known("mean_fourth_exact", summary.mean_fourth_exact);
    object["tail_exponent"] = number(summary.tail_exponent);
    where_known("tail_exponent_exact", summary.tail_exponent_exact);
    if (summary.unresolved) {
        object["unresolved_mass"] = number(summary.unresolved->mass);
        object["unresolved_log_below"] = number(summary.unresolved->log_below);
    }
    where_known("average_error", summary.average_error);
    object["support"] = Json::array();
    for (const auto& band : theory.law.density().support) {
        object["support"].push_back({number(std::exp(band.log_lower)), number(std::exp(band.log_upper))});
    }
    object["atoms"] = Json::array();
    for (const auto& atom : theory.law.density().atoms) {
        object["atoms"].push_back({number(std::exp(atom.log_place)), number(atom.mass)});
    }
    if (!theory.outliers.empty()) object["outliers"] = outlier_list(theory.outliers);
    object["eta"] = number(theory.eta);
    object["newton_steps"] = summary.newton_steps;
    object["passes"] = summary.passes;
    object["largest_residual"] = number(summary.largest_residual);
    object["seconds"] = number(summary.seconds);
    return object;
}

Json sensitivity_object(const Network& network, const dyson::Sensitivity& sensitivity) {
    Json object;
    object["certified"] = sensitivity.certified;
    object["total_noise"] = number(dyson::by_total_noise(network, sensitivity));
    object["sigma2"] = numbers(sensitivity.sigma2);
    object["mixers"] = Json::array();
    for (const auto& mixer : sensitivity.mixers) {
        Json rows = Json::array();
        for (Eigen::Index i = 0; i < mixer.rows(); ++i) {
            Json row = Json::array();
            for (Eigen::Index j = 0; j < mixer.cols(); ++j) row.push_back(number(mixer(i, j)));
            rows.push_back(std::move(row));
        }
        object["mixers"].push_back(std::move(rows));
    }
    return object;
}

Json largest_by_triplet_object(const dyson::LargestByTriplet& largest) {
    Json triplets = Json::array();
    for (const auto& t : largest.triplets)
        triplets.push_back({{"layer", t.layer + 1},
                            {"triplet", t.triplet + 1},
                            {"value", number(t.value)},
                            {"elasticity", number(t.elasticity)}});
    return {{"certified", largest.certified},
            {"s", number(std::exp(largest.log_s))},
            {"triplets", std::move(triplets)}};
}

Json simulation_object(const montecarlo::Simulation& simulation) {
    Json object;
    object["samples"] = simulation.samples;
    object["samples_requested"] = simulation.samples_requested;
    object["width"] = simulation.width;
    object["device"] = simulation.device;
    object["precision"] = simulation.precision;
    if (simulation.probes > 0) object["probes"] = simulation.probes;
    object["mean_square"] = number(simulation.mean_square);
    object["mean_square_error"] = number(simulation.mean_square_error);
    object["errors"] = {{"mean_square", number(simulation.errors.mean_square)},
                        {"window", number(simulation.errors.window)},
                        {"collapsed", number(simulation.errors.collapsed)},
                        {"wasserstein1", number(simulation.errors.wasserstein1)}};
    object["converged"] = simulation.converged;
    object["smallest"] = number(simulation.smallest);
    object["largest"] = number(simulation.largest);
    object["seconds"] = number(simulation.seconds);
    return object;
}

Json average_object(const dyson::Average& average) {
    Json object;
    object["draws"] = average.draws;
    object["certified"] = average.certified;
    object["mean"] = metrics_object(average.mean);
    object["std"] = metrics_object(average.deviation);
    Metrics error = average.deviation;
    for (const auto& metric : metric_names) error.*metric.member /= std::sqrt(average.certified);
    object["standard_error"] = metrics_object(error);
    return object;
}

Json depth_object(const dyson::DepthLimit& limit) {
    Json object;
    object["limit"] = limit.depth;
    object["reached"] = limit.failed;
    object["certified"] = limit.certified;
    object["keeps_again"] = limit.again;
    return object;
}

Json agreement_object(const Agreement& agreement) {
    Json object;
    object["wasserstein1"] = number(agreement.wasserstein1);
    object["wasserstein1_log"] = number(agreement.wasserstein1_log);
    object["kolmogorov_smirnov"] = number(agreement.kolmogorov_smirnov);
    object["log_floor"] = number(agreement.log_floor);
    object["left_out"] = agreement.left_out;
    return object;
}

}  // namespace

std::string to_json(const Report& report) {
    Json root;
    root["network"] = network_object(report.network);
    root["theory"] = Json::object();
    for (const auto& theory : report.theories) {
        root["theory"][dyson::name(theory.method)] = theory_object(theory);
    }
    if (report.sensitivity)
        for (const auto& [name, sensitivity] : report.sensitivity->by_name())
            root["theory"]["ov"]["sensitivity"][name] = sensitivity_object(report.network, *sensitivity);
    if (report.largest_by_triplet)
        root["theory"]["ov"]["sensitivity"]["largest"] =
            largest_by_triplet_object(*report.largest_by_triplet);
    if (report.average) root["theory"]["ov"]["average"] = average_object(*report.average);
    if (report.green) {
        Json& green = root["green"];
        green["omega"] = pairs(report.green->omega);
        green["g"] = pairs(report.green->g);
        green["certified"] = Json::array();
        for (const auto flag : report.green->certified) green["certified"].push_back(flag != 0);
    }
    root["montecarlo"] = report.simulation ? simulation_object(*report.simulation) : Json(nullptr);
    root["metrics"] = Json::object();
    for (const auto& [source, metrics] : report.metrics) root["metrics"][name(source)] = metrics_object(metrics);
    root["agreement"] = Json::object();
    for (const auto& [pair, agreement] : report.agreement) {
        Json& object = root["agreement"][name(pair)];
        object = agreement_object(agreement);
        if (!report.expected || pair.second != Source::montecarlo) continue;
        const auto& e = *report.expected;
        object["expected"] = {{"wasserstein1", expected_object(e.wasserstein1)},
                              {"wasserstein1_log", expected_object(e.wasserstein1_log)},
                              {"kolmogorov_smirnov", expected_object(e.kolmogorov_smirnov)}};
    }
    root["files"] = report.files;
    // Names and paths may hold bytes that are not UTF-8.
    return root.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const DepthReport& report) {
    Json root;
    root["network"] = {{"title", report.title}, {"mixer", report.mixer_name}, {"streams", report.streams}};
    Json& answer = root["depth_limit"];
    answer = depth_object(report.limit);
    answer["keep"] = number(report.keep);
    answer["above"] = number(report.above);
    answer["max_depth"] = report.max_depth;
    answer["points"] = Json::array();
    for (const auto& p : report.limit.points)
        answer["points"].push_back(
            {{"depth", p.depth}, {"share", number(p.share)}, {"certified", p.certified}});
    if (!report.draws.empty()) {
        Json& draws = root["draws"];
        draws["median"] = limit_quantile(report, 0.5);
        draws["quartiles"] = {limit_quantile(report, 0.25), limit_quantile(report, 0.75)};
        draws["range"] = {limit_quantile(report, 0), limit_quantile(report, 1)};
        draws["limits"] = Json::array();
        for (const auto& draw : report.draws) draws["limits"].push_back(depth_object(draw));
    }
    root["files"] = report.files;
    return root.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spectra::report
