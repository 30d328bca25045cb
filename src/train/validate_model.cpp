#include "train/validate_model.hpp"

#include "train/model_description.hpp"
#include "jacobian/script_output.hpp"
#include "train/host_threads.hpp"
#include "train/measure.hpp"
#include "jacobian/script_module.hpp"
#include "train/trainer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>

namespace spectra::train {

namespace {

using torch::Tensor;
using validation::Validation;

std::string token_words(const study::ValidateRequest& r) {
    return r.all_tokens ? "all tokens" : r.token ? fmt::format("token {}", *r.token) : "last token";
}

std::string inputs_words(std::size_t count, const std::string& what) {
    return fmt::format("{} input{} ({})", count, count == 1 ? "" : "s", what);
}

double resolution(bool double_precision) {
    return double_precision ? validation::double_resolution : validation::single_resolution;
}

/// Rows of the validation data evenly apart, or of the user's tensor: (K, T, …).
Tensor inputs_of(const study::ValidateRequest& r, const TrainedModel& model, std::string& what) {
    const auto wanted = static_cast<int64_t>(r.inputs.value_or(study::default_inputs));
    if (r.input) {
        what = *r.input;
        auto x = jacobian::read_input(*r.input);
        const auto dimensions = model.data.tokens ? 2 : 3;
        if (x.dim() == dimensions - 1) x = x.unsqueeze(0);
        if (x.dim() != dimensions || (!model.data.tokens && x.size(2) != model.data.dimension))
            throw std::invalid_argument(fmt::format(
                "{}: its shape is ({}); must be {}", *r.input, fmt::join(x.sizes(), ", "),
                model.data.tokens ? std::string("(T) or (K, T)")
                                  : fmt::format("(T, {0}) or (K, T, {0})", model.data.dimension)));
        if (!model.data.tokens) x = x.to(torch::kFloat);
        return x.narrow(0, 0, std::min(wanted, x.size(0)));
    }
    what = model.data.task + "'s validation data";
    const auto all = tensors_of(model.data, model.data.validation, torch::kCPU).x;
    const auto count = std::min(wanted, all.size(0));
    return all.index_select(0, torch::arange(count) * (all.size(0) / count));
}

struct Interrupted {};

/// Shows how far a law without its matrix is, and ends it at an interrupt.
std::function<void(int64_t, int64_t)> shown_in(study::Observer& observer) {
    return [&observer](int64_t done, int64_t total) {
        if (observer.stopped()) throw Interrupted();
        observer.update(static_cast<int>(done), static_cast<int>(total));
    };
}

/// The laws of `count` inputs, or of those before an interrupt.
std::vector<jacobian::JacobianLaw> laws_of(int64_t count, study::Observer& observer,
                                 const std::function<jacobian::JacobianLaw(int64_t)>& law_of) {
    std::vector<jacobian::JacobianLaw> out;
    try {
        for (int64_t k = 0; k < count && !observer.stopped(); ++k) {
            observer.stage(fmt::format("measuring input {} of {}", k + 1, count));
            out.push_back(law_of(k));
        }
    } catch (const Interrupted&) {  // those before it stand
    }
    if (out.empty()) throw std::runtime_error("interrupted before the first input was measured");
    return out;
}

/// Laws of as many inputs; what must be said of those that were probed.
void add_laws(Validation& v, std::vector<jacobian::JacobianLaw> laws, std::string words, bool double_precision) {
    const auto floor = resolution(double_precision);
    if (laws.front().exact) {
        std::vector<std::vector<double>> values;
        for (auto& law : laws) values.push_back(std::move(law.log_values));
        validation::add_values(v, std::move(values), std::move(words), floor);
        return;
    }
    std::vector<validation::ProbedLaw> probed;
    int probes = 0, steps = 0;
    bool above = false, below = false;
    for (auto& law : laws) {
        probes = std::max(probes, law.probes);
        steps = std::max(steps, law.steps);
        if (!law.smallest_converged) {
            above = true;
            law.error.smallest = std::numeric_limits<double>::quiet_NaN();
        }
        below = below || !law.largest_converged;
        probed.push_back({std::move(law.log_values), law.metrics, law.error});
    }
    validation::add_probed(v, std::move(probed), std::move(words), floor);
    v.measured->note = fmt::format("by {} probes of {} steps{}{}", probes, steps,
                                   above ? "; the smallest value is an upper bound" : "",
                                   below ? "; the largest value is a lower bound" : "");
}

void measure_sequences(const study::ValidateRequest& r, Transformer& model, const Tensor& inputs,
                       MeasureOptions options, const std::string& what, Validation& v, study::Observer& observer) {
    options.jacobian.progress = shown_in(observer);
    auto laws = laws_of(inputs.size(0), observer, [&](int64_t k) {
        options.jacobian.input = static_cast<std::uint32_t>(k);
        return measure_sequence(model, inputs.narrow(0, k, 1), options);
    });
    const auto words =
        fmt::format("{}, {}, N = {}", inputs_words(laws.size(), what), token_words(r), laws.front().inputs);
    const auto count = laws.size();
    add_laws(v, std::move(laws), words, options.double_precision);
    if (!r.alignment.value_or(false)) return;
    auto search = study::alignment_options(r, observer);
    try {
        v.alignment = validation::align_sequences(
            count,
            [&](std::size_t k) {
                return sequence_factors(model, inputs.narrow(0, static_cast<int64_t>(k), 1), options);
            },
            v.measured->law, search);
    } catch (const Stopped&) {  // what was measured stands
    }
}

void measure_checkpoint(const study::ValidateRequest& r, const weightfile::TensorFile& file, Validation& v,
                        study::Observer& observer) {
    const auto model = trained_model(load_checkpoint(file.where()), file.where());
    v.layout = "spectra";
    v.model = model.words;
    v.step = model.step;
    auto* const transformer = model.learner->transformer();
    if (transformer == nullptr)
        throw std::invalid_argument(
            fmt::format("{}: a model of the reflection task is one operator without residual connections; "
                        "there is nothing "
                        "to validate",
                        file.where()));
    const auto device = chosen_device(r.device);
    model.learner->module().to(device);
    std::string what;
    const auto inputs = inputs_of(r, model, what).to(device);
    const auto tokens = inputs.size(1);
    if (r.token && *r.token >= tokens)
        throw std::invalid_argument(fmt::format("`token` {}: must be 0 to {}", *r.token, tokens - 1));
    MeasureOptions options;
    options.token = r.token.value_or(-1);
    options.double_precision = r.precision == "f64";
    options.jacobian.seed = r.seed;
    if (r.all_tokens) {
        measure_sequences(r, *transformer, inputs, options, what, v, observer);
        return;
    }
    observer.stage("measuring");
    std::vector<layouts::Measurement> measurements;
    for (int64_t k = 0; k < inputs.size(0) && !observer.stopped(); ++k) {
        options.input = fmt::format("input {} of {}", k + 1, inputs.size(0));
        measurements.push_back(measure(*transformer, inputs.narrow(0, k, 1), options));
        observer.update(static_cast<int>(k + 1), static_cast<int>(inputs.size(0)));
    }
    if (measurements.empty()) throw std::runtime_error("interrupted before the first input was measured");
    observer.stage("solving");
    const auto count = measurements.size();
    double defect = 0;
    for (const auto& m : measurements) defect = std::max(defect, m.product_defect);
    const auto size = measurements.front().singular_values.size();
    validation::add_measurements(v, std::move(measurements), resolution(r.precision == "f64"),
                                 r.threads.value_or(0));
    v.measured->words =
        fmt::format("{}, {}, N = {}, {}", inputs_words(count, what), token_words(r), size, r.precision);
    if (defect > 1e-3)
        v.measured->note = fmt::format(
            "other tokens see this one: the product of the connections' Jacobians is off the whole by {:.2g}",
            defect);
}

void measure_script(const study::ValidateRequest& r, const weightfile::TensorFile& file, Validation& v,
                    study::Observer& observer) {
    const jacobian::ScriptOutput aside;
    const jacobian::ScriptModule module(file.where(), chosen_device(r.device));
    v.layout = "TorchScript";
    if (!r.input && r.shape.empty())
        throw std::invalid_argument(fmt::format(
            "{}: which input? use `input` FILE, or `shape` A,B,… to draw N(0, 1)", file.where()));
    jacobian::ScriptModule::Options options;
    options.double_precision = r.precision == "f64";
    options.seed = r.seed;
    options.progress = shown_in(observer);
    bool double_precision = true;
    auto laws = laws_of(r.input ? 1 : r.inputs.value_or(study::default_inputs), observer, [&](int64_t k) {
        const auto x =
            r.input ? jacobian::read_input(*r.input) : jacobian::drawn_input(r.shape, r.seed, static_cast<std::uint32_t>(k));
        options.input = static_cast<std::uint32_t>(k);
        auto result = module.law(x, options);
        double_precision = result.double_precision;
        return std::move(result.law);
    });
    const auto words =
        fmt::format("{}, Jacobian {} × {}, {}", inputs_words(laws.size(), r.input ? *r.input : "drawn"),
                    laws.front().outputs, laws.front().inputs, double_precision ? "f64" : "f32");
    add_laws(v, std::move(laws), words, double_precision);
}

}  // namespace

void validate_model(const study::ValidateRequest& r, const weightfile::TensorFile& file, Validation& v,
                    study::Observer& observer) {
    use_threads(r.threads, torch::kCPU);  // decompositions are the CPU's part on a GPU too
    try {
        if (file.kind() == weightfile::Kind::torch_script)
            measure_script(r, file, v, observer);
        else
            measure_checkpoint(r, file, v, observer);
    } catch (const c10::Error& error) {
        // Torch's own messages end in its call stack.
        throw std::runtime_error(error.what_without_backtrace());
    }
}

}  // namespace spectra::train
