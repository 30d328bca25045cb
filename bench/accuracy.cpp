// The error of every number that a law gives, against solutions with fifty digits: the tables of docs/accuracy.md.
//
//     accuracy [--quick]      all networks in minutes, or the small ones in seconds
//
// The reference (tests/support/precise_dyson.hpp) shares no code with the solver. Exit 1 if a law is not certified or an
// error is above its limit.

#include "dyson/law/theory.hpp"
#include "support/networks.hpp"
#include "support/precise_dyson.hpp"

#include <boost/math/quadrature/gauss.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using mixers::Family;
using tests::Precise;
using tests::PreciseComplex;
using tests::PreciseDyson;

struct Case {
    std::string words;  ///< mixers and branch
    Network network;
};

Network hyper_connections(Family family, int streams, int depth, double noise) {
    auto network = tests::draw_network(family, streams, depth, 8, noise);
    HyperConnectionBranch branch{sigma2(network), {}, {}};
    for (int l = 0; l < depth; ++l) {
        Eigen::VectorXd pre(streams), post(streams);
        for (int i = 0; i < streams; ++i) {
            pre(i) = 1.0 / (1 + (i + l) % streams);
            post(i) = 1 - 0.3 * ((i + 2 * l) % streams);
        }
        branch.pre.push_back(pre.normalized() * std::sqrt(streams));
        branch.post.push_back(post);
    }
    network.branch = branch;
    return network;
}

std::vector<Case> cases(bool quick) {
    std::vector<Case> list;
    const auto isotropic = [&](const char* words, Family family, int streams, int depth, double noise) {
        if (!quick || streams * depth <= 6)
            list.push_back({words, tests::draw_network(family, streams, depth, 8, noise)});
    };
    for (const double noise : {0.001, 0.05, 1.0, 4.0}) isotropic("identity", Family::identity, 1, 1, noise);
    for (const int depth : {3, 10, 30}) isotropic("identity", Family::identity, 1, depth, 0.05);
    isotropic("orthogonal", Family::orthogonal, 3, 3, 0.3);
    for (const int depth : {1, 3, 10}) isotropic("bistochastic", Family::bistochastic, 2, depth, 0.05);
    isotropic("bistochastic", Family::bistochastic, 4, 3, 0.05);
    isotropic("bistochastic", Family::bistochastic, 2, 3, 4.0);
    isotropic("cayley", Family::cayley, 3, 3, 0.05);
    isotropic("cayley-hybrid", Family::cayley_hybrid, 3, 3, 0.05);
    isotropic("spectral-sphere", Family::spectral_sphere, 3, 3, 0.05);
    isotropic("householder", Family::householder, 3, 2, 0.05);
    isotropic("permutation", Family::permutation, 3, 3, 0.05);
    for (const int depth : {1, 3, 10}) isotropic("gaussian", Family::gaussian, 2, depth, 0.5);
    const auto hyper = [&](const char* words, Family family, int streams, int depth, double noise) {
        if (!quick || streams * depth <= 6)
            list.push_back({words, hyper_connections(family, streams, depth, noise)});
    };
    hyper("bistochastic, hyper-connections", Family::bistochastic, 2, 3, 0.3);
    hyper("cayley, hyper-connections", Family::cayley, 3, 3, 0.3);
    return list;
}

double relative(double value, const Precise& exact) {
    return static_cast<double>(abs(Precise(value) - exact) / abs(exact));
}

/// Mass above s: ρ is smooth in t with s = edge − t².
Precise mass_above(const PreciseDyson& precise, const Precise& s, const Precise& edge) {
    const Precise width = sqrt(edge - s);
    return boost::math::quadrature::gauss<Precise, 40>::integrate(
        [&](const Precise& t) { return precise.density(edge - t * t) * 2 * t; }, Precise(0), width);
}

struct Errors {
    double density = 0;  ///< relative, the largest at the solved points next to nine quantiles
    double between = 0;  ///< relative, the largest at the quantiles themselves, between solved points
    double green = 0;    ///< relative, the largest off the axis above the same points
    double mass = 0;
    double square = 0, fourth = 0, log_mean = 0;  ///< relative; of E ln s absolute
    double upper = 0, lower = -1;                 ///< relative; −1: the support reaches zero
    double quantile = -1;                         ///< relative, of the 0.9-quantile; −1: not computed
    bool certified = true, density_is_right = true;
};

/// Rounding grows towards an edge, where the density is a square root.
double density_limit(const Density& density, double log_s) {
    double distance = std::numeric_limits<double>::infinity();
    for (const auto& band : density.support)
        distance = std::min({distance, std::abs(log_s - band.log_lower), std::abs(log_s - band.log_upper)});
    return std::max(1e-9, 1e-14 / distance);
}

