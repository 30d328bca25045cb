#pragma once

#include "layouts/measurement.hpp"
#include "linalg/singular_values.hpp"
#include "mixers/mixer.hpp"

#include <Eigen/Dense>

#include <random>

namespace spectra::testing {

/// A stack of drawn connections with Gaussian branches F_l of the given size, measured without a model: what
/// the prediction must agree with. `sets`: how many sets of weights take turns; 0: one a connection. `aligned`: how much of
/// every branch is one and the same symmetric matrix of rank two, so that each reads what the others write.
inline layouts::Measurement measured_stack(const std::vector<Mixer>& mixers, int width, double sigma,
                                           bool mix, unsigned seed, int sets = 0, double aligned = 0) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    const auto draw = [&](Eigen::Index rows, Eigen::Index columns) {
        return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(engine); }).eval();
    };
    const auto n = static_cast<Eigen::Index>(mixers.front().rows());
    const Eigen::Index p = width, size = n * p;
    layouts::Measurement m;
    m.stack.layout = "drawn";
    m.stack.input = "every input";
    m.stack.streams = static_cast<int>(n);
    m.stack.width = width;
    Eigen::MatrixXd product = Eigen::MatrixXd::Identity(size, size);
    std::vector<Eigen::MatrixXd> weights;
    Eigen::MatrixXd common;
    const auto values_of = [](const Eigen::MatrixXd& x) {
        const Eigen::VectorXd v = linalg::singular_value_decomposition(x).values;
        return std::vector<double>(v.begin(), v.end());
    };
    for (std::size_t l = 0; l < mixers.size(); ++l) {
        layouts::Connection c;
        c.name = "connection " + std::to_string(l);
        c.mixer = mixers[l];
        const Eigen::Index inner = mix ? p : size;
        const std::size_t set = sets > 0 ? l % static_cast<std::size_t>(sets) : l;
        if (set >= weights.size())
            weights.push_back(sigma * draw(inner, inner) / std::sqrt(static_cast<double>(inner)));
        if (common.size() == 0 && aligned > 0) {
            const Eigen::MatrixXd directions = draw(inner, 2);
            common = aligned * directions * directions.transpose() / static_cast<double>(inner);
        }
        const Eigen::MatrixXd f = aligned > 0 ? Eigen::MatrixXd(weights[set] + common) : weights[set];
        Eigen::MatrixXd x = f;
        if (mix) {
            c.pre = draw(n, 1).cwiseAbs() / static_cast<double>(n);
            c.post = draw(n, 1).cwiseAbs();
            x.resize(size, size);
            for (Eigen::Index i = 0; i < n; ++i)
                for (Eigen::Index j = 0; j < n; ++j) x.block(i * p, j * p, p, p) = c.post(i) * c.pre(j) * f;
        }
        Eigen::MatrixXd y = x;
        for (Eigen::Index i = 0; i < n; ++i)
            for (Eigen::Index j = 0; j < n; ++j)
                y.block(i * p, j * p, p, p).diagonal().array() += mixers[l](i, j);
        layouts::MeasuredBranch b;
        b.variance = x.squaredNorm() / static_cast<double>(size);
        b.by_stream.resize(n, n);
        for (Eigen::Index i = 0; i < n; ++i)
            for (Eigen::Index j = 0; j < n; ++j)
                b.by_stream(i, j) = x.block(i * p, j * p, p, p).squaredNorm() / static_cast<double>(p);
        b.core_variance = f.squaredNorm() / static_cast<double>(inner);
        b.core_values = values_of(f);
        const auto svd = linalg::singular_value_decomposition(f);
        b.core = {svd.values, svd.left, svd.right};
        b.values = values_of(y);
        b.weights = static_cast<int>(set);
        m.stack.connections.push_back(c);
        m.branches.push_back(b);
        product = (y * product).eval();
    }
    m.singular_values = values_of(product);
    return m;
}

}  // namespace spectra::testing
