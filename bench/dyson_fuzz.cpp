// Random networks through the theory: each must end certified or with a named failure, on the right branch.
//
//     dyson_fuzz --models 10000 --points 16
//         [--seed S] [--first I]              models I, I + 1, … of that seed
//         [--time-limit-per-model SECONDS]    longer is reported as slow (10); processor time
//         [--laws K] [--law-cost C]           the whole law of every Kth model (20; 0: none) below that cost
//         [--simulate K]                      compares every Kth with simulation (20; 0: none)
//         [--max-cost C]                      leaves dearer models out, and counts them (all)
//         [--verbose] [--json]                a line a model; or print the models' files and solve nothing
//
// Model I alone: --first I --models 1 --laws 1 --verbose. Exit 1 where a certified answer is wrong (how that
// is decided: tests/support/fuzz_checks.hpp) or an uncertified one has no message.

#include "dyson/law/theory.hpp"
#include "montecarlo/run/simulate.hpp"
#include "support/fuzz_checks.hpp"
#include "support/fuzz_models.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using tests::Complex;

struct Request {
    std::uint32_t models = 1000, first = 0;
    int points = 16;
    std::uint64_t seed = 1;
    double slow = 10;
    std::uint32_t laws = 20, simulate = 20;
    double law_cost = 1e5, max_cost = std::numeric_limits<double>::infinity();
    bool verbose = false, json = false;
};

/// Of this process: what else the machine does must not make a model slow.
double processor_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// ---- a model as a file -------------------------------------------------------------------------------

nlohmann::json rows(const Mixer& a) {
    auto result = nlohmann::json::array();
    for (Eigen::Index i = 0; i < a.rows(); ++i)
        result.push_back(std::vector<double>(a.row(i).begin(), a.row(i).end()));
    return result;
}

nlohmann::json entries(const Eigen::VectorXd& x) {
    return std::vector<double>(x.begin(), x.end());
}

nlohmann::json noise(const Network& network) {
    nlohmann::json result;
    result["kind"] = branch_name(network.branch);
    const auto put_variance = [&](const std::vector<double>& sigma2, const BranchLaw& law) {
        if (law.empty())
            result["sigma2"] = sigma2;
        else
            result["singular_values"] = law.size() == 1 ? nlohmann::json(law.front()) : nlohmann::json(law);
    };
    if (const auto* isotropic = std::get_if<IsotropicBranch>(&network.branch)) {
        put_variance(isotropic->sigma2, isotropic->law);
    } else if (const auto* hyper = std::get_if<HyperConnectionBranch>(&network.branch)) {
        put_variance(hyper->sigma2, hyper->law);
        for (const auto& pre : hyper->pre) result["pre"].push_back(entries(pre));
        for (const auto& post : hyper->post) result["post"].push_back(entries(post));
    } else if (const auto* tied = std::get_if<TiedBranch>(&network.branch)) {
        result["sigma2"] = tied->sigma2;
        for (const auto& pre : tied->pre) result["pre"].push_back(entries(pre));
        for (const auto& post : tied->post) result["post"].push_back(entries(post));
        if (!tied->weights.empty()) result["weights"] = tied->weights;
    } else {
        const auto& activation = std::get<ActivationBranch>(network.branch);
        result["sigma_w2"] = activation.sigma_w2;
        const bool bernoulli = activation.activation.kind == ActivationKind::bernoulli;
        result["law"] = bernoulli ? "bernoulli" : name(activation.activation);
        if (bernoulli)
            result["probability"] = activation.activation.probability;
        else
            result["preactivation_variance"] = activation.preactivation_variance;
    }
    return result;
}

nlohmann::json as_json(const tests::FuzzModel& model) {
    nlohmann::json result{{"name", model.name},
                          {"streams", model.network.streams},
                          {"depth", model.network.depth()},
                          {"noise", noise(model.network)}};
    for (const Mixer& a : model.network.mixers) result["mixers"].push_back(rows(a));
    return result;
}

// ---- one model -----------------------------------------------------------------------------------------

struct Outcome {
    int points = 0, certified = 0, beyond_double = 0;
    bool law_asked = false;
    dyson::Summary law;
    std::string wrong;   ///< why a certified answer is not the right one
    std::string thrown;  ///< what was thrown
};

