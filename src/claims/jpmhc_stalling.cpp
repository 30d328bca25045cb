#include "claims/jpmhc_stalling.hpp"

#include "claims/sampling.hpp"
#include "linalg/eigen_instances.hpp"

#include <cmath>

namespace spectra::claims::jpmhc {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

constexpr int streams = 4, width = 8, depth = 10, draws = 3;
constexpr double noise = 0.05, learning_rate = 0.05 / depth, collapsed = 0.1;

/// A ⊗ 1.
MatrixXd widened(const Mixer& mixer) {
    MatrixXd out = MatrixXd::Zero(streams * width, streams * width);
    for (Index i = 0; i < streams; ++i)
        for (Index j = 0; j < streams; ++j)
            out.block(i * width, j * width, width, width).diagonal().setConstant(mixer(i, j));
    return out;
}

/// As the program draws a network: Gaussian branches of total variance `noise`.
LinearStack draw_stack(mixers::Family family, std::uint32_t draw) {
    mixers::Recipe recipe;
    recipe.family = family;
    auto random = stream(0, draw);
    LinearStack out;
    for (const auto& mixer : draw_mixers(recipe, streams, depth, draw)) {
        out.skips.push_back(widened(mixer));
        out.branches.push_back(std::sqrt(noise / depth / (streams * width)) *
                               mixers::standard_normal(streams * width, streams * width, random));
    }
    return out;
}

/// An orthogonal map: it needs every direction as much as any other.
MatrixXd draw_target(std::uint32_t draw) {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::orthogonal;
    return draw_mixers(recipe, streams * width, 1, draw + draws).front();
}

/// A stack that learns, and what it has learned along the singular directions of its start, largest value first.
class Learner {
public:
    Learner(mixers::Family family, std::uint32_t draw)
        : stack_(draw_stack(family, draw)), target_(draw_target(draw)) {
        const MatrixXd start = stack_.jacobian();
        const Eigen::JacobiSVD<MatrixXd> svd(start, Eigen::ComputeFullV);
        directions_ = svd.matrixV();
        open_ = (svd.singularValues().array() >= collapsed).count();
        before_ = now_ = start - target_;
    }

    void step() {
        stack_.descend(target_, learning_rate);
        now_ = stack_.jacobian() - target_;
    }
    double in_all() const { return learned(before_, now_, directions_, 0, directions_.cols()); }
    double in_open() const { return learned(before_, now_, directions_, 0, open_); }
    double in_collapsed() const { return learned(before_, now_, directions_, open_, directions_.cols()); }
    double open_share() const { return static_cast<double>(open_) / static_cast<double>(directions_.cols()); }

private:
    LinearStack stack_;
    MatrixXd target_, directions_, before_, now_;
    Index open_ = 0;
};

}  // namespace

MatrixXd LinearStack::jacobian() const {
    MatrixXd out = skips.front() + branches.front();
    for (std::size_t l = 1; l < skips.size(); ++l) out = (skips[l] + branches[l]) * out;
    return out;
}

void LinearStack::descend(const MatrixXd& target, double rate) {
    const auto size = target.rows();
    std::vector<MatrixXd> below{MatrixXd::Identity(size, size)};
    for (std::size_t l = 0; l < skips.size(); ++l) below.push_back((skips[l] + branches[l]) * below[l]);
    // P_lᵀ (J − target), from the last layer down.
    MatrixXd back = below.back() - target;
    for (std::size_t l = skips.size(); l-- > 0;) {
        const MatrixXd next = (skips[l] + branches[l]).transpose() * back;
        branches[l] -= rate * back * below[l].transpose();
        back = next;
    }
}

double learned(const MatrixXd& before, const MatrixXd& now, const MatrixXd& directions, Index first,
               Index last) {
    const auto some = directions.middleCols(first, last - first);
    return 1 - (now * some).squaredNorm() / (before * some).squaredNorm();
}

Outcome spectral_stalling() {
    double open_share = 0, steps_taken = 0, soon_open = 0, soon_collapsed = 0, late_collapsed = 0, late = 0;
    for (std::uint32_t draw = 0; draw < draws; ++draw) {
        Learner orthogonal(mixers::Family::orthogonal, draw),
            bistochastic(mixers::Family::bistochastic, draw);
        int steps = 0;
        for (; orthogonal.in_all() < 0.9 && steps < 1000; ++steps) orthogonal.step();
        for (int k = 0; k < steps; ++k) bistochastic.step();
        soon_open += bistochastic.in_open() / draws;
        soon_collapsed += bistochastic.in_collapsed() / draws;
        for (int k = 0; k < 9 * steps; ++k) bistochastic.step();
        late_collapsed += bistochastic.in_collapsed() / draws;
        late += bistochastic.in_all() / draws;
        open_share += bistochastic.open_share() / draws;
        steps_taken += static_cast<double>(steps) / draws;
    }
    const bool stalled = soon_collapsed <= 0.1 && late_collapsed <= 0.1 && std::abs(late - open_share) <= 0.1;
    return {
        stalled                          ? Verdict::holds
        : soon_collapsed < soon_open / 2 ? Verdict::holds_in_part
                                         : Verdict::refuted,
        {computed("share of directions that start below 0.1, bistochastic mixers", 1 - open_share),
         computed("steps until orthogonal mixers have removed 0.9 of the error", steps_taken),
         computed("share removed by then along directions below 0.1, bistochastic mixers", soon_collapsed),
         computed("along the others", soon_open),
         computed("along directions below 0.1 after ten times as many steps", late_collapsed),
         computed("along all then", late)}};
}

}  // namespace spectra::claims::jpmhc
