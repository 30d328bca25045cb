#pragma once

#include "network/network.hpp"

#include <Eigen/QR>

#include <random>

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

}  // namespace spectra::tests
