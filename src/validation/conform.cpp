#include "validation/conform.hpp"

#include "base/refuse.hpp"
#include "base/text.hpp"
#include "layouts/weights.hpp"
#include "mixers/raw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace spectra::validation {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Slice = ConnectionScheme::Slice;
using Start = ConnectionScheme::Start;

// --- files

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

// --- how exactly numbers can agree

/// Unit roundoff of the formats that numbers may be kept in.
constexpr double double_unit = 0x1p-53, float_unit = 0x1p-24, bfloat_unit = 0x1p-8, half_unit = 0x1p-11;

bool is_float(double x) {
    return static_cast<double>(static_cast<float>(x)) == x;
}

bool is_bfloat(double x) {
    const auto single = static_cast<float>(x);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &single, sizeof bits);
    return static_cast<double>(single) == x && (bits & 0xFFFFU) == 0;
}

/// Eleven bits; the exponent does not matter here.
bool is_half(double x) {
    int exponent = 0;
    const double digits = std::ldexp(std::frexp(x, &exponent), 11);
    return digits == std::floor(digits);
}

/// One result of all tokens, in a row.
using Get = std::function<VectorXd(const ConnectionOutput&)>;

VectorXd get_pre(const ConnectionOutput& o) {
    return o.pre;
}
VectorXd get_post(const ConnectionOutput& o) {
    return o.post;
}
VectorXd get_mixer(const ConnectionOutput& o) {
    return o.mixer.reshaped<Eigen::RowMajor>();
}
VectorXd get_output(const ConnectionOutput& o) {
    return o.output.reshaped<Eigen::RowMajor>();
}

bool all_of(const std::vector<ConnectionOutput>& outputs, const Get& get, bool (*holds)(double)) {
    for (const auto& output : outputs) {
        const VectorXd values = get(output);
        if (!std::all_of(values.begin(), values.end(), holds)) return false;
    }
    return true;
}

/// Of pre, mixer and post, which are computed in single precision at least.
double unit_of(const std::vector<ConnectionOutput>& outputs) {
    return all_of(outputs, get_pre, is_float) && all_of(outputs, get_post, is_float) &&
                   all_of(outputs, get_mixer, is_float)
               ? float_unit
               : double_unit;
}

/// Of what models compute in, whatever their mixers are in.
double output_unit(const std::vector<ConnectionOutput>& outputs) {
    if (all_of(outputs, get_output, is_bfloat)) return bfloat_unit;
    if (all_of(outputs, get_output, is_half)) return half_unit;
    return all_of(outputs, get_output, is_float) ? float_unit : double_unit;
}

/// What rounding to a unit u changes in pre, mixer and post at most: u √K |Φ| in every raw number, a sum of K terms, and
/// their derivatives are at most 2; 32 u for sums of a normalisation. Four times that, for the order of operations.
double tolerance_of(const ConnectionInput& input, double unit) {
    const double terms = std::sqrt(static_cast<double>(input.projection.cols()));
    const double slope = input.scale.cwiseAbs().maxCoeff() * input.projection.rowwise().norm().maxCoeff();
    const double raw = 1 + input.bias.cwiseAbs().maxCoeff() + slope * terms;
    return 4 * unit * (32 + 2 * raw);
}

// --- what an implementation does

struct Residual {
    double largest = 0, mean_square = 0;
};

/// A record and what all schemes have in common.
class Fit {
public:
    explicit Fit(const ConnectionRecord& record)
        : record_(&record), projected_(projected_states(record.input)) {}