Errors errors_of(const Network& network) {
    Errors e;
    const auto theory = dyson::solve(network, dyson::Method::operator_valued);
    const auto& law = theory.law;
    const PreciseDyson precise(network);
    e.certified = theory.summary.certified;
    for (int k = 1; k <= 9; ++k) {
        const double log_s = law.log_quantile(0.1 * k);
        const Precise s = exp(Precise(log_s)), eta = s / 10;
        e.between = std::max(e.between, relative(law.density_log(log_s), precise.density(s) * s));
        const auto& grid = law.density().log_s;
        const auto node = std::min(std::lower_bound(grid.begin(), grid.end(), log_s), grid.end() - 1);
        const Precise solved = exp(Precise(*node));
        const double off = relative(law.density_log(*node), precise.density(solved) * solved);
        e.density = std::max(e.density, off);
        e.density_is_right = e.density_is_right && off < density_limit(law.density(), *node);
        const std::complex<double> omega(static_cast<double>(s), static_cast<double>(eta));
        const auto found = dyson::green(network, {omega}).g.front();
        const Precise x(omega.real()), y(omega.imag());
        const auto exact = precise.green(x, y, precise.solution(x, y));
        e.green = std::max(
            e.green,
            static_cast<double>(abs(PreciseComplex(found.real(), found.imag()) - exact) / abs(exact)));
    }
    const auto& summary = theory.summary;
    e.mass = std::abs(summary.mass - 1);
    e.square = std::abs(summary.mean_square / summary.mean_square_exact - 1);
    if (summary.mean_fourth_exact) e.fourth = std::abs(summary.mean_fourth / *summary.mean_fourth_exact - 1);
    if (summary.log_mean_exact) e.log_mean = std::abs(summary.log_mean - *summary.log_mean_exact);
    const auto& support = law.density().support;
    const double top = std::exp(support.back().log_upper);
    const Precise edge = precise.edge(top, 1);
    e.upper = relative(top, edge);
    if (std::isfinite(support.front().log_lower)) {
        const double bottom = std::exp(support.front().log_lower);
        e.lower = relative(bottom, precise.edge(bottom, -1));
    }
    const double last = std::exp(support.back().log_lower), high = std::exp(law.log_quantile(0.9));
    if (network.streams * network.depth() <= 9 && high > last) {
        const Precise above = mass_above(precise, high, edge);
        e.quantile =
            static_cast<double>(abs(above - Precise("0.1")) / (precise.density(high) * Precise(high)));
    }
    return e;
}

/// One orthogonal layer of hyper-connections has an atom of mass (n − 2)/n at s = 1.
bool atoms() {
    bool right = true;
    std::puts("\n| n | mass of the atom at s = 1 | its error | error of its place |\n|---|---|---|---|");
    for (const int streams : {3, 4, 8}) {
        const auto theory = dyson::solve(hyper_connections(Family::orthogonal, streams, 1, 0.3),
                                         dyson::Method::operator_valued);
        const auto& found = theory.law.density().atoms;
        if (found.size() != 1) {
            std::printf("| %d | %zu atoms |\n", streams, found.size());
            return false;
        }
        const double exact = 1 - 2.0 / streams, mass = std::abs(found[0].mass - exact),
                     place = std::abs(found[0].log_place);
        std::printf("| %d | %.4g | %.0e | %.0e |\n", streams, exact, mass, place);
        right = right && mass < 1e-12 && place < 1e-12;
    }
    return right;
}

std::string shown(double error) {
    if (error < 0) return "–";
    char text[32];
    std::snprintf(text, sizeof text, "%.0e", error);
    return error == 0 ? "0" : text;
}

}  // namespace

int main(int argc, char** argv) {
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    int wrong = 0;
    std::puts(
        "| mixers | n | L | Lσ² | density | between | g | mass | E s² | E s⁴ | E ln s | upper edge | lower edge | 0.9-quantile |");
    std::puts("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (const auto& [words, network] : cases(quick)) {
        double noise = 0;
        for (const double variance : sigma2(network)) noise += variance;
        std::printf("| %s | %d | %d | %.4g |", words.c_str(), network.streams, network.depth(), noise);
        try {
            const auto e = errors_of(network);
            for (const double error : {e.density, e.between, e.green, e.mass, e.square, e.fourth, e.log_mean,
                                       e.upper, e.lower, e.quantile})
                std::printf(" %s |", shown(error).c_str());
            const bool right = e.density_is_right && e.between < 1e-4 && e.green < 1e-9 && e.mass < 1e-6 &&
                               e.square < 1e-6 && e.upper < 1e-8 && e.lower < 1e-8;
            std::printf("%s\n", !e.certified ? " not certified" : right ? "" : " above its limit");
            if (!e.certified || !right) ++wrong;
        } catch (const std::runtime_error& error) {
            std::printf(" the reference failed: %s |\n", error.what());
            ++wrong;
        }
        std::fflush(stdout);
    }
    return atoms() && wrong == 0 ? 0 : 1;
}
