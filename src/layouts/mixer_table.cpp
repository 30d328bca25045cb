#include "layouts/mixer_table.hpp"

#include "mixers/defects.hpp"

#include <cassert>
#include <cmath>

namespace spectra::layouts {

namespace {

using Eigen::Index;

double larger(double a, double b) {
    return std::isnan(a) || a >= b ? a : b;
}

double smaller(double a, double b) {
    return std::isnan(a) || a <= b ? a : b;
}

double diagonal_share(const Mixer& a) {
    Index rows = 0;
    for (Index i = 0; i < a.rows(); ++i) rows += a(i, i) >= a.row(i).maxCoeff() ? 1 : 0;
    return static_cast<double>(rows) / static_cast<double>(a.rows());
}

MixerRow row_of(const Mixer& a) {
    MixerRow row;
    row.row_sums = a.rowwise().sum();
    row.column_sums = a.colwise().sum().transpose();
    row.spectral_norm = mixers::spectral_norm(a);
    row.orthogonality_defect = mixers::orthogonality_defect(a);
    row.identity_distance = mixers::identity_distance(a);
    row.diagonal_dominant_share = diagonal_share(a);
    row.smallest_entry = mixers::smallest_entry(a);
    return row;
}

CompositeRow composite_of(const Mixer& product) {
    const Eigen::RowVectorXd sums = product.colwise().sum();
    CompositeRow row;
    row.column_sum_min = sums.minCoeff<Eigen::PropagateNaN>();
    row.column_sum_max = sums.maxCoeff<Eigen::PropagateNaN>();
    row.spectral_norm = mixers::spectral_norm(product);
    row.forward_gain = product.cwiseAbs().rowwise().sum().maxCoeff<Eigen::PropagateNaN>();
    return row;
}

/// The products from the last mixer back to each.
void add_backward_gains(const std::vector<Mixer>& mixers, std::vector<CompositeRow>& rows) {
    Mixer product = Mixer::Identity(mixers.front().rows(), mixers.front().cols());
    for (std::size_t l = mixers.size(); l-- > 0;) {
        product = product * mixers[l];
        rows[l].backward_gain = product.cwiseAbs().colwise().sum().maxCoeff<Eigen::PropagateNaN>();
    }
}

}  // namespace

MixerTable tabulate(const std::vector<Mixer>& mixers) {
    assert(!mixers.empty());
    MixerTable table;
    table.smallest_entry = INFINITY;
    Mixer product = Mixer::Identity(mixers.front().rows(), mixers.front().cols());
    for (const auto& a : mixers) {
        const auto& row = table.layers.emplace_back(row_of(a));
        table.row_sum_defect = larger(table.row_sum_defect, mixers::row_sum_defect(a));
        table.column_sum_defect = larger(table.column_sum_defect, mixers::column_sum_defect(a));
        table.orthogonality_defect = larger(table.orthogonality_defect, row.orthogonality_defect);
        table.spectral_norm_max = larger(table.spectral_norm_max, row.spectral_norm);
        table.identity_distance = larger(table.identity_distance, row.identity_distance);
        table.diagonal_dominant_share += row.diagonal_dominant_share / static_cast<double>(mixers.size());
        table.smallest_entry = smaller(table.smallest_entry, row.smallest_entry);
        product = a * product;
        table.composites.push_back(composite_of(product));
    }
    add_backward_gains(mixers, table.composites);
    for (const auto& row : table.composites) {
        table.forward_gain = larger(table.forward_gain, row.forward_gain);
        table.backward_gain = larger(table.backward_gain, row.backward_gain);
    }
    return table;
}

MixerTable tabulate(const Stack& stack) {
    auto table = tabulate(stack.mixers());
    for (std::size_t l = 0; l < table.layers.size(); ++l) table.layers[l].name = stack.connections[l].name;
    return table;
}

std::vector<Mixer> composites(const Stack& stack) {
    std::vector<Mixer> products;
    for (const auto& connection : stack.connections)
        products.push_back(products.empty() ? connection.mixer : Mixer(connection.mixer * products.back()));
    return products;
}

}  // namespace spectra::layouts
