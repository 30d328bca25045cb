#include "train/make_learner.hpp"

#include <cmath>

#include "train/grid_learner.hpp"
#include "train/models/reflection.hpp"

namespace spectra::train {

using torch::Tensor;

namespace {

/// Mean | ‖v‖ − 1 | over the last dimension.
double norm_deviation(const Tensor& vectors) {
    return mean_of((vectors.norm(2, -1) - 1).abs());
}

class ReflectionLearner final : public Learner {
public:
    ReflectionLearner(const tasks::Dataset& data, const ModelConfig& config, double gate_weight)
        : model_(make_reflection_model(config.architecture, data.dimension, 128, gate_weight,
                                       config.mixer_options.gate_bias, config.mixer_options.regulariser)) {}
    torch::nn::Module& module() override { return *model_; }
    Loss loss(const Batch& batch) override {
        const auto out = model_->forward(batch.x.flatten(0, 1));
        return {torch::mse_loss(out.prediction, batch.y.flatten(0, 1)), out.penalty};
    }
    std::vector<std::pair<std::string, double>> measures(const Batch& validation, const Tick&) override {
        const auto x = validation.x.flatten(0, 1);
        const auto out = model_->forward(x);
        std::vector<std::pair<std::string, double>> result{
            {"cosine", mean_of(torch::cosine_similarity(out.prediction, -x, -1))}};
        if (out.gate.defined()) result.emplace_back("gate", mean_of(out.gate));
        if (out.beta.defined()) result.emplace_back("beta", mean_of(out.beta));
        return result;
    }

private:
    std::shared_ptr<ReflectionModel> model_;
};

class SequenceLearner final : public Learner {
public:
    SequenceLearner(const tasks::Dataset& data, ModelConfig config, double gate_weight)
        : data_steps_(data.steps), gate_weight_(gate_weight) {
        config.tokens = data.tokens;
        config.dimension = data.dimension;
        config.context = data.steps + 1;
        model_ = std::make_shared<Transformer>(config);
    }
    torch::nn::Module& module() override { return *model_; }
    Transformer* transformer() override { return model_.get(); }
    Loss loss(const Batch& batch) override {
        const auto out = model_->forward(batch.x);
        Loss result;
        result.task = model_->config().tokens
                          ? torch::cross_entropy_loss(out.prediction.flatten(0, 1).to(torch::kFloat),
                                                      batch.y.flatten(), {}, at::Reduction::Mean, tasks::not_scored)
                          : torch::mse_loss(out.prediction.to(batch.y.scalar_type()), batch.y);
        if (out.penalty.defined() && gate_weight_ != 0) result.penalty = gate_weight_ * out.penalty;
        return result;
    }
    std::vector<std::pair<std::string, double>> measures(const Batch& validation,
                                                         const Tick& tick) override {
        auto result = gates(validation.x.narrow(0, 0, std::min<int64_t>(64, validation.x.size(0))));
        if (model_->config().tokens) {
            const auto few = std::min<int64_t>(256, validation.x.size(0));
            const auto predicted = model_->forward(validation.x.narrow(0, 0, few)).prediction.argmax(-1);
            const auto wanted = validation.y.narrow(0, 0, few);
            result.emplace_back("accuracy", mean_of(predicted.eq(wanted).masked_select(wanted.ge(0))));
        } else {
            result.emplace_back("norm_deviation", one_pass_deviation(validation.x));
            result.emplace_back("norm_deviation_rollout", rollout_deviation(validation.x, tick));
        }
        return result;
    }

private:
    /// Means over sublayers and inputs of gates and β.
    std::vector<std::pair<std::string, double>> gates(const Tensor& x) {
        std::vector<std::pair<std::string, double>> sums;
        int sublayers = 0;
        model_->walk(model_->start(x), [&](Connection& connection, const Tensor& state, const Tensor&) {
            const auto seen = connection.statistics(state);
            for (std::size_t i = 0; i < seen.size(); ++i) {
                if (i == sums.size()) sums.emplace_back(seen[i].first, 0.0);
                sums[i].second += mean_of(seen[i].second);
            }
            ++sublayers;
        });
        for (auto& [name, sum] : sums) sum /= sublayers;
        return sums;
    }
    /// One pass over 100 independent random unit vectors (as the EΔ suite reports it).
    double one_pass_deviation(const Tensor& like) {
        const auto generator = at::make_generator<at::CPUGeneratorImpl>(0x5EC7);
        const auto steps = std::min<int64_t>(100, data_steps_);
        const auto x = torch::randn({1, steps, like.size(2)}, generator, torch::dtype(torch::kFloat));
        return norm_deviation(model_->forward((x / x.norm(2, -1, true)).to(like.device())).prediction);
    }
    /// The deviation over the last three quarters of the sequence, where the model's input is its own
    /// predictions.
    double rollout_deviation(const Tensor& validation, const Tick& tick) {
        const auto given = std::max<int64_t>(1, data_steps_ / 4);
        auto x = validation.narrow(0, 0, std::min<int64_t>(8, validation.size(0))).narrow(1, 0, given);
        for (int64_t t = given; t < data_steps_; ++t) {
            if (tick) tick(t - given, data_steps_ - given);
            const auto next = model_->forward(x).prediction.narrow(1, t - 1, 1).to(x.scalar_type());
            x = torch::cat({x, next}, 1);
        }
        return norm_deviation(x.narrow(1, given, data_steps_ - given));
    }

    int64_t data_steps_;
    double gate_weight_;
    std::shared_ptr<Transformer> model_;
};

}  // namespace

std::unique_ptr<Learner> make_learner(const tasks::Dataset& data, const ModelConfig& config, double gate_weight) {
    if (data.task == "reflection") return std::make_unique<ReflectionLearner>(data, config, gate_weight);
    if (config.architecture == "trm") return make_grid_learner(data, config, gate_weight);
    return std::make_unique<SequenceLearner>(data, config, gate_weight);
}

}  // namespace spectra::train
