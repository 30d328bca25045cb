#include "validation/common_part.hpp"

#include "linalg/singular_values.hpp"

namespace spectra::validation {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

Triplets triplets_of(MatrixXd matrix) {
    auto [left, values, right] = linalg::singular_value_decomposition(std::move(matrix));
    return {std::move(values), std::move(left), std::move(right)};
}

/// Traces of the n×n blocks, over what a unit matrix would have there.
MatrixXd means(const MatrixXd& matrix, Index streams, double unit) {
    const Index width = matrix.rows() / streams;
    MatrixXd out(streams, streams);
    for (Index i = 0; i < streams; ++i)
        for (Index j = 0; j < streams; ++j)
            out(i, j) = matrix.block(i * width, j * width, width, width).trace() / unit;
    return out;
}

/// The same of what is left without the largest eighth of the triplets: of the identity, Π_uΠ_v is.
MatrixXd means_of_rest(const Triplets& all, Index streams) {
    const Index set_aside = all.count() / 8, count = all.count() - set_aside;
    const MatrixXd rest = all.left.rightCols(count) * all.values.tail(count).asDiagonal() *
                          all.right.rightCols(count).transpose();
    const double overlap =
        (all.left.leftCols(set_aside).transpose() * all.right.leftCols(set_aside)).squaredNorm();
    return means(rest, streams,
                 (static_cast<double>(count - set_aside) + overlap) / static_cast<double>(streams));
}

/// F − T ⊗ I.
MatrixXd without(MatrixXd matrix, const MatrixXd& mean) {
    const Index width = matrix.rows() / mean.rows();
    for (Index i = 0; i < mean.rows(); ++i)
        for (Index j = 0; j < mean.cols(); ++j)
            matrix.block(i * width, j * width, width, width).diagonal().array() -= mean(i, j);
    return matrix;
}

}  // namespace

WithoutCommonPart without_common_part(const layouts::Measurement& measurement) {
    WithoutCommonPart out{measurement, {}};
    for (std::size_t l = 0; l < measurement.branches.size(); ++l) {
        auto& connection = out.measurement.stack.connections[l];
        auto& branch = out.measurement.branches[l];
        const bool one_mix = connection.pre.size() > 0;
        const Index streams = one_mix ? 1 : measurement.stack.streams;
        const MatrixXd matrix = branch.core.matrix();
        MatrixXd mean =
            means(matrix, streams, static_cast<double>(matrix.rows()) / static_cast<double>(streams));
        mean += means_of_rest(triplets_of(without(matrix, mean)), streams);
        branch.core = triplets_of(without(matrix, mean));
        if (one_mix)
            connection.mixer += mean(0, 0) * connection.post * connection.pre.transpose();
        else
            connection.mixer += mean;
        out.common.push_back(mean.trace() / static_cast<double>(mean.rows()));
    }
    return out;
}

}  // namespace spectra::validation
