#include "validation/connection_scheme.hpp"

#include "layouts/input_point.hpp"
#include "mixers/permutation.hpp"
#include "mixers/raw.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spectra::validation {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Slice = ConnectionScheme::Slice;
using Start = ConnectionScheme::Start;

Index size_of(Slice slice, Index n) {
    return slice == Slice::mixer ? n * n : n;
}

void normalise(MatrixXd& m, bool rows, double epsilon) {
    if (rows) {
        const VectorXd sums = m.rowwise().sum().array() + epsilon;
        m.array().colwise() /= sums.array();
    } else {
        const Eigen::RowVectorXd sums = m.colwise().sum().array() + epsilon;
        m.array().rowwise() /= sums.array();
    }
}

std::string name(Slice slice) {
    return slice == Slice::pre ? "pre" : slice == Slice::post ? "post" : "mixer";
}

std::string order_words(const ConnectionScheme& scheme) {
    return fmt::format("{}, {}, {}", name(scheme.order[0]), name(scheme.order[1]), name(scheme.order[2]));
}

const char* word(Start start) {
    return start == Start::softmax ? "softmax" : "exp";
}

}  // namespace

ConnectionScheme deepseek_scheme() {
    return {};
}

ConnectionScheme mhc_scheme() {
    ConnectionScheme scheme;
    scheme.start = Start::exponential;
    scheme.last_pass = true;
    scheme.pre_epsilon = scheme.mixer_epsilon = false;
    scheme.applied_transposed = false;
    return scheme;
}

MatrixXd projected_states(const ConnectionInput& input) {
    MatrixXd seen(input.projection.cols(), static_cast<Index>(input.states.size()));
    for (std::size_t t = 0; t < input.states.size(); ++t)
        seen.col(static_cast<Index>(t)) =
            layouts::rms_normed(input.states[t].reshaped<Eigen::RowMajor>(), input.norm_epsilon);
    return input.projection * seen;
}

VectorXd raw_numbers(const ConnectionInput& input, const ConnectionScheme& scheme, const VectorXd& projected,
                     Slice slice) {
    const Index n = input.streams();
    Index begin = 0;
    std::size_t place = 0;
    while (scheme.order[place] != slice) begin += size_of(scheme.order[place++], n);
    const auto scale = static_cast<Index>(scheme.scales_by_place ? place : static_cast<std::size_t>(slice));
    return input.scale(scale) * projected.segment(begin, size_of(slice, n)) +
           input.bias.segment(begin, size_of(slice, n));
}

VectorXd pre_of(const ConnectionInput& input, const ConnectionScheme& scheme, const VectorXd& raw) {
    return mixers::sigmoid(raw).array() + (scheme.pre_epsilon ? input.epsilon : 0);
}

VectorXd post_of(const ConnectionScheme& scheme, const VectorXd& raw) {
    return (scheme.doubled_post ? 2.0 : 1.0) * mixers::sigmoid(raw);
}

Mixer mixer_of(const ConnectionInput& input, const ConnectionScheme& scheme, const VectorXd& raw) {
    const int n = input.streams();
    const double epsilon = scheme.mixer_epsilon ? input.epsilon : 0;
    MatrixXd m = mixers::by_rows(raw, n, n);
    if (scheme.transposed_raw) m.transposeInPlace();
    if (scheme.start == Start::softmax) {
        for (Index i = 0; i < n; ++i) m.row(i) = mixers::softmax(m.row(i)).transpose();
        m.array() += epsilon;
    } else {
        m = m.array().exp();
    }
    const int passes = 2 * input.sweeps - (scheme.last_pass ? 0 : 1);
    for (int k = 0; k < passes; ++k) normalise(m, scheme.rows_first == (k % 2 == 0), epsilon);
    if (scheme.kept_transposed) m.transposeInPlace();
    return m;
}

MatrixXd output_of(const Mixer& mixer, bool applied_transposed, const VectorXd& post, const MatrixXd& state,
                   const VectorXd& branch) {
    const MatrixXd mixed = applied_transposed ? MatrixXd(mixer.transpose() * state) : MatrixXd(mixer * state);
    return mixed + post * branch.transpose();
}

std::vector<ConnectionOutput> compute_connection(const ConnectionInput& input,
                                                 const ConnectionScheme& scheme) {
    const MatrixXd projected = projected_states(input);
    std::vector<ConnectionOutput> all;
    for (std::size_t t = 0; t < input.states.size(); ++t) {
        const VectorXd each = projected.col(static_cast<Index>(t));
        const auto raw = [&](Slice slice) { return raw_numbers(input, scheme, each, slice); };
        ConnectionOutput out;
        out.pre = pre_of(input, scheme, raw(Slice::pre));
        out.post = post_of(scheme, raw(Slice::post));
        out.mixer = mixer_of(input, scheme, raw(Slice::mixer));
        out.output =
            output_of(out.mixer, scheme.applied_transposed, out.post, input.states[t], input.branch[t]);
        all.push_back(std::move(out));
    }
    return all;
}

std::vector<std::string> differences(const ConnectionScheme& reference, const ConnectionScheme& candidate) {
    std::vector<std::string> words;
    const auto missing = [](bool before, const char* what) {
        return fmt::format("{} {}", what, before ? "is missing" : "is added, which the reference does not");
    };
    if (reference.acts_transposed() != candidate.acts_transposed())
        words.emplace_back("the mixer is transposed");
    if (reference.transposed_raw != candidate.transposed_raw)
        words.emplace_back("the mixer is transposed: its raw numbers are read column by column");
    if (reference.order != candidate.order)
        words.push_back(fmt::format("the slices are in the wrong order: {}, not {}", order_words(candidate),
                                    order_words(reference)));
    if (reference.rows_first != candidate.rows_first)
        words.emplace_back(candidate.rows_first ? "rows are normalised before columns"
                                                : "columns are normalised before rows");
    if (reference.start != candidate.start)
        words.push_back(fmt::format("{} in place of {}", word(candidate.start), word(reference.start)));
    if (reference.pre_epsilon != candidate.pre_epsilon)
        words.push_back(missing(reference.pre_epsilon, "epsilon of pre"));
    if (reference.mixer_epsilon != candidate.mixer_epsilon)
        words.push_back(missing(reference.mixer_epsilon, "epsilon of the mixer"));
    if (reference.doubled_post != candidate.doubled_post)
        words.push_back(missing(reference.doubled_post, "factor 2 of post"));
    return words;
}

}  // namespace spectra::validation
