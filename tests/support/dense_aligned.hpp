#pragma once

#include "dyson/exact/aligned_moments.hpp"
#include "network/network.hpp"

#include <Eigen/LU>

#include <complex>
#include <vector>

namespace spectra::tests {

/// The slow reference for aligned branches: all 2L blocks of N×N inverted, traces from their definition.
struct DenseAligned {
    using Complex = std::complex<double>;
    using Matrix = Eigen::MatrixXcd;

    explicit DenseAligned(const Network& of) : network(of), depth(of.depth()), size(of.size()) {
        const auto& branch = std::get<AlignedBranch>(network.branch);
        for (int l = 0; l < depth; ++l) {
            const auto k = static_cast<std::size_t>(l);
            layers.push_back(dyson::kept_layer(network, k));
            patterns.push_back(pattern(branch.kept[k].right, branch.hyper_connection() ? &branch.pre[k] : nullptr));
            patterns.push_back(pattern(branch.kept[k].left, branch.hyper_connection() ? &branch.post[k] : nullptr));
            free.push_back(static_cast<double>(branch.rest[k].size()));
        }
    }

    /// (x xᵀ ⊗ Π), or Π.
    Eigen::MatrixXd pattern(const Eigen::MatrixXd& vectors, const Eigen::VectorXd* x) const {
        const Eigen::MatrixXd projection =
            Eigen::MatrixXd::Identity(vectors.rows(), vectors.rows()) - vectors * vectors.transpose();
        if (x == nullptr) return projection;
        Eigen::MatrixXd out(size, size);
        for (int i = 0; i < network.streams; ++i)
            for (int j = 0; j < network.streams; ++j)
                out.block(i * network.width, j * network.width, network.width, network.width) =
                    (*x)(i) * (*x)(j)*projection;
        return out;
    }

    /// P − Σ, sides in the order w_0, v_0, w_1, …; c likewise.
    Matrix pencil(Complex omega, const std::vector<Complex>& c) const {
        Matrix h = Matrix::Zero(2 * depth * size, 2 * depth * size);
        const auto block = [&](int i, int j) { return h.block(i * size, j * size, size, size); };
        for (int l = 0; l < depth; ++l) {
            const auto k = static_cast<std::size_t>(l);
            block(2 * l + 1, 2 * l) -= layers[k];
            block(2 * l, 2 * l + 1) -= layers[k].transpose();
            if (l + 1 == depth) break;
            block(2 * l + 1, 2 * l + 2).diagonal().array() += 1.0;
            block(2 * l + 2, 2 * l + 1).diagonal().array() += 1.0;
        }
        for (std::size_t a = 0; a < c.size(); ++a)
            block(static_cast<int>(a), static_cast<int>(a)) -= c[a] * patterns[a];
        block(0, 0).diagonal().array() += omega;
        block(2 * depth - 1, 2 * depth - 1).diagonal().array() += omega;
        return h;
    }

    const Network& network;
    int depth, size;
    std::vector<Eigen::MatrixXd> layers, patterns;
    std::vector<double> free;
};

}  // namespace spectra::tests
