#include "dyson/solve/newton.hpp"

#include "dyson/equations/chain.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/solve/tracker.hpp"
#include "mixers/mixer.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace spectra::dyson {
namespace {

/// The same equation, solved by Newton's steps alone.
class WithoutChords final : public Equation {
public:
    explicit WithoutChords(std::unique_ptr<Equation> equation) : equation_(std::move(equation)) {}

    std::unique_ptr<Equation> clone() const override {
        return std::make_unique<WithoutChords>(equation_->clone());
    }
    Eigen::Index size() const override { return equation_->size(); }
    Unknowns far(const Frequency& omega) const override { return equation_->far(omega); }
    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        return equation_->newton_step(omega, m, delta);
    }
    Unknowns moved(const Unknowns& m, const Unknowns& delta, double fraction) const override {
        return equation_->moved(m, delta, fraction);
    }
    bool admissible(const Frequency& omega, const Unknowns& m, double slack) const override {
        return equation_->admissible(omega, m, slack);
    }
    bool stable_in_gap(const Frequency& omega, const Unknowns& m) override {
        return equation_->stable_in_gap(omega, m);
    }
    Complex scaled_green(const Frequency& omega, const Unknowns& m) const override {
        return equation_->scaled_green(omega, m);
    }
    double passes() const override { return equation_->passes(); }

private:
    std::unique_ptr<Equation> equation_;
};

TEST(Newton, ChordsLeadWhereNewtonsStepsLead) {
    // Dense, direct, and with large blocks.
    for (const auto& [streams, depth] : {std::pair{4, 8}, {4, 20}, {12, 8}}) {
        const Network network = tests::draw_network(mixers::Family::bistochastic, streams, depth, 1, 0.05);
        Tracker tracker(make_chain(network), support_bounds(network).log_upper, {-4.0});
        const auto chords = make_chain(network);
        WithoutChords newton_alone(make_chain(network));
        int compared = 0;
        for (double log_s = 0.1; log_s > -6; log_s -= 0.2) {
            const Solution near = tracker.solve(log_s + 0.02, 0);
            if (!near.ok()) continue;
            const Solution expected = newton(newton_alone, {log_s, 1.0}, near.m);
            const Solution got = newton(*chords, {log_s, 1.0}, near.m);
            ASSERT_EQ(got.state, expected.state)
                << "n = " << streams << ", L = " << depth << ", ln s = " << log_s;
            if (!got.ok()) continue;
            ++compared;
            // Each is certified to 1e-10, or to its floor.
            const double uncertain = 2e-10 + 10 * std::max(expected.floor, got.floor);
            EXPECT_LT((got.m - expected.m).cwiseQuotient(expected.m).cwiseAbs().maxCoeff(), uncertain)
                << "n = " << streams << ", L = " << depth << ", ln s = " << log_s;
        }
        EXPECT_GT(compared, 20);
        EXPECT_LT(chords->passes(), 0.95 * newton_alone.passes()) << "n = " << streams << ", L = " << depth;
    }
}

}  // namespace
}  // namespace spectra::dyson