/// g of sampled networks at Im ω = |Re ω|, where rounding does not reach.
std::string differs_from_simulation(const dyson::Green& green, Network network) {
    network.width = std::max(24, 96 / network.streams);
    montecarlo::Options options;
    options.samples = 6;
    options.threads = 1;
    const auto simulation = montecarlo::simulate(network, options);
    for (std::size_t k = 0; k < green.omega.size(); ++k) {
        const Complex omega = green.omega[k];
        if (green.certified[k] == 0 || omega.imag() < 0.9 * std::abs(omega.real())) continue;
        if (std::log(omega.imag()) < simulation.law.log_floor() + 3) continue;
        const double error =
            std::abs(green.g[k] - tests::green_of_law(simulation.law, omega)) * std::abs(omega);
        if (!(error <= 0.15)) return "g differs from simulation by " + std::to_string(error);
    }
    return {};
}

Outcome examine(const tests::FuzzModel& model, const Request& request) {
    Outcome outcome;
    const Network& network = model.network;
    const bool sampled =
        std::holds_alternative<ActivationBranch>(network.branch) && !dyson::site_draws(network).exact;
    const auto points = tests::fuzz_points(network, model.index, request.points, request.seed);
    const auto green = dyson::green(network, points);
    outcome.points = static_cast<int>(points.size());
    for (const auto flag : green.certified) outcome.certified += flag;
    for (const auto flag : green.beyond_double) outcome.beyond_double += flag;
    outcome.wrong = tests::wrong_branch(network, green, sampled);
    if (request.laws > 0 && model.index % request.laws == 0 &&
        tests::fuzz_cost(network) <= request.law_cost) {
        dyson::Options options;
        options.points = 100;
        options.threads = 1;
        const auto theory = dyson::solve(network, dyson::Method::operator_valued, options);
        outcome.law_asked = true;
        outcome.law = theory.summary;
        if (outcome.law.certified && outcome.wrong.empty() && !sampled)
            outcome.wrong = tests::differs_from_law(green, theory.law);
    }
    if (request.simulate > 0 && model.index % request.simulate == 0 && outcome.wrong.empty())
        outcome.wrong = differs_from_simulation(green, network);
    return outcome;
}

// ---- all of them ---------------------------------------------------------------------------------------

/// Numbers differ from model to model, the failure is the same.
std::string without_numbers(const std::string& message) {
    std::string result;
    for (const char c : message) {
        const bool digit = (c >= '0' && c <= '9') || c == '.';
        if (!digit)
            result += c;
        else if (result.empty() || result.back() != '#')
            result += '#';
    }
    return result;
}

struct Tally {
    long models = 0, points = 0, certified_points = 0, beyond_double = 0, laws = 0, certified_laws = 0;
    long all_points_certified = 0, left_out = 0;
    std::map<std::string, std::vector<std::uint32_t>> failures;
    std::vector<std::uint32_t> wrong, nameless, slow;
    std::vector<double> seconds;
    double slowest = 0;
    std::string slowest_name;

    void add(const tests::FuzzModel& model, const Outcome& outcome, double time, double limit) {
        ++models;
        points += outcome.points;
        certified_points += outcome.certified;
        beyond_double += outcome.beyond_double;
        all_points_certified += outcome.thrown.empty() && outcome.certified == outcome.points ? 1 : 0;
        if (!outcome.thrown.empty()) failures["thrown: " + outcome.thrown].push_back(model.index);
        if (outcome.beyond_double > 0) failures["points beyond double precision"].push_back(model.index);
        if (outcome.certified + outcome.beyond_double < outcome.points)
            failures["points not certified"].push_back(model.index);
        if (outcome.law_asked) {
            ++laws;
            certified_laws += outcome.law.certified ? 1 : 0;
            if (!outcome.law.certified)
                failures["law: " + without_numbers(outcome.law.message)].push_back(model.index);
            if (!outcome.law.certified && outcome.law.message.empty()) nameless.push_back(model.index);
        }
        if (!outcome.wrong.empty()) wrong.push_back(model.index);
        if (time > limit) slow.push_back(model.index);
        seconds.push_back(time);
        if (time <= slowest) return;
        slowest = time;
        slowest_name = std::to_string(model.index) + ": " + model.name;
    }

