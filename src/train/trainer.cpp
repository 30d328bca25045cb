#include "train/trainer.hpp"

#include "base/stop.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "train/autocast.hpp"
#include "train/batches.hpp"
#include "train/checkpoint_file.hpp"
#include "train/diagnostics.hpp"
#include "train/make_learner.hpp"
#include "train/model_description.hpp"
#include "train/modules/fast_kernels.hpp"
#include "train/recorded_step.hpp"

namespace spectra::train {

using torch::Tensor;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

Optimiser::Named named_parameters(torch::nn::Module& module) {
    Optimiser::Named named;
    for (const auto& item : module.named_parameters()) named.emplace_back(item.key(), item.value());
    return named;
}

/// "block 3, core.transformer.h.3.attn.c_attn.weight" from the name of a parameter.
std::string place_of(const std::string& name) {
    const std::string mark = "transformer.h.";
    const auto at = name.find(mark);
    if (at == std::string::npos) return name;
    const auto begin = at + mark.size();
    return fmt::format("block {}, {}", name.substr(begin, name.find('.', begin) - begin), name);
}

/// "steps 100 there, 200 here" from two descriptions (JSON objects).
std::string differences(const std::string& there, const std::string& here) {
    const auto a = nlohmann::ordered_json::parse(there, nullptr, false);
    const auto b = nlohmann::ordered_json::parse(here, nullptr, false);
    if (!a.is_object() || !b.is_object()) return fmt::format("{} there, {} here", there, here);
    std::vector<std::string> different;
    const auto compare = [&](const std::string& name) {
        const auto words = [&](const nlohmann::ordered_json& d) {
            return d.contains(name) ? d[name].dump() : "not given";
        };
        if (words(a) != words(b))
            different.push_back(fmt::format("{} {} there, {} here", name, words(a), words(b)));
    };
    for (const auto& [name, value] : b.items()) compare(name);
    for (const auto& [name, value] : a.items())
        if (!b.contains(name)) compare(name);
    return fmt::format("{}", fmt::join(different, "; "));
}

/// The first sublayer with a non-finite output at this input, or "".
std::string first_bad_state(Learner& learner, const Batch& batch) {
    auto* const model = learner.transformer();
    if (model == nullptr) return "";
    const torch::NoGradGuard no_grad;
    std::string place;
    int64_t sublayer = 0;
    model->walk(model->start(batch.x), [&](Connection&, const Tensor&, const Tensor& after) {
        if (place.empty() && !torch::isfinite(after).all().item<bool>())
            place = fmt::format("block {} ({}), its output", (sublayer / 2) % model->config().layers,
                                sublayer % 2 == 0 ? "attention" : "MLP");
        ++sublayer;
    });
    return place;
}

/// Adds the time it lives.
class Stopwatch {
public:
    explicit Stopwatch(double& total) : total_(total) {}
    ~Stopwatch() { total_ += seconds_since(start_); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

private:
    double& total_;
    Clock::time_point start_ = Clock::now();
};

class Run {
public:
    Run(const tasks::Dataset& data, const TrainOptions& options, const TrainHooks& hooks)
        : data_(data),
          options_(options),
          hooks_(hooks),
          batches_(data, options.batch, options.seed, options.device,
                   options.model.architecture == "trm" ? &options.model : nullptr, options.processes) {
        torch::manual_seed(options.seed);
        learner_ = make_learner(data, options.model, options.gate_weight);
        learner_->module().to(options.device);
        validation_ = tensors_of(data, data.validation, options.device);
        auto* const model = learner_->transformer();
        optimiser_ = std::make_unique<Optimiser>(named_parameters(learner_->module()), options.optimiser,
                                                 model ? model->frames() : std::vector<Tensor>{},
                                                 learner_->moved_by_sign());
        evaluation_batch_ =
            evaluation_batch(data.steps, parameter_count(learner_->module()), options.device);
        if (options.resume) restore();
        if (options.processes) agree();
    }