    /// Of one slice's result, computed by `make` from its raw numbers.
    template <class Make, class Result>
    Residual residual(const ConnectionScheme& scheme, Slice slice, Make make, Result result) const {
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

    Residual of_pre(const ConnectionScheme& s) const {
        return residual(
            s, Slice::pre, [&](const VectorXd& raw) { return pre_of(record_->input, s, raw); },
            [](const auto& o) { return o.pre; });
    }
    Residual of_post(const ConnectionScheme& s) const {
        return residual(
            s, Slice::post, [&](const VectorXd& raw) { return post_of(s, raw); },
            [](const auto& o) { return o.post; });
    }
    Residual of_mixer(const ConnectionScheme& s) const {
        return residual(
            s, Slice::mixer, [&](const VectorXd& raw) { return mixer_of(record_->input, s, raw); },
            [](const auto& o) { return o.mixer; });
    }

    const ConnectionRecord& record() const { return *record_; }

private:
    const ConnectionRecord* record_;
    MatrixXd projected_;
};

/// The tolerance of each result that schemes differ in.
struct Tolerances {
    double pre = 0, post = 0, mixer = 0;
};

struct Explanation {
    ConnectionScheme scheme;
    std::array<double, 3>
        mean_squares{};  ///< of what is left of pre, post and mixer, in units of the tolerances
};

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

/// Every scheme that reproduces the results to the tolerances. Passes and the way the mixer is applied are those of
/// `base`.
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
    const bool kept_only = a.kept_transposed != b.kept_transposed && a.acts_transposed() == b.acts_transposed();
    return differences(a, b).size() + (kept_only ? 1 : 0);
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

/// The explanation with the fewest changes, unless another fits four times better. Below half a unit of rounding, none
/// is better than another.
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

/// The ways to count passes and to apply the mixer that a reference may have, published ones first.
std::vector<std::pair<ConnectionScheme, const char*>> reference_schemes() {
    std::vector<std::pair<ConnectionScheme, const char*>> all{{deepseek_scheme(), "DeepSeek-V4"},
                                                              {mhc_scheme(), "mHC"}};
    for (const bool last_pass : {false, true})
        for (const bool applied : {true, false}) {
            auto scheme = last_pass ? mhc_scheme() : deepseek_scheme();
            scheme.applied_transposed = applied;
            all.emplace_back(scheme, "");
        }
    return all;
}

double largest_output(const ConnectionRecord& record) {
    double most = 0;
    for (std::size_t t = 0; t < record.outputs.size(); ++t)
        most = std::max(most, record.input.streams() * record.input.states[t].cwiseAbs().maxCoeff() +
                                  2 * record.input.branch[t].cwiseAbs().maxCoeff());
    return most;
}

/// How far the output is from that of the record's own mixer and post.
double output_residual(const ConnectionRecord& r, bool transposed) {
    double largest = 0;
    for (std::size_t t = 0; t < r.outputs.size(); ++t) {
        const auto& o = r.outputs[t];
        const double most =
            (output_of(o.mixer, transposed, o.post, r.input.states[t], r.input.branch[t]) - o.output)
                .cwiseAbs()
                .maxCoeff<Eigen::PropagateNaN>();
        if (!std::isfinite(most)) return INFINITY;
        largest = std::max(largest, most);
    }
    return largest;
}

double output_tolerance(const ConnectionRecord& r, double unit) {
    return (4 * output_unit(r.outputs) + 8 * unit) * largest_output(r);
}

/// How a record applies its mixer; nothing where its output is not that of its mixer and post.
std::optional<bool> applied_transposed(const ConnectionRecord& r, double unit, bool expected) {
    const double tolerance = output_tolerance(r, unit);
    for (const bool transposed : {expected, !expected})
        if (output_residual(r, transposed) <= tolerance) return transposed;
    return std::nullopt;
}

struct Known {
    ConnectionScheme scheme;
    const char* name = "";
};

/// What the reference does.
std::optional<Known> scheme_of(const ConnectionRecord& reference) {
    const double unit = unit_of(reference.outputs);
    const double tolerance = tolerance_of(reference.input, unit);
    const Fit fit(reference);
    for (const auto& [base, name] : reference_schemes()) {
        const auto applied = applied_transposed(reference, unit, base.applied_transposed);
        if (applied != base.applied_transposed) continue;
        const auto found = simplest(explanations(fit, base, {tolerance, tolerance, tolerance}), base,
                                    0.5 * unit / tolerance);
        if (!found) continue;
        if (changes(base, found->scheme) == 0) return Known{found->scheme, name};
        if (*name == '\0') return Known{found->scheme, ""};
    }
    return std::nullopt;
}

// --- comparing

void expect_equal(const ConnectionRecord& a, const ConnectionRecord& b, const char* what, const MatrixXd& x,
                  const MatrixXd& y) {
    if (x.rows() != y.rows() || x.cols() != y.cols())
        refuse(b.name, fmt::format("not comparable: `{}` has another shape than in {}", what, a.name));
    const double scale = std::max(x.cwiseAbs().maxCoeff(), 1e-300);
    if ((x - y).cwiseAbs().maxCoeff() > 4 * float_unit * scale)
        refuse(b.name, fmt::format("not comparable: `{}` has other values than in {}", what, a.name));
}

void expect_comparable(const ConnectionRecord& a, const ConnectionRecord& b) {
    if (a.input.states.size() != b.input.states.size() || a.input.streams() != b.input.streams() ||
        a.input.states.front().cols() != b.input.states.front().cols())
        refuse(b.name, fmt::format("not comparable: `x` has another shape than in {}", a.name));
    expect_equal(a, b, "fn", a.input.projection, b.input.projection);
    expect_equal(a, b, "base", a.input.bias, b.input.bias);
    expect_equal(a, b, "scale", a.input.scale, b.input.scale);
    for (std::size_t t = 0; t < a.input.states.size(); ++t) {
        expect_equal(a, b, "x", a.input.states[t], b.input.states[t]);
        expect_equal(a, b, "branch", a.input.branch[t], b.input.branch[t]);
    }
    const auto same = [](double x, double y) { return std::abs(x - y) <= 4 * float_unit * std::abs(x); };
    if (a.input.sweeps != b.input.sweeps || !same(a.input.epsilon, b.input.epsilon) ||
        !same(a.input.norm_epsilon, b.input.norm_epsilon))
        refuse(
            b.name,
            fmt::format("not comparable: other settings (sweeps, epsilon, norm_epsilon) than in {}", a.name));
}

double largest_difference(const ConnectionRecord& a, const ConnectionRecord& b, const Get& get) {
    double largest = 0;
    for (std::size_t t = 0; t < a.outputs.size(); ++t) {
        const double most =
            (get(a.outputs[t]) - get(b.outputs[t])).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
        if (!std::isfinite(most)) return INFINITY;
        largest = std::max(largest, most);
    }
    return largest;
}

std::vector<ResultDifference> result_differences(const ConnectionRecord& a, const ConnectionRecord& b) {
    const double unit = std::max(unit_of(a.outputs), unit_of(b.outputs));
    const double tolerance = tolerance_of(a.input, unit);
    const double output =
        std::max(output_tolerance(a, unit), output_tolerance(b, unit)) + tolerance * largest_output(a);
    return {{"pre", largest_difference(a, b, get_pre), tolerance},
            {"mixer", largest_difference(a, b, get_mixer), tolerance},
            {"post", largest_difference(a, b, get_post), tolerance},
            {"output", largest_difference(a, b, get_output), output}};
}

std::string unknown_words(const std::vector<ResultDifference>& all) {
    std::string words;
    for (const auto& d : all)
        if (!(d.largest <= d.tolerance))
            words +=
                fmt::format("{}{} differs by up to {:.3g}", words.empty() ? "" : ", ", d.name, d.largest);
    return "unknown: " + (words.empty() ? "the results differ by more than rounding" : words);
}

/// Which results are rounded to bfloat16 and are more than rounding off otherwise.
struct Coarse {
    bool pre = false, post = false, mixer = false;

