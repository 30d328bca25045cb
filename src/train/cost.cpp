#include "train/cost.hpp"

#include "study/analysis.hpp"
#include "study/draw.hpp"
#include "study/memory.hpp"
#include "study/output_files.hpp"
#include "train/host_threads.hpp"
#include "train/model_description.hpp"
#include "train/train_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace spectra::train {

namespace {

using torch::Tensor;
using List = torch::autograd::variable_list;
using study::CostRequest;

/// Runs before those that are timed.
constexpr int warm_up = 2;
/// Tokens that a model distinguishes: bytes.
constexpr int64_t vocabulary = 256;

/// Something to run forwards and backwards.
struct Work {
    std::string part;
    std::int64_t parameters = 0;
    Tensor input;  ///< a leaf, or tokens
    std::function<List(const Tensor&)> forward;
    std::vector<Tensor> learned;  ///< whose gradients a pass leaves behind
};

double seconds_of(const std::function<void()>& work, torch::Device device) {
    const auto wait = [&] {
        if (device.is_cuda()) torch::cuda::synchronize();
    };
    wait();
    const auto began = std::chrono::steady_clock::now();
    work();
    wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

double median(std::vector<double> values) {
    const auto half = values.size() / 2;
    std::sort(values.begin(), values.end());
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

PartCost cost_of(const Work& work, int runs, torch::Device device) {
    PartCost cost{.part = work.part, .parameters = work.parameters};
    List outputs, slopes;
    const auto forward = [&] { outputs = work.forward(work.input); };
    const auto backward = [&] { torch::autograd::backward(outputs, slopes); };
    const auto forget = [&] {
        for (const auto& tensor : work.learned) tensor.mutable_grad() = Tensor{};
        work.input.mutable_grad() = Tensor{};
    };
    cost.forward = count_operations(forward);
    cost.nodes = graph_nodes(outputs);
    for (const auto& output : outputs) slopes.push_back(torch::ones_like(output));
    cost.backward = count_operations(backward);
    forget();
    outputs.clear();
    // Of a copy, which stays only where the graph needs it.
    const auto graph = [&] {
        return work.forward(work.input.requires_grad() ? work.input * 1.0 : work.input.clone());
    };
    cost.kept_bytes = kept_bytes(graph, device);
    std::vector<double> forwards, backwards;
    for (int run = 0; run < warm_up + runs; ++run) {
        const double there = seconds_of(forward, device), back = seconds_of(backward, device);
        forget();
        if (run < warm_up) continue;
        forwards.push_back(there);
        backwards.push_back(back);
    }
    cost.forward_seconds = median(std::move(forwards));
    cost.backward_seconds = median(std::move(backwards));
    return cost;
}

List roots(const Tensor& state, const Tensor& penalty) {
    return penalty.defined() && penalty.requires_grad() ? List{state, penalty} : List{state};
}

/// The connection without its branch, and its mixer if it has one.
std::vector<Work> connection_works(Connection& connection, const Tensor& x, std::int64_t parameters,
                                   bool fixed) {
    const auto same = [](const Tensor& y) { return y; };
    std::vector<Work> works;
    works.push_back({"connection", parameters, x,
                     [&connection, same](const Tensor& state) {
                         const auto out = connection.forward(state, {same, same});
                         return roots(out.state, out.penalty);
                     },
                     connection.parameters()});
    const auto* const mixer = connection.mixer();
    if (mixer == nullptr || mixer->size() == 0) return works;
    auto raw = connection.mixing(x).raw.detach();
    if (fixed) raw = raw.flatten(0, 1)[0];  // one for all tokens
    works.push_back({"mixer",
                     mixer->size(),
                     raw.clone().requires_grad_(true),
                     [mixer](const Tensor& numbers) { return List{mixer->matrix(numbers)}; },
                     {}});
    return works;
}

/// Parameters of a block whose names begin with one of these.
std::int64_t parameters_of(const Block& block, std::initializer_list<std::string> beginnings) {
    std::int64_t count = 0;
    for (const auto& item : block.named_parameters())
        if (std::any_of(beginnings.begin(), beginnings.end(),
                        [&](const auto& beginning) { return item.key().starts_with(beginning); }))
            count += item.value().numel();
    return count;
}

std::vector<Work> works_of(Transformer& model, const CostRequest& r, torch::Device device) {
    auto& block = *model.blocks().front();
    const auto floats = torch::dtype(torch::kFloat).device(device);
    const auto state = [&](int64_t channels) {
        return torch::randn({r.batch, r.context, channels}, floats).requires_grad_(true);
    };
    const auto attention = parameters_of(block, {"attn.", "ln_1."}),
               mlp = parameters_of(block, {"mlp.", "ln_2."});
    const auto connections = parameter_count(block) - attention - mlp;
    auto& connection = block.connection(0);
    auto works = connection_works(connection, state(model.config().channels), connections / 2,
                                  model.config().static_mappings);
    for (const int sublayer : {0, 1})
        works.push_back({sublayer == 0 ? "attention" : "mlp", sublayer == 0 ? attention : mlp,
                         state(connection.branch_width()),
                         [branch = block.branch(sublayer)](const Tensor& x) { return List{branch(x)}; },
                         block.parameters()});
    works.push_back(
        {"model", parameter_count(model),
         torch::randint(vocabulary, {r.batch, r.context}, torch::dtype(torch::kLong).device(device)),
         [&model](const Tensor& tokens) {
             const auto out = model.forward(tokens);
             return roots(out.prediction, out.penalty);
         },
         model.parameters()});
    return works;
}

/// Attention and MLP of the asked-for width: with parallel streams that of each, else of all channels.
ModelConfig config_of(study::TrainRequest model, const CostRequest& r, int streams) {
    model.streams = streams;
    model.channels = r.width * streams;
    auto config = model_config(model);
    config.tokens = true;
    config.dimension = vocabulary;
    config.context = r.context + 1;
    auto one = config;
    one.layers = 1;
    const Transformer probe(one);
    const auto& block = *probe.blocks().front();
    if (block.connection(0).branch_width() != r.width) config.channels = r.width;
    constexpr double bytes = 8;  // a parameter and its gradient
    study::check_memory("the model", bytes * static_cast<double>(parameter_count(block) * config.layers),
                        "use fewer `streams`, `layers` or `permutations`");
    return config;
}

class Costing {
public:
    Costing(const CostRequest& request, torch::Device device, study::Observer& observer)
        : request_(request), device_(device), observer_(observer) {}

    void add_model(const std::string& name, const study::TrainRequest& asked) {
        const bool has_any = has_streams(asked.architecture.value_or("mixer"));
        const auto streams = has_any ? request_.streams : std::vector<int>{1};
        for (const int n : streams)
            add(name, n, [&](ModelCost& cost) {
                const auto config = config_of(asked, request_, n);
                Transformer model(config);
                model.to(device_);
                cost.words = model_words(config);
                cost.blocks = config.layers * config.cycles;
                measure(cost, works_of(model, request_, device_));
            });
    }

    void add_module(const std::string& variant) {
        for (const int n : request_.streams)
            add(variant + " module", n, [&](ModelCost& cost) {
                const auto connection = make_jpmhc_module(variant, n, request_.width);
                connection->to(device_);
                cost.words = fmt::format("{} = {} × {} channels", n * request_.width, n, request_.width);
                const auto x = torch::randn({request_.batch, request_.context, n * request_.width},
                                            torch::dtype(torch::kFloat).device(device_));
                measure(cost, connection_works(*connection, x.requires_grad_(true),
                                               parameter_count(*connection), false));
            });
    }

    std::vector<ModelCost> take() { return std::move(models_); }

private:
    /// A model that cannot be made is refused, and the others go on.
    void add(const std::string& name, int streams, const std::function<void(ModelCost&)>& fill) {
        ModelCost cost{.name = name, .streams = streams};
        observer_.stage(streams > 1 ? fmt::format("{}, n = {}", name, streams) : name);
        torch::manual_seed(1);
        try {
            fill(cost);
        } catch (const std::invalid_argument& error) {
            cost.refused = error.what();
        }
        models_.push_back(std::move(cost));
    }

    void measure(ModelCost& cost, const std::vector<Work>& works) {
        for (const auto& work : works) {
            study::throw_if_stopped(observer_);
            observer_.update(static_cast<int>(cost.parts.size()), static_cast<int>(works.size()));
            cost.parts.push_back(cost_of(work, request_.runs, device_));
        }
    }

    const CostRequest& request_;
    torch::Device device_;
    study::Observer& observer_;
    std::vector<ModelCost> models_;
};

}  // namespace

CostReport cost(const CostRequest& r, const study::Invocation& invocation, study::Observer& observer) {
    const auto device = chosen_device(r.device);
    use_threads(r.threads, device);
    const auto files = study::output_files(study::stem_of(r), r.plot);
    study::check_writable(files, invocation.settings, r.force);

    CostReport report;
    report.provenance = study::provenance(invocation, 1);
    report.tokens = std::int64_t{r.batch} * r.context;
    report.batch = fmt::format("{} sequence{} of {} tokens", r.batch, r.batch == 1 ? "" : "s", r.context);
    report.device = device_words(device);
    report.runs = r.runs;
    report.warm_up = warm_up;
    Costing costing(r, device, observer);
    for (const auto& [name, model] : study::costed_models(r)) costing.add_model(name, model);
    for (const auto& variant : r.modules) costing.add_module(variant);
    report.models = costing.take();
    if (std::all_of(report.models.begin(), report.models.end(),
                    [](const auto& m) { return !m.refused.empty(); }))
        throw std::invalid_argument(
            fmt::format("cost: {}: {}", report.models.front().name, report.models.front().refused));

    observer.stage("writing");
    write_cost_file(report, files.result);
    report.files.push_back(files.result.string());
    study::draw_or_warn(observer,
                        [&] { study::render_all(cost_drawing(report).figure, files.figures, report.files); });
    return report;
}

}  // namespace spectra::train