    TrainResult run() {
        const auto start = Clock::now();
        const OwnStream stream(options_.device);
        const int64_t last =
            options_.stop_after > 0 ? std::min(options_.stop_after, options_.steps) : options_.steps;
        save_at_ = clock() + options_.checkpoint_seconds;
        try {
            if (log_.rows.empty()) add_row(NAN, NAN);
            if (row_is_due()) log_row();  // its evaluation was cut short
            while (step_ < last && !interrupted()) {
                one_timed_step(last);
                if (hooks_.progress) report_progress(last);
                if (row_is_due()) log_row();
                save_if_due();
            }
        } catch (const Stopped&) {
            if (log_.rows.empty()) return {};
        } catch (const ProcessLost& error) {
            if (since_ > 0) save();  // the step that was not finished has changed nothing
            if (saved_step_ < 0) throw;
            throw ProcessLost(fmt::format("{}; what was trained until step {} is in {}, and `resume` continues it",
                                          error.what(), saved_step_, options_.checkpoint.string()));
        }
        if (since_ > 0 || options_.steps == 0) save();  // stopped between rows, or never trained
        auto r = result();
        r.seconds = seconds_since(start);
        r.evaluation_seconds = evaluation_seconds_;
        return r;
    }

private:
    /// Whether any process is to stop: all of them ask at the same places.
    bool interrupted() const {
        const bool here = hooks_.interrupted && hooks_.interrupted();
        return options_.processes ? options_.processes->any(here) : here;
    }

    /// All processes begin with the first one's numbers, at the same step.
    void agree() {
        const torch::NoGradGuard no_grad;
        auto steps = torch::zeros({options_.processes->size()}, torch::kDouble);
        steps[options_.processes->rank()] = static_cast<double>(step_);
        options_.processes->sum(steps);
        if (!(steps == static_cast<double>(step_)).all().item<bool>())
            throw std::runtime_error(fmt::format(
                "{}: not all processes find the same checkpoint here; they need a folder that all of them see",
                options_.checkpoint.string()));
        for (const auto& item : learner_->module().named_parameters()) {
            auto value = item.value().detach();
            options_.processes->broadcast(value);
        }
    }

    /// The tick of an evaluation.
    Tick while_doing(std::string_view what) {
        return [this, what](int64_t done, int64_t total) {
            if (interrupted()) throw Stopped{};
            save_if_due();
            if (hooks_.evaluating) hooks_.evaluating({step_, options_.steps, what, done, total});
        };
    }

    double clock() const {
        return hooks_.clock ? hooks_.clock()
                            : std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    }

    /// Between rows of the log, and while one is being made.
    void save_if_due() {
        if (since_ == 0 || step_ == saved_step_ || clock() < save_at_) return;
        save();
    }

    bool is_text() const { return data_.task == "text"; }

    /// What a loss on text is in other units.
    std::vector<std::pair<std::string, double>> text_measures(double loss) const {
        if (!is_text()) return {};
        return {{"perplexity", std::exp(loss)}, {"bits_per_byte", tasks::bits_per_byte(data_, loss)}};
    }

    Learner::Judged judged() {
        return judge(*learner_, validation_, evaluation_batch_, while_doing("validation"));
    }

    /// The first ten steps are not timed: they warm up.
    void one_timed_step(int64_t last) {
        const auto before = Clock::now();
        const auto [loss, norm] = one_step();
        const double seconds = seconds_since(before);
        all_step_seconds_ += seconds;
        if (timed_from_ < 0 && step_ - first_step_ == std::min<int64_t>(10, last - first_step_ - 1))
            timed_from_ = step_;
        else if (timed_from_ >= 0)
            timed_seconds_ += seconds;
        loss_sum_ += loss;
        norm_sum_ += norm;
        last_loss_ = loss;
        ++since_;
    }

    double steps_per_second() const {
        return timed_from_ >= 0 && timed_seconds_ > 0
                   ? static_cast<double>(step_ - timed_from_) / timed_seconds_
                   : 0.0;
    }

