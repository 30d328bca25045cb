#include "train/diagnostics.hpp"

#include <algorithm>
#include <cmath>

#include "train/modules/streams.hpp"

namespace spectra::train {

using torch::Tensor;

namespace {

class Table {
public:
    void add(const std::string& name, double value) {
        const auto found =
            std::find_if(rows_.begin(), rows_.end(), [&](const auto& r) { return r.name == name; });
        if (found == rows_.end())
            rows_.push_back({name, {value}});
        else
            found->values.push_back(value);
    }
    std::vector<Diagnostic> take() { return std::move(rows_); }

private:
    std::vector<Diagnostic> rows_;
};

void add_mixer(Table& table, const Tensor& matrix) {
    const auto a = matrix.to(torch::kDouble).flatten(0, -3);
    const auto n = a.size(-1);
    const auto identity = torch::eye(n, a.options());
    const auto largest = [](const Tensor& t) { return t.abs().max().item<double>(); };
    table.add("row_sum_defect", largest(a.sum(-1) - 1));
    table.add("column_sum_defect", largest(a.sum(-2) - 1));
    table.add("orthogonality_defect", largest(torch::matmul(a.transpose(-1, -2), a) - identity));
    // Decompositions of small matrices are faster on the host.
    table.add("spectral_norm", torch::linalg_svdvals(a.cpu()).max().item<double>());
    table.add("identity_distance",
              ((a - identity).norm(2, {-2, -1}) / std::sqrt(static_cast<double>(n))).mean().item<double>());
    const auto [maxima, places] = a.max(-1);
    const auto quantiles = torch::quantile(maxima.flatten(), torch::tensor({0.1, 0.5, 0.9}, a.options()));
    table.add("row_maximum_10", quantiles[0].item<double>());
    table.add("row_maximum_median", quantiles[1].item<double>());
    table.add("row_maximum_90", quantiles[2].item<double>());
    const auto diagonal = places.eq(torch::arange(n, places.options())).all(-1);
    const auto share = [](const Tensor& which) { return which.to(torch::kDouble).mean().item<double>(); };
    table.add("diagonal_share", share(diagonal));
    table.add("negative_share", share(a.lt(-0.01)));
    table.add("fractional_share", share(torch::minimum(a.abs(), (a - 1).abs()).gt(0.05)));
}

/// The product of the mixers so far, token by token.
class Composite {
public:
    void add(Table& table, const Tensor& matrix, const Tensor& state) {
        const auto n = matrix.size(-1);
        const auto a = matrix.to(torch::kDouble).expand({state.size(0), state.size(1), n, n});
        product_ = product_.defined() ? torch::matmul(a, product_) : a;
        table.add("composite_row_sum", product_.sum(-1).abs().max().item<double>());
        table.add("composite_column_sum", product_.sum(-2).abs().max().item<double>());
    }

private:
    Tensor product_;
};

/// E, and of β also the variance and P(β < 0).
void add_statistic(Table& table, const std::string& name, const Tensor& values) {
    const auto v = values.to(torch::kDouble);
    table.add(name, v.mean().item<double>());
    if (name != "beta") return;
    table.add("beta_variance", v.var(false).item<double>());
    table.add("beta_negative", v.lt(0).to(torch::kDouble).mean().item<double>());
}

/// Slope of y over 0, 1, 2, … by least squares.
double slope(const std::vector<double>& y) {
    const auto count = static_cast<double>(y.size());
    const double middle = (count - 1) / 2, spread = count * (count * count - 1) / 12;
    double sum = 0;
    for (std::size_t k = 0; k < y.size(); ++k) sum += (static_cast<double>(k) - middle) * y[k];
    return sum / spread;
}

/// The ranks of MGT's experiment 1, and norms by position.
void add_network(std::vector<Diagnostic>& all, const std::vector<double>& ranks, const Tensor& prediction) {
    std::vector<double> logs;
    for (const double rank : ranks) logs.push_back(std::log(rank));
    all.push_back({"sequence_rank", ranks});
    all.push_back({"rank_preservation", {ranks.back() / ranks.front()}});
    all.push_back({"rank_decay", {slope(logs)}});
    if (!prediction.defined()) return;
    const auto norms = prediction.to(torch::kDouble).norm(2, -1).mean(0).cpu().contiguous();
    all.push_back({"position_norm", {norms.data_ptr<double>(), norms.data_ptr<double>() + norms.numel()}});
}

double stream_cosine(const Tensor& state, int64_t n) {
    const auto x = state.to(torch::kDouble).view({state.size(0), state.size(1), n, state.size(2) / n});
    const auto unit = x / x.norm(2, -1, true).clamp_min(1e-300);
    const auto cosines = torch::matmul(unit, unit.transpose(-1, -2)).mean(torch::IntArrayRef{0, 1});
    const auto pairs = static_cast<double>(n * (n - 1));
    return (cosines.sum().item<double>() - cosines.trace().item<double>()) / pairs;
}

}  // namespace

double effective_rank(const Tensor& matrix) {
    const auto s = torch::linalg_svdvals(matrix.to(torch::kDouble).cpu());
    const auto p = s / s.sum(-1, true);
    const auto entropy = -(p * p.clamp_min(1e-300).log()).sum(-1);
    return entropy.exp().mean().item<double>() / static_cast<double>(s.size(-1));
}

std::vector<Diagnostic> diagnose(Transformer& model, const Tensor& x, const Tick& tick) {
    const torch::NoGradGuard no_grad;
    Table table;
    const auto sublayers = 2 * model.config().layers * model.config().cycles;
    int64_t done = 0;
    Composite composite;
    const auto start = model.start(x);
    auto last = start.state;
    std::vector<double> ranks{effective_rank(last)};
    model.walk(start, [&](Connection& connection, const Tensor& before, const Tensor& after) {
        if (tick) tick(done, sublayers);
        const bool in_streams = connection.mixer() != nullptr && connection.streams() > 1;
        if (connection.mixer() != nullptr)
            if (const auto m = connection.mixing(before); m.matrix.defined()) {
                add_mixer(table, m.matrix);
                composite.add(table, m.matrix, before);
                if (in_streams)
                    table.add("stream_cosine_mixed",
                              stream_cosine(apply_mixer(m.matrix, before), connection.streams()));
            }
        for (const auto& [name, values] : connection.statistics(before)) add_statistic(table, name, values);
        if (in_streams) table.add("stream_cosine", stream_cosine(after, connection.streams()));
        table.add("effective_rank", effective_rank(after.flatten(0, 1)));
        if (++done % 2 == 0) ranks.push_back(effective_rank(after));
        last = after;
    });
    auto all = table.take();
    add_network(all, ranks, model.config().tokens ? Tensor{} : model.read_out(last));
    return all;
}

}  // namespace spectra::train