    std::string words() const {
        std::string list = mixer ? "mixers" : "";
        if (pre) list += list.empty() ? "pre" : ", pre";
        if (post) list += list.empty() ? "post" : ", post";
        return list + (mixer || (pre && post) ? " are" : " is") + " in bfloat16";
    }
};

Coarse coarse_results(const ConnectionRecord& r) {
    return {all_of(r.outputs, get_pre, is_bfloat), all_of(r.outputs, get_post, is_bfloat),
            all_of(r.outputs, get_mixer, is_bfloat)};
}

/// The rounding of n sums and 2T divisions in bfloat16 does not add up: every pass corrects those before it.
constexpr double bfloat_tolerance = 8 * bfloat_unit;

void add_differences(const ConnectionScheme& reference, const ConnectionScheme& candidate,
                     Conformity& result) {
    auto words = differences(reference, candidate);
    result.findings.insert(result.findings.end(), words.begin(), words.end());
    if (words.empty() && reference.kept_transposed != candidate.kept_transposed)
        result.notes.emplace_back("the mixer is kept transposed, and applied so: its effect is the same");
}

/// What the candidate does, and which of its results are in bfloat16.
std::optional<std::pair<ConnectionScheme, Coarse>> candidate_scheme(const ConnectionRecord& candidate,
                                                                    ConnectionScheme base) {
    const double unit = unit_of(candidate.outputs), fine = tolerance_of(candidate.input, unit);
    const auto coarse = coarse_results(candidate);
    const bool any = coarse.mixer || coarse.pre || coarse.post;
    auto applied = applied_transposed(candidate, unit, base.applied_transposed);
    if (!applied && any) applied = applied_transposed(candidate, bfloat_unit, base.applied_transposed);
    if (!applied) return std::nullopt;
    base.applied_transposed = *applied;
    const Fit fit(candidate);
    if (const auto found = simplest(explanations(fit, base, {fine, fine, fine}), base, 0.5 * unit / fine))
        return std::pair(found->scheme, Coarse{});
    if (!any) return std::nullopt;
    const auto tolerance = [&](bool is_coarse) { return is_coarse ? bfloat_tolerance : fine; };
    const Tolerances wide{tolerance(coarse.pre), tolerance(coarse.post), tolerance(coarse.mixer)};
    // To bfloat16's rounding many fit: another than the reference's is taken only where that does not.
    const auto found = simplest(explanations(fit, base, wide), base, 1);
    if (!found) return std::nullopt;
    const auto& scheme = found->scheme;
    return std::pair(scheme, Coarse{coarse.pre && fit.of_pre(scheme).largest > fine,
                                    coarse.post && fit.of_post(scheme).largest > fine,
                                    coarse.mixer && fit.of_mixer(scheme).largest > fine});
}

}  // namespace

ConnectionRecord read_connection_record(const weightfile::TensorFile& file) {
    const layouts::Weights weights(file);
    ConnectionRecord record;
    record.name = file.where();
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

Conformity conform(const ConnectionRecord& reference, const ConnectionRecord& candidate) {
    expect_comparable(reference, candidate);
    Conformity result;
    result.differences = result_differences(reference, candidate);
    const bool equal = std::all_of(result.differences.begin(), result.differences.end(),
                                   [](const auto& d) { return d.largest <= d.tolerance; });
    const auto known = scheme_of(reference);
    if (!known) {
        result.conforms = equal;
        if (!equal) result.findings.push_back(unknown_words(result.differences));
        return result;
    }
    result.scheme = known->name;
    const auto found = candidate_scheme(candidate, known->scheme);
    if (found) {
        add_differences(known->scheme, found->first, result);
        if (found->second.pre || found->second.post || found->second.mixer)
            result.findings.push_back(found->second.words());
    } else {
        result.findings.push_back(unknown_words(result.differences));
    }
    result.conforms = result.findings.empty();
    return result;
}

}  // namespace spectra::validation