    void report_progress(int64_t last) const {
        const double rate = static_cast<double>(step_ - first_step_) / all_step_seconds_;
        const double evaluations =
            std::ceil(static_cast<double>(last - step_) / static_cast<double>(options_.log_every));
        const double each = rows_added_ > 0 ? evaluation_seconds_ / static_cast<double>(rows_added_) : 0.0;
        hooks_.progress({step_, options_.steps, last_loss_, rate,
                         static_cast<double>(last - step_) / rate + evaluations * each});
    }

    bool row_is_due() const {
        return since_ > 0 && (step_ % options_.log_every == 0 || step_ == options_.steps);
    }

    void log_row() {
        add_row(loss_sum_ / static_cast<double>(since_), norm_sum_ / static_cast<double>(since_));
        loss_sum_ = norm_sum_ = 0;
        since_ = 0;
        due_norms_.clear();
        save();
    }

    /// Loss and norm of the gradient.
    std::pair<double, double> one_step() {
        Batch batch;
        const auto [loss, norm] = gradients(batch);
        check(loss, norm, batch);
        optimiser_->step(options_.schedule(step_));
        learner_->advance();
        ++step_;
        return {loss, norm};
    }

    /// Batch `micro` of this step.
    Batch drawn(int64_t micro) const {
        return batches_.draw(static_cast<std::uint32_t>(step_ * options_.accumulate + micro));
    }

    /// Gives the optimiser the gradients of this step; returns loss and norm.
    std::pair<double, double> gradients(Batch& batch) {
        if (options_.accumulate == 1) {
            batch = drawn(0);
            if (recording_is_due(batch)) record(batch);
            if (const auto replayed = replay(batch)) return taken(*replayed);
        }
        optimiser_->zero_grad();
        Tensor loss;
        for (int64_t micro = 0; micro < options_.accumulate; ++micro) {
            if (options_.accumulate > 1) batch = drawn(micro);
            const auto task = backward(batch);
            loss = loss.defined() ? loss + task : task;
        }
        const auto all = optimiser_->gathered();
        return taken({all.gradient, loss.item<double>() / static_cast<double>(options_.accumulate),
                      all.norm.item<double>()});
    }

    /// Gives the optimiser the gradients of the batch, of which these may be this process's part; returns loss and norm.
    std::pair<double, double> taken(Gradients g) {
        if (options_.processes) {
            const torch::NoGradGuard no_grad;
            g.gradient.mul_(batches_.share());
            options_.processes->sum(g.gradient);
            auto loss = torch::tensor(g.loss * batches_.share(), torch::kDouble);
            options_.processes->sum(loss);
            g.loss = loss.item<double>();
            g.norm = g.gradient.norm().item<double>();
        }
        optimiser_->take(g.gradient, g.norm, options_.clip);
        return {g.loss, g.norm};
    }

    /// The loss of a batch; its gradients are added to the parameters'.
    Tensor backward(const Batch& batch) {
        const FastKernels fast(!options_.bfloat16);
        Tensor task, total;
        {
            const Autocast autocast(options_.bfloat16);
            const auto losses = learner_->loss(batch);
            task = losses.task.detach();
            total = losses.penalty.defined() ? losses.task + losses.penalty : losses.task;
        }
        if (options_.accumulate > 1) total = total / static_cast<double>(options_.accumulate);
        total.backward();
        return task;
    }

    /// After a few steps launched one by one, which prepare the libraries that they use.
    bool recording_is_due(const Batch& batch) const {
        return options_.record && step_ - first_step_ == 3 && options_.steps - step_ >= 20 &&
               StepGraph::possible(batch.x.device());
    }

    void record(const Batch& batch) {
        optimiser_->zero_grad();
        recorded_ = RecordedStep::record(batch, [&](const Batch& read) {
            const auto loss = backward(read);
            return std::pair(loss, optimiser_->gathered());
        });
    }

