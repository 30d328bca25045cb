#include "claims/mgt.hpp"

#include "claims/sampling.hpp"
#include "linalg/eigen_instances.hpp"
#include "mixers/defects.hpp"
#include "mixers/gaussian.hpp"
#include "mixers/householder.hpp"
#include "mixers/permutation.hpp"
#include "mixers/raw.hpp"

#include <cmath>
#include <limits>

namespace spectra::claims::mgt {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int d = 8;

/// X less the mean of its rows, relative to X: 0 where all tokens agree.
double distance_from_rank_one(const MatrixXd& x) {
    const Eigen::RowVectorXd mean = x.colwise().mean();
    return (x.rowwise() - mean).norm() / x.norm();
}

/// One layer of single-head attention without a skip, an MLP or a norm: softmax(QKᵀ/√d) X W_v.
MatrixXd attention(const MatrixXd& x, random::Stream& random) {
    const auto width = static_cast<int>(x.cols());
    const auto weights = [&] {
        return MatrixXd(mixers::standard_normal(width, width, random) / std::sqrt(width));
    };
    const MatrixXd query = x * weights(), key = x * weights(), value = x * weights();
    const MatrixXd scores = query * key.transpose() / std::sqrt(width);
    MatrixXd shares(scores.rows(), scores.cols());
    for (Eigen::Index i = 0; i < scores.rows(); ++i)
        shares.row(i) = mixers::softmax(scores.row(i).transpose()).transpose();
    return shares * value;
}

/// ln of the distance from rank one after every layer.
std::vector<double> rank_decay(bool with_skip) {
    auto random = stream();
    MatrixXd x = mixers::standard_normal(32, 32, random);
    std::vector<double> out;
    for (int layer = 0; layer < 12; ++layer) {
        const MatrixXd update = attention(x, random);
        x = with_skip ? MatrixXd(x + update) : update;
        x *= std::sqrt(32.0 * 32.0) / x.norm();
        out.push_back(std::log(std::max(1e-15, distance_from_rank_one(x))));
    }
    return out;
}

}  // namespace

Outcome delta_operator_spectrum() {
    double eigenvalues = 0, determinant = 0;
    auto random = stream();
    for (const double beta : {-0.5, 0.3, 1.0, 2.0, 2.5}) {
        const MatrixXd a = mixers::draw_householder(d, beta, random);
        VectorXd expected = VectorXd::Ones(d);
        expected(0) = 1 - beta;
        std::sort(expected.begin(), expected.end());
        const VectorXd found = Eigen::SelfAdjointEigenSolver<MatrixXd>(a).eigenvalues();
        eigenvalues = std::max(eigenvalues, (found - expected).cwiseAbs().maxCoeff());
        determinant = std::max(determinant, std::abs(a.determinant() - (1 - beta)));
    }
    return {holds_if(eigenvalues < 1e-9 && determinant < 1e-9),
            {vanishing("largest error of the eigenvalues, d = 8", eigenvalues),
             vanishing("largest |det − (1 − β)|", determinant)}};
}

Outcome geometric_regimes() {
    auto random = stream();
    const VectorXd k = mixers::unit_vector(d, random);
    const MatrixXd projection = mixers::householder(k, 1), reflection = mixers::householder(k, 2);
    const double identity = mixers::identity_distance(mixers::householder(k, 0));
    const double projects =
        std::max((projection * projection - projection).cwiseAbs().maxCoeff(), (projection * k).norm());
    const double reflects = (reflection * k + k).norm();
    return {holds_if(identity < 1e-12 && projects < 1e-12 && reflects < 1e-12),
            {vanishing("|A − I| at β = 0", identity), vanishing("|A² − A| and |Ak| at β = 1", projects),
             vanishing("|Ak + k| at β = 2", reflects)}};
}

Outcome householder_properties() {
    double worst = 0;
    auto random = stream();
    for (int draw = 0; draw < 50; ++draw) {
        const MatrixXd h = mixers::draw_householder(d, 2, random);
        worst = std::max({worst, (h - h.transpose()).cwiseAbs().maxCoeff(), mixers::orthogonality_defect(h),
                          mixers::identity_distance(h * h), std::abs(h.determinant() + 1)});
    }
    return {holds_if(worst < 1e-9), {vanishing("largest error of H = Hᵀ, HᵀH = I, H² = I, det = −1", worst)}};
}

