#include "dyson/solve/watched.hpp"

#include <utility>

namespace spectra::dyson {

namespace {

class Watched final : public Equation {
public:
    Watched(std::unique_ptr<Equation> equation, std::shared_ptr<const std::function<void()>> on_step)
        : equation_(std::move(equation)), on_step_(std::move(on_step)) {}

    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        (*on_step_)();
        return equation_->newton_step(omega, m, delta);
    }

    bool chord_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        (*on_step_)();
        return equation_->chord_step(omega, m, delta);
    }

    std::unique_ptr<Equation> clone() const override {
        return std::make_unique<Watched>(equation_->clone(), on_step_);
    }
    std::unique_ptr<Equation> with_noise(double log_factor) const override {
        auto changed = equation_->with_noise(log_factor);
        return changed ? std::make_unique<Watched>(std::move(changed), on_step_) : nullptr;
    }
    Eigen::Index size() const override { return equation_->size(); }
    Unknowns far(const Frequency& omega) const override { return equation_->far(omega); }
    Unknowns start(double log_scale) const override { return equation_->start(log_scale); }
    Unknowns moved(const Unknowns& m, const Unknowns& delta, double fraction) const override {
        return equation_->moved(m, delta, fraction);
    }
    Unknowns scale(const Unknowns& m) const override { return equation_->scale(m); }
    Unknowns mix(const std::vector<const Unknowns*>& values, const double* weights) const override {
        return equation_->mix(values, weights);
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
    double certified_step() const override { return equation_->certified_step(); }
    double passing_step() const override { return equation_->passing_step(); }
    double longest_step() const override { return equation_->longest_step(); }
    Unknowns regauged(const Unknowns& m, double from, double to) const override {
        return equation_->regauged(m, from, to);
    }
    bool counted_from_above() const override { return equation_->counted_from_above(); }
    double passes() const override { return equation_->passes(); }

private:
    std::unique_ptr<Equation> equation_;
    std::shared_ptr<const std::function<void()>> on_step_;
};

}  // namespace

std::unique_ptr<Equation> watched(std::unique_ptr<Equation> equation, std::function<void()> on_step) {
    if (!on_step) return equation;
    return std::make_unique<Watched>(std::move(equation),
                                     std::make_shared<const std::function<void()>>(std::move(on_step)));
}

}  // namespace spectra::dyson