    /// By what was recorded; nothing where that cannot be done.
    std::optional<Gradients> replay(const Batch& batch) {
        if (!recorded_) return {};
        auto replayed = recorded_->replay(batch);
        if (replayed) ++replayed_;
        return replayed;
    }

    void check(double loss, double norm, const Batch& batch) {
        if (first_loss_ < 0) first_loss_ = loss;
        const bool grown = loss > 100 * first_loss_;
        if (std::isfinite(loss) && std::isfinite(norm) && !grown) return;
        auto place = first_bad_state(*learner_, batch);
        if (place.empty()) {
            place = place_of(optimiser_->first_bad_gradient());
            if (!place.empty()) place = "the gradient of " + place;
        }
        if (place.empty()) {
            const auto norms = optimiser_->gradient_norms();
            const auto most = std::max_element(
                norms.begin(), norms.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
            place = fmt::format("the largest gradient ({:.3g}) is that of {}", most->second,
                                place_of(most->first));
        }
        throw Diverged(fmt::format("training diverged at step {}: loss {:.4g}, gradient norm {:.4g}; {}",
                                   step_, loss, norm, place));
    }

    void add_row(double loss, double norm) {
        const torch::NoGradGuard no_grad;
        const Stopwatch watch(evaluation_seconds_);
        const auto [val, means] = judged();
        if (std::isnan(loss)) loss = val;
        std::vector<Diagnostic> along;
        if (auto* const model = learner_->transformer()) {
            along = diagnose(*model, validation_.x.narrow(0, 0, std::min<int64_t>(4, validation_.x.size(0))),
                             while_doing("diagnostics"));
            along.push_back({"gradient_norm", block_norms()});
        } else {
            for (const auto& [name, value] : learner_->measures(validation_))
                along.push_back({name, {value}});
        }
        for (const auto& [name, value] : means) along.push_back({name, {value}});
        for (const auto& [name, value] : text_measures(val)) along.push_back({name, {value}});
        fit_earlier_rows(along);
        best_ = std::min(best_, val);
        log_.rows.push_back({static_cast<double>(step_), loss, val, options_.schedule(step_), norm});
        log_.diagnostics.push_back(std::move(along));
        ++rows_added_;
    }

    /// Rows of a version that had other diagnostics get the new ones, as NaN.
    void fit_earlier_rows(const std::vector<Diagnostic>& now) {
        for (auto& along : log_.diagnostics) {
            std::vector<Diagnostic> fitted;
            for (const auto& d : now) {
                const auto had = std::find_if(along.begin(), along.end(), [&](const auto& e) {
                    return e.name == d.name && e.values.size() == d.values.size();
                });
                fitted.push_back(had != along.end()
                                     ? *had
                                     : Diagnostic{d.name, std::vector<double>(d.values.size(), NAN)});
            }
            along = std::move(fitted);
        }
    }

    /// The gradient norm of each block of a transformer.
    std::vector<double> block_norms() const {
        auto* const model = learner_->transformer();
        if (model == nullptr || !due_norms_.empty()) return due_norms_;
        std::vector<double> squares(static_cast<std::size_t>(model->config().layers), 0.0);
        if (step_ == 0) return std::vector<double>(squares.size(), NAN);
        const std::string mark = "transformer.h.";
        for (const auto& [name, norm] : optimiser_->gradient_norms())
            if (const auto at = name.find(mark); at != std::string::npos)
                squares[std::stoul(name.substr(at + mark.size()))] += norm * norm;
        for (auto& square : squares) square = std::sqrt(square);
        return squares;
    }

    void save() {
        if (options_.checkpoint.empty() || !is_first(options_.processes)) return;
        const double began = clock();
        Checkpoint c;
        c.config = options_.description;
        c.step = step_;
        c.best_val_loss = best_;
        for (const auto& item : learner_->module().named_parameters())
            c.model.emplace(item.key(), item.value());
        std::tie(c.first_moment, c.second_moment) = optimiser_->moments();
        std::tie(c.log, c.log_columns) = packed_log();
        std::vector<double> pending{loss_sum_, norm_sum_, static_cast<double>(since_)};
        if (row_is_due()) {  // a resumed run has no gradients
            const auto norms = block_norms();
            pending.insert(pending.end(), norms.begin(), norms.end());
        }
        c.pending = torch::tensor(pending, torch::kDouble);
        if (is_text()) c.tokeniser = tokeniser_text(data_.tokeniser);
        for (const auto& [name, tensor] : learner_->carried()) c.carried.emplace(name, tensor);
        save_checkpoint(options_.checkpoint, c);
        saved_step_ = step_;
        const double ended = clock();
        save_at_ = ended + std::max(options_.checkpoint_seconds, 20 * (ended - began));
    }

    void restore() {
        const auto c = load_checkpoint(options_.checkpoint);
        if (c.config != options_.description)
            throw std::invalid_argument(fmt::format("{}: checkpoint belongs to a different run: {}",
                                                    options_.checkpoint.string(),
                                                    differences(c.config, options_.description)));
        if (!c.tokeniser.empty() && c.tokeniser != tokeniser_text(data_.tokeniser))
            throw std::invalid_argument(
                fmt::format("{}: checkpoint belongs to a different run: its text had other tokens",
                            options_.checkpoint.string()));
        const torch::NoGradGuard no_grad;
        for (const auto& item : learner_->module().named_parameters())
            item.value().copy_(c.model.at(item.key()));
        step_ = first_step_ = c.step;
        best_ = c.best_val_loss;
        optimiser_->restore(c.first_moment, c.second_moment, step_);
        learner_->carry({c.carried.begin(), c.carried.end()});
        unpack_log(c.log, c.log_columns);
        loss_sum_ = c.pending[0].item<double>();
        norm_sum_ = c.pending[1].item<double>();
        since_ = static_cast<int64_t>(c.pending[2].item<double>());
        for (int64_t k = 3; k < c.pending.size(0); ++k) due_norms_.push_back(c.pending[k].item<double>());
        first_loss_ = log_.rows.front()[1];
    }

    /// One row of numbers per row of the log, and their names: {name: count} in order.
    std::pair<Tensor, std::string> packed_log() const {
        auto names = nlohmann::ordered_json::array();
        for (const auto& name : TrainingLog::columns()) names.push_back({name, 1});
        for (const auto& d : log_.diagnostics.front()) names.push_back({d.name, d.values.size()});
        std::vector<double> numbers;
        for (std::size_t i = 0; i < log_.rows.size(); ++i) {
            numbers.insert(numbers.end(), log_.rows[i].begin(), log_.rows[i].end());
            for (const auto& d : log_.diagnostics[i])
                numbers.insert(numbers.end(), d.values.begin(), d.values.end());
        }
        const auto rows = static_cast<int64_t>(log_.rows.size());
        return {torch::tensor(numbers, torch::kDouble).view({rows, -1}), names.dump()};
    }
    void unpack_log(const Tensor& log, const std::string& names) {
        const auto columns = nlohmann::json::parse(names);
        const auto fixed = TrainingLog::columns().size();
        for (int64_t i = 0; i < log.size(0); ++i) {
            const auto row = log[i].contiguous();
            const double* next = row.data_ptr<double>();
            log_.rows.emplace_back(next, next + fixed);
            next += fixed;
            auto& along = log_.diagnostics.emplace_back();
            for (std::size_t k = fixed; k < columns.size(); ++k) {
                const auto count = columns[k][1].get<std::ptrdiff_t>();
                along.push_back({columns[k][0].get<std::string>(), std::vector<double>(next, next + count)});
                next += count;
            }
        }
    }

    TrainResult result() {
        const torch::NoGradGuard no_grad;
        const Stopwatch watch(evaluation_seconds_);
        TrainResult r;
        r.steps = step_;
        r.finished = step_ >= options_.steps;
        const bool known = log_.rows.back()[0] == static_cast<double>(step_);
        r.final_val_loss = known ? log_.rows.back()[2] : NAN;
        try {
            if (!known) r.final_val_loss = judged().loss;
            r.measures = learner_->measures(validation_, while_doing("roll-out"));
            for (const auto& measure : text_measures(r.final_val_loss)) r.measures.push_back(measure);
            if (known && learner_->transformer() != nullptr)
                for (const auto& d : log_.diagnostics.back())
                    if (d.name == "rank_preservation" || d.name == "rank_decay")
                        r.measures.emplace_back(d.name, d.values.front());
        } catch (const Stopped&) {
            // Reported without them.
        }
        r.best_val_loss = std::isnan(r.final_val_loss) ? best_ : std::min(best_, r.final_val_loss);
        r.parameters = parameter_count(learner_->module());
        if (auto* const model = learner_->transformer(); model != nullptr && data_.puzzles == 0)
            r.core_parameters = core_parameter_count(*model);
        r.log = log_;
        r.steps_per_second = steps_per_second();
        r.replayed_steps = replayed_;
        return r;
    }

    const tasks::Dataset& data_;
    const TrainOptions& options_;
    const TrainHooks& hooks_;
    Batches batches_;
    std::unique_ptr<Learner> learner_;
    std::unique_ptr<Optimiser> optimiser_;
    std::unique_ptr<RecordedStep> recorded_;
    int64_t replayed_ = 0;  ///< steps
    Batch validation_;
    int64_t step_ = 0, first_step_ = 0;
    double best_ = INFINITY, first_loss_ = -1;
    double loss_sum_ = 0, norm_sum_ = 0;  ///< since the last row of the log, over since_ steps
    int64_t since_ = 0;
    std::vector<double> due_norms_;  ///< of the blocks, from a checkpoint whose row of the log is missing
    TrainingLog log_;
    int64_t evaluation_batch_ = 1;
    int64_t rows_added_ = 0;  ///< to the log, in this run
    double evaluation_seconds_ = 0, all_step_seconds_ = 0, last_loss_ = 0;
    int64_t saved_step_ = -1;  ///< of the last checkpoint
    double save_at_ = 0;       ///< by the clock, if not before
    int64_t timed_from_ = -1;  ///< the step after which time counts
    double timed_seconds_ = 0;
};

}  // namespace

Learner::Judged judge(Learner& learner, const Batch& split, int64_t batch, const Tick& tick) {
    const torch::NoGradGuard no_grad;
    const auto count = split.x.size(0);
    Learner::Judged all;
    for (int64_t from = 0; from < count; from += batch) {
        if (tick) tick(from, count);
        const auto size = std::min(batch, count - from);
        const auto part = learner.judge({split.x.narrow(0, from, size), split.y.narrow(0, from, size)});
        if (from == 0) all.means.assign(part.means.size(), {});
        all.loss += part.loss * static_cast<double>(size);
        for (std::size_t k = 0; k < part.means.size(); ++k) {
            all.means[k].first = part.means[k].first;
            all.means[k].second += part.means[k].second * static_cast<double>(size);
        }
    }
    all.loss /= static_cast<double>(count);
    for (auto& [name, sum] : all.means) sum /= static_cast<double>(count);
    return all;
}

double evaluate(Learner& learner, const Batch& split, int64_t batch, const Tick& tick) {
    return judge(learner, split, batch, tick).loss;
}

int64_t evaluation_batch(int64_t positions, int64_t parameters, torch::Device device) {
    // Two operations per parameter and position: 2e10 take a processor core about a second.
    const double at_once = device.is_cuda() ? 16384 : 4096;
    const double work = device.is_cuda() ? 1e13 : 1e10;
    const double most = std::min(at_once, work / static_cast<double>(std::max<int64_t>(1, parameters)));
    return std::max<int64_t>(1, static_cast<int64_t>(most / static_cast<double>(positions)));
}

TrainResult train(const tasks::Dataset& data, const TrainOptions& options, const TrainHooks& hooks) {
    return Run(data, options, hooks).run();
}

}  // namespace spectra::train
