// The theory for a browser: describes a network by numbers, draws its mixers, solves it, and hands the law back as
// numbers. src/web/explore/wasm.ts calls these functions; the order of the numbers is stated here and there.

#include "dyson/law/theory.hpp"
#include "mixers/mixer.hpp"
#include "network/network.hpp"
#include "spectrum/metrics.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace {

using spectra::Network;

/// What the page sets, in this order.
enum Setting { family, streams, depth, noise, seed, shared, gate, beta, logit_scale, setting_count };

/// What it reads back, each an array of numbers.
enum Part { summary, metrics, log_s, density_log, cumulative, support, atoms, mixers, part_count };

std::array<double, setting_count> settings{};
std::array<std::vector<double>, part_count> parts;
std::string message;

/// The law before, of each theory, to start the next one from.
struct Before {
    std::array<double, setting_count> settings{};
    spectra::dyson::Follower follower;
};
std::array<Before, 2> before;

/// Whether a network can start from that law: the same draw of the same shape, and no other number moved by half of itself.
bool moved_little(const std::array<double, setting_count>& from) {
    for (const Setting same : {family, streams, depth, seed, shared})
        if (from[same] != settings[same]) return false;
    return std::all_of(from.begin(), from.end(), [&, k = std::size_t{0}](double x) mutable {
        const double y = settings[k++];
        return std::abs(x - y) <= 0.5 * std::max(std::abs(x), std::abs(y));
    });
}

Network network() {
    spectra::mixers::Recipe recipe;
    recipe.family = spectra::mixers::all_families().at(static_cast<std::size_t>(settings[family]));
    recipe.gate = settings[gate];
    recipe.beta = settings[beta];
    recipe.logit_scale = settings[logit_scale];
    const int layers = static_cast<int>(settings[depth]);
    Network network;
    network.streams = static_cast<int>(settings[streams]);
    spectra::mixers::check(recipe, network.streams);
    network.mixers = spectra::mixers::draw_layers(recipe, network.streams, layers, settings[shared] != 0,
                                                  static_cast<std::uint64_t>(settings[seed]));
    network.branch = spectra::IsotropicBranch{
        std::vector<double>(static_cast<std::size_t>(layers), settings[noise] / layers)};
    spectra::check(network);
    return network;
}

void keep_summary(const spectra::dyson::Summary& of) {
    parts[summary] = {of.certified ? 1.0 : 0.0,
                      static_cast<double>(of.points),
                      static_cast<double>(of.newton_steps),
                      of.mass,
                      of.mean_square_exact,
                      of.log_mean_exact.value_or(of.log_mean),
                      of.seconds};
    message = of.message;
}

void keep_law(const spectra::Spectrum& law) {
    const spectra::Density& density = law.density();
    parts[log_s] = density.log_s;
    parts[density_log] = density.density_log;
    parts[cumulative] = density.cumulative;
    parts[summary].push_back(density.mass_below);
    parts[summary].push_back(density.tail_exponent);
    for (const auto& band : density.support)
        parts[support].insert(parts[support].end(), {band.log_lower, band.log_upper});
    for (const auto& atom : density.atoms)
        parts[atoms].insert(parts[atoms].end(), {atom.log_place, atom.mass});
    const spectra::Metrics values = law.metrics();
    for (const auto& metric : spectra::metric_names) parts[metrics].push_back(values.*metric.member);
}

/// Row by row, layer by layer.
void keep_mixers(const Network& network) {
    for (const auto& mixer : network.mixers)
        for (Eigen::Index i = 0; i < mixer.rows(); ++i)
            for (Eigen::Index j = 0; j < mixer.cols(); ++j) parts[mixers].push_back(mixer(i, j));
}

/// Thrown where a solve takes too long.
struct TooLong {};

/// Ends the solve after so many seconds; 0: never.
std::function<void()> limit(double seconds) {
    if (!(seconds > 0)) return {};
    using Clock = std::chrono::steady_clock;
    const auto end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    return [end] {
        if (Clock::now() > end) throw TooLong();
    };
}

}  // namespace

#define SPECTRA_EXPORT extern "C" __attribute__((used, visibility("default")))

/// Where the settings are written before a solve.
SPECTRA_EXPORT double* spectra_settings() {
    return settings.data();
}

/// Solves the theory `method` (0 operator-valued, 1 scalar) on at least so many points, in at most so many seconds (0:
/// however long it takes). If `follows`, it starts from the last law that was asked for so, where the settings moved little.
/// 1: solved. 0: the settings are refused, and spectra_message has the reason. 2: it took too long.
SPECTRA_EXPORT int spectra_solve(int method, int points, double tolerance, double seconds, int follows) {
    for (auto& part : parts) part.clear();
    Before& last = before.at(static_cast<std::size_t>(method));
    if (follows != 0) {
        if (!moved_little(last.settings)) last.follower = {};
        last.settings = settings;
    }
    try {
        const Network described = network();
        spectra::dyson::Options options;
        options.points = points;
        options.tolerance = tolerance;
        options.on_step = limit(seconds);
        const auto theory_method = static_cast<spectra::dyson::Method>(method);
        const auto theory = follows != 0 ? last.follower.solve(described, theory_method, options)
                                         : spectra::dyson::solve(described, theory_method, options);
        keep_summary(theory.summary);
        keep_law(theory.law);
        keep_mixers(described);
        return 1;
    } catch (const TooLong&) {
        return 2;
    } catch (const std::exception& error) {
        message = error.what();
        return 0;
    }
}

/// The certificate in words, or the reason why there is no law.
SPECTRA_EXPORT const char* spectra_message() {
    return message.c_str();
}

/// A part of the result.
SPECTRA_EXPORT const double* spectra_part(int part) {
    return parts.at(static_cast<std::size_t>(part)).data();
}

/// How many numbers it has.
SPECTRA_EXPORT int spectra_size(int part) {
    return static_cast<int>(parts.at(static_cast<std::size_t>(part)).size());
}

/// The name of a family by its number; null behind the last one.
SPECTRA_EXPORT const char* spectra_family(int number) {
    const auto& all = spectra::mixers::all_families();
    if (number < 0 || static_cast<std::size_t>(number) >= all.size()) return nullptr;
    static std::string name;
    name = spectra::mixers::name(all[static_cast<std::size_t>(number)]);
    return name.c_str();
}

/// The name of a metric by its number, as in files; null behind the last one.
SPECTRA_EXPORT const char* spectra_metric(int number) {
    const auto& all = spectra::metric_names;
    return number < 0 || static_cast<std::size_t>(number) >= all.size()
               ? nullptr
               : all[static_cast<std::size_t>(number)].name;
}
