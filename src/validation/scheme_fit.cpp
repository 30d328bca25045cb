#include "validation/scheme_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spectra::validation {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

using Slice = ConnectionScheme::Slice;
using Start = ConnectionScheme::Start;

Residual relative(const Residual& r, double tolerance) {
    return {r.largest / tolerance, r.mean_square / (tolerance * tolerance)};
}

/// The orders of slices, with scales by name and by place.
std::vector<ConnectionScheme> orders_of(const ConnectionScheme& base) {
    std::vector<ConnectionScheme> all;
    std::array<Slice, 3> order{Slice::pre, Slice::post, Slice::mixer};
    do {
        for (const bool by_place : {false, true}) {
            if (by_place && order == base.order) continue;
            auto scheme = base;
            scheme.order = order;
            scheme.scales_by_place = by_place;
            all.push_back(scheme);
        }
    } while (std::next_permutation(order.begin(), order.end()));
    return all;
}

/// The numbered combination of a mixer's choices.
constexpr int mixer_choices = 32;

ConnectionScheme with_mixer(ConnectionScheme scheme, int choice) {
    scheme.start = (choice & 1) != 0 ? Start::softmax : Start::exponential;
    scheme.rows_first = (choice & 2) != 0;
    scheme.mixer_epsilon = (choice & 4) != 0;
    scheme.transposed_raw = (choice & 8) != 0;
    scheme.kept_transposed = (choice & 16) != 0;
    return scheme;
}

/// Does `a` leave a quarter of what `b` leaves of one result, and no more than twice of the others?
bool fits_better(const Explanation& a, const Explanation& b) {
    bool better = false;
    for (std::size_t k = 0; k < a.mean_squares.size(); ++k) {
        if (a.mean_squares[k] > 4 * b.mean_squares[k]) return false;
        better = better || 16 * a.mean_squares[k] < b.mean_squares[k];
    }
    return better;
}

}  // namespace

/// Of one slice's result, computed by `make` from its raw numbers.
template <class Make, class Result>
Residual Fit::residual(const ConnectionScheme& scheme, Slice slice, Make make, Result result) const {
    double largest = 0, sum = 0, count = 0;
    for (std::size_t t = 0; t < record_->outputs.size(); ++t) {
        const VectorXd raw =
            raw_numbers(record_->input, scheme, projected_.col(static_cast<Index>(t)), slice);
        const auto off = (make(raw) - result(record_->outputs[t])).eval();
        const double most = off.cwiseAbs().template maxCoeff<Eigen::PropagateNaN>();
        if (!std::isfinite(most)) return {INFINITY, INFINITY};
        largest = std::max(largest, most);
        sum += off.squaredNorm();
        count += static_cast<double>(off.size());
    }
    return {largest, sum / count};
}

Residual Fit::of_pre(const ConnectionScheme& s) const {
    return residual(
        s, Slice::pre, [&](const VectorXd& raw) { return pre_of(record_->input, s, raw); },
        [](const auto& o) { return o.pre; });
}

Residual Fit::of_post(const ConnectionScheme& s) const {
    return residual(
        s, Slice::post, [&](const VectorXd& raw) { return post_of(s, raw); },
        [](const auto& o) { return o.post; });
}

Residual Fit::of_mixer(const ConnectionScheme& s) const {
    return residual(
        s, Slice::mixer, [&](const VectorXd& raw) { return mixer_of(record_->input, s, raw); },
        [](const auto& o) { return o.mixer; });
}

std::vector<Explanation> explanations(const Fit& fit, const ConnectionScheme& base,
                                      const Tolerances& tolerances) {
    std::vector<Explanation> all;
    for (const auto& ordered : orders_of(base))
        for (const bool pre_epsilon : {true, false})
            for (const bool doubled : {true, false}) {
                auto scheme = ordered;
                scheme.pre_epsilon = pre_epsilon;
                scheme.doubled_post = doubled;
                const auto pre = relative(fit.of_pre(scheme), tolerances.pre);
                const auto post = relative(fit.of_post(scheme), tolerances.post);
                if (!(pre.largest <= 1) || !(post.largest <= 1)) continue;
                for (int choice = 0; choice < mixer_choices; ++choice) {
                    const auto whole = with_mixer(scheme, choice);
                    const auto mixer = relative(fit.of_mixer(whole), tolerances.mixer);
                    if (mixer.largest <= 1)
                        all.push_back({whole, {pre.mean_square, post.mean_square, mixer.mean_square}});
                }
            }
    return all;
}

std::size_t changes(const ConnectionScheme& a, const ConnectionScheme& b) {
    // A mixer that is kept transposed is a change by itself only where it still acts in the same way.
    const bool kept_only =
        a.kept_transposed != b.kept_transposed && a.acts_transposed() == b.acts_transposed();
    return differences(a, b).size() + (kept_only ? 1 : 0);
}

std::optional<Explanation> simplest(std::vector<Explanation> all, const ConnectionScheme& base,
                                    double floor) {
    for (auto& e : all)
        for (double& square : e.mean_squares) square = std::max(square, floor * floor);
    const auto total = [](const Explanation& e) {
        return e.mean_squares[0] + e.mean_squares[1] + e.mean_squares[2];
    };
    std::stable_sort(all.begin(), all.end(), [&](const Explanation& a, const Explanation& b) {
        return std::pair(changes(base, a.scheme), total(a)) < std::pair(changes(base, b.scheme), total(b));
    });
    std::optional<Explanation> best;
    for (const auto& e : all)
        if (!best || fits_better(e, *best)) best = e;
    return best;
}

}  // namespace spectra::validation
