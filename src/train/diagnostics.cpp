#include "train/diagnostics.hpp"

#include <algorithm>

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
    const auto p = s / s.sum();
    const auto entropy = -(p * p.clamp_min(1e-300).log()).sum().item<double>();
    return std::exp(entropy) / static_cast<double>(s.numel());
}

std::vector<Diagnostic> diagnose(Transformer& model, const Tensor& x, const Tick& tick) {
    const torch::NoGradGuard no_grad;
    Table table;
    const auto sublayers = 2 * model.config().layers * model.config().cycles;
    int64_t done = 0;
    model.walk(model.embed(x), [&](Connection& connection, const Tensor& before, const Tensor& after) {
        if (tick) tick(done++, sublayers);
        if (connection.mixer() != nullptr)
            if (const auto m = connection.mixing(before); m.matrix.defined()) add_mixer(table, m.matrix);
        for (const auto& [name, values] : connection.statistics(before))
            table.add(name, values.to(torch::kDouble).mean().item<double>());
        if (connection.mixer() != nullptr && connection.streams() > 1)
            table.add("stream_cosine", stream_cosine(after, connection.streams()));
        table.add("effective_rank", effective_rank(after.flatten(0, 1)));
    });
    return table.take();
}

}  // namespace spectra::train