Outcome erase_and_write() {
    double worst = 0;
    auto random = stream();
    for (const double beta : {0.3, 1.0, 1.7}) {
        const VectorXd k = mixers::unit_vector(d, random);
        const MatrixXd x = mixers::standard_normal(d, 5, random);
        const Eigen::RowVectorXd v = mixers::standard_normal(1, 5, random);
        const MatrixXd first = mixers::householder(k, beta) * x + beta * k * v;
        const MatrixXd second = x + beta * k * (v - k.transpose() * x);
        worst = std::max(worst, (first - second).cwiseAbs().maxCoeff());
    }
    return {holds_if(worst < 1e-12), {vanishing("largest difference of the two forms", worst)}};
}

Outcome gate_range() {
    double least = 1e300, most = -1e300, outside = 0;
    auto random = stream();
    for (const double lambda : {0.5, 1.0, 2.0})
        for (int draw = 0; draw < 1000; ++draw) {
            const double epsilon = 0.01, beta = lambda * std::tanh(10 * random.normal()) + epsilon;
            outside = std::max({outside, beta - lambda - epsilon, -lambda + epsilon - beta});
            if (lambda == 1.0) least = std::min(least, beta);
            if (lambda == 1.0) most = std::max(most, beta);
        }
    return {holds_if(outside < 1e-12),
            {computed("least β, λ = 1, ε = 0.01", least, -0.99), computed("largest β", most, 1.01),
             vanishing("largest excess over the interval", std::max(0.0, outside))}};
}

Outcome unit_eigenvalues() {
    // X + β⊙(V − αX), V and β held: the derivative by X is diag(1 − αβ).
    constexpr double alpha = 0.5;
    auto random = stream();
    int units = 0;
    double furthest = 0;
    for (int channel = 0; channel < d; ++channel) {
        const double beta = std::tanh(random.normal()) + 0.01, eigenvalue = 1 - alpha * beta;
        units += std::abs(eigenvalue - 1) < 1e-6 ? 1 : 0;
        furthest = std::max(furthest, std::abs(eigenvalue - 1));
    }
    return {holds_if(units == d - 1),
            {counted("eigenvalues of the skip path of (7) that are 1, d = 8", units, d - 1),
             computed("largest |eigenvalue − 1|, α = ½", furthest)}};
}

Outcome soft_projection() {
    // LN without a learned gain has unit variance: gates σ(h), h ~ N(0, 1); with gain 10 they saturate.
    const auto defect = [](double gain) {
        auto random = stream();
        double sum = 0;
        constexpr int draws = 10000;
        for (int draw = 0; draw < draws; ++draw) {
            const double gate = mixers::sigmoid(gain * random.normal());
            sum += gate * (1 - gate) / draws;
        }
        return sum;
    };
    const double unit = defect(1), saturated = defect(10);
    return {unit < 0.05        ? Verdict::holds
            : saturated < 0.05 ? Verdict::holds_in_part
                               : Verdict::refuted,
            {computed("mean |g² − g| of the gates, unit gain (0 for a projection, 1/4 at most)", unit),
             computed("the same at gain 10", saturated)}};
}

Outcome parameter_overhead() {
    constexpr double width = 512, layers = 24, vocabulary = 50257;
    const double added = 4 * layers * width * width, blocks = 12 * layers * width * width,
                 embedding = vocabulary * width;
    const double share = 100 * added / blocks, with_embedding = 100 * added / (blocks + embedding);
    const bool overhead = std::abs(with_embedding - 25) < 1,
               size = std::abs((blocks + embedding) / 50e6 - 1) < 0.1;
    return {overhead && size ? Verdict::holds
            : overhead       ? Verdict::holds_in_part
                             : Verdict::refuted,
            {counted("parameters added, 2Ld² + 2Ld²", added), computed("in % of the blocks", share, 25),
             computed("in % of blocks and 50,257 embeddings", with_embedding, 25),
             counted("parameters of blocks and embeddings", blocks + embedding, 50e6)}};
}

Outcome attention_loses_rank() {
    const auto alone = rank_decay(false), skip = rank_decay(true);
    // Doubly exponential: ln of the distance itself grows geometrically, until rounding hides it.
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t l = 1; l < alone.size() && alone[l] > -30; ++l)
        if (alone[l - 1] < -1) least = std::min(least, alone[l] / alone[l - 1]);
    return {holds_if(least > 1.5 && std::isfinite(least)),
            {{"ln of the distance from rank one after layer 1", alone[0], 1e-3, {}, {}},
             {"after layer 2", alone[1], 1e-2, {}, {}},
             {"after layer 3", alone[2], 1e-2, {}, {}},
             {"after layer 4", alone[3], 0.1, {}, {}},
             {"least factor of that logarithm from one layer to the next, below 1/e", least, 0.05, {}, {}},
             {"ln of the distance after 12 layers with a skip", skip.back(), 1e-3, {}, {}}}};
}

}  // namespace spectra::claims::mgt
