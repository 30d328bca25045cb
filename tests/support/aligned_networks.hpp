#pragma once

#include "network/network.hpp"

#include <Eigen/QR>

#include <cmath>
#include <random>
#include <utility>

namespace spectra::tests {

inline Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::mt19937& random) {
    std::normal_distribution<double> normal;
    return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}

inline Eigen::MatrixXd random_orthonormal(Eigen::Index rows, Eigen::Index columns, std::mt19937& random) {
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(random_matrix(rows, columns, random));
    return qr.householderQ() * Eigen::MatrixXd::Identity(rows, columns);
}

struct AlignedCase {
    int streams = 2, width = 12, depth = 3, rank = 2;
    bool hyper_connection = true, derivative = false;
    double alignment = 0.8;  ///< cosine, roughly, between a layer's kept vectors and those of the layer before
    unsigned seed = 1;
};

/// A stack whose kept triplets are large and aligned from layer to layer.
inline Network aligned_network(const AlignedCase& wanted) {
    std::mt19937 random(wanted.seed);
    std::uniform_real_distribution<double> uniform;
    const int n = wanted.streams, rows = wanted.hyper_connection ? wanted.width : n * wanted.width;
    Network network;
    network.streams = n;
    network.width = wanted.width;
    AlignedBranch branch;
    Eigen::MatrixXd common = random_orthonormal(rows, wanted.rank, random);
    const auto near = [&] {
        const Eigen::MatrixXd mixed =
            wanted.alignment * common + (1 - wanted.alignment) * random_orthonormal(rows, wanted.rank, random);
        const Eigen::HouseholderQR<Eigen::MatrixXd> qr(mixed);
        return Eigen::MatrixXd(qr.householderQ() * Eigen::MatrixXd::Identity(rows, wanted.rank));
    };
    for (int l = 0; l < wanted.depth; ++l) {
        network.mixers.emplace_back(0.9 * Eigen::MatrixXd::Identity(n, n) + 0.2 * random_matrix(n, n, random));
        if (wanted.hyper_connection) {
            branch.pre.emplace_back(Eigen::VectorXd::NullaryExpr(n, [&] { return 0.3 + uniform(random); }));
            branch.post.emplace_back(Eigen::VectorXd::NullaryExpr(n, [&] { return 0.3 + uniform(random); }));
        }
        branch.kept.push_back({Eigen::VectorXd::NullaryExpr(wanted.rank, [&] { return 0.8 + uniform(random); }), near(),
                               near()});
        std::vector<double> rest;
        for (int k = wanted.rank; k < rows; ++k) rest.push_back(0.6 * uniform(random));
        branch.rest.push_back(std::move(rest));
        if (wanted.derivative)
            branch.derivative.push_back({Eigen::VectorXd::Constant(2, 0.4),
                                         random_orthonormal(n * wanted.width, 2, random),
                                         random_orthonormal(n * wanted.width, 2, random)});
    }
    network.branch = std::move(branch);
    return network;
}

/// A stack as training leaves it, all of it drawn from the seed: a few large singular values per branch, decaying, along
/// directions that layers share to some degree; mixers near the identity; branches of hyper-connections, with or without
/// a derivative of the mixers, or of all channels. N is at most `largest`, and at most `columns` columns are kept.
inline Network random_aligned_stack(unsigned seed, int largest, int columns) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform;
    const auto between = [&](double low, double high) { return low + (high - low) * uniform(random); };
    const auto whole = [&](double low, double high) {  // uniform in its logarithm
        return static_cast<int>(std::exp(between(std::log(low), std::log(high + 1))));
    };
    Network network;
    int n = 0, p = 0, depth = 0, rank = 0;
    do {
        n = 1 + static_cast<int>(4 * uniform(random));
        p = whole(32, 512);
        depth = whole(2, 24);
        rank = whole(1, 64);
    } while (n * p > largest || 2 * rank * depth > columns || 2 * rank > p);
    network.streams = n;
    network.width = p;
    const bool hyper = uniform(random) < 0.75, derivative = hyper && uniform(random) < 0.4;
    const int rows = hyper ? p : n * p;
    const double per_layer = 1 / std::sqrt(static_cast<double>(depth));
    const double leading = between(0.5, 2) * per_layer, bulk = between(0.2, 0.6) * per_layer;
    const double decay = between(2, 12), alignment = between(0, 0.8);
    const Eigen::MatrixXd common = random_orthonormal(rows, rank, random);
    const auto near = [&] {
        const Eigen::HouseholderQR<Eigen::MatrixXd> qr(
            alignment * common + (1 - alignment) * random_orthonormal(rows, rank, random));
        return Eigen::MatrixXd(qr.householderQ() * Eigen::MatrixXd::Identity(rows, rank));
    };
    AlignedBranch branch;
    for (int l = 0; l < depth; ++l) {
        network.mixers.emplace_back(Eigen::MatrixXd::Identity(n, n) +
                                    0.2 * per_layer * random_matrix(n, n, random));
        if (hyper) {
            branch.pre.emplace_back(Eigen::VectorXd::NullaryExpr(n, [&] { return between(0.8, 1.2) / n; }));
            branch.post.emplace_back(Eigen::VectorXd::NullaryExpr(n, [&] { return between(0.7, 1.3); }));
        }
        Eigen::VectorXd values(rows);
        for (int k = 0; k < rows; ++k)
            values(k) = leading * std::exp(-k / decay) + bulk * (1 - static_cast<double>(k) / rows);
        branch.kept.push_back({values.head(rank), near(), near()});
        branch.rest.emplace_back(values.data() + rank, values.data() + rows);
        if (derivative)
            branch.derivative.push_back({Eigen::VectorXd::Constant(2, 0.5 * per_layer),
                                         random_orthonormal(n * p, 2, random),
                                         random_orthonormal(n * p, 2, random)});
    }
    network.branch = std::move(branch);
    return network;
}

}  // namespace spectra::tests