    void print() {
        std::printf("%ld models, %ld left out\n", models, left_out);
        std::printf(
            "points      %ld of %ld certified, %ld beyond double precision; all certified in %ld models\n",
            certified_points, points, beyond_double, all_points_certified);
        std::printf("laws        %ld of %ld certified\n", certified_laws, laws);
        std::sort(seconds.begin(), seconds.end());
        const auto quantile = [&](double f) {
            return seconds.empty()
                       ? 0
                       : seconds[static_cast<std::size_t>(f * static_cast<double>(seconds.size() - 1))];
        };
        std::printf("seconds     median %.3g, 90 %% %.3g, 99 %% %.3g, slowest %.3g (%s)\n", quantile(0.5),
                    quantile(0.9), quantile(0.99), slowest, slowest_name.c_str());
        for (const auto& [message, indices] : failures) list(message.c_str(), indices);
        list("slow", slow);
        list("without a message", nameless);
        list("WRONG", wrong);
    }

    static void list(const char* what, const std::vector<std::uint32_t>& indices) {
        if (indices.empty()) return;
        std::printf("%zu  %s:", indices.size(), what);
        for (const auto index : indices) std::printf(" %u", index);
        std::printf("\n");
    }
};

void print_line(const tests::FuzzModel& model, const Outcome& outcome, double time) {
    std::printf("%5u %7.3f s %2d/%2d  %-40s %s%s%s%s\n", model.index, time, outcome.certified, outcome.points,
                outcome.law_asked ? outcome.law.message.c_str() : "", model.name.c_str(),
                outcome.wrong.empty() ? "" : "  WRONG: ", outcome.wrong.c_str(), outcome.thrown.c_str());
    std::fflush(stdout);
}

Request parse(int count, char** words) {
    Request request;
    for (int k = 1; k < count; ++k) {
        const std::string word = words[k];
        if (word == "--verbose") {
            request.verbose = true;
            continue;
        }
        if (word == "--json") {
            request.json = true;
            continue;
        }
        char* end = nullptr;
        const double value = k + 1 < count ? std::strtod(words[++k], &end) : -1;
        const bool number = end != nullptr && *end == 0 && value >= 0;
        const auto whole = static_cast<std::uint32_t>(number ? value : 0);
        if (number && word == "--models")
            request.models = whole;
        else if (number && word == "--first")
            request.first = whole;
        else if (number && word == "--points")
            request.points = static_cast<int>(value);
        else if (number && word == "--seed")
            request.seed = whole;
        else if (number && word == "--time-limit-per-model")
            request.slow = value;
        else if (number && word == "--laws")
            request.laws = whole;
        else if (number && word == "--law-cost")
            request.law_cost = value;
        else if (number && word == "--simulate")
            request.simulate = whole;
        else if (number && word == "--max-cost")
            request.max_cost = value;
        else {
            std::fprintf(
                stderr,
                "dyson_fuzz: %s; accepted: --models, --first, --points, --seed, "
                "--time-limit-per-model, --laws, --law-cost, --simulate, --max-cost, each with a number, "
                "--verbose, --json\n",
                word.c_str());
            std::exit(2);
        }
    }
    return request;
}

}  // namespace

int main(int count, char** words) {
    const Request request = parse(count, words);
    const tests::FuzzModels draw(request.seed);
    Tally tally;
    for (std::uint32_t k = 0; k < request.models; ++k) {
        const auto model = draw(request.first + k);
        if (request.json) {
            std::printf("%s\n", as_json(model).dump().c_str());
            continue;
        }
        if (tests::fuzz_cost(model.network) > request.max_cost) {
            ++tally.left_out;
            continue;
        }
        const double start = processor_seconds();
        Outcome outcome;
        try {
            outcome = examine(model, request);
        } catch (const std::exception& error) {
            outcome.thrown = error.what();
        }
        const double time = processor_seconds() - start;
        tally.add(model, outcome, time, request.slow);
        const bool suspicious = !outcome.wrong.empty() || !outcome.thrown.empty() || time > request.slow;
        if (request.verbose || suspicious) print_line(model, outcome, time);
    }
    if (request.json) return 0;
    tally.print();
    return tally.wrong.empty() && tally.nameless.empty() ? 0 : 1;
}
