#include "claims/training.hpp"

#include "base/refuse.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace spectra::claims {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// The hybrid with causal pooling, and as the paper has it: pooled over the whole sequence, and started as it is there.
struct Hybrid {
    const char* name;
    Fields fields;
};
const Hybrid causal{"edelta", {{"architecture", "edelta"}}},
    published{"edelta-published",
              {{"architecture", "edelta"}, {"pooling", "published"}, {"start", "published"}}};

/// One of them with other settings, named `suffix`.
void add_hybrid(std::vector<Series>& out, const std::string& task, const Hybrid& hybrid,
                const std::string& suffix, const Fields& settings, double seconds) {
    Fields fields = hybrid.fields;
    fields.insert(fields.end(), settings.begin(), settings.end());
    out.push_back({fmt::format("{}-{}{}", task, hybrid.name, suffix), task, std::move(fields), seconds});
}

/// The five models of the EΔ paper. Those that pool over all tokens are run causal, and as published: `-published`.
void add_models(std::vector<Series>& out, const std::string& task) {
    add_hybrid(out, task, causal, "", {}, 160);
    out.push_back({task + "-mhc", task, {{"architecture", "mhc"}}, 170});
    out.push_back({task + "-ddl", task, {{"architecture", "ddl"}}, 65});
    out.push_back({task + "-jpmhc", task, {{"architecture", "jpmhc"}}, 60});
    out.push_back({task + "-gpt", task, {{"architecture", "gpt"}}, 30});
    add_hybrid(out, task, published, "", {}, 160);
    out.push_back({task + "-ddl-published", task, {{"architecture", "ddl"}, {"pooling", "published"}}, 65});
}

void add_stack(std::vector<Series>& out, const std::string& task, const std::string& mixer, double seconds) {
    out.push_back({fmt::format("{}-{}-stack", task, mixer), task, {{"mixer", mixer}}, seconds});
}

/// Operators alone on y = −x: so small that a CPU is faster than a GPU, and one thread repeats every bit.
void add_reflection(std::vector<Series>& out) {
    const auto add = [&](const std::string& operation, int samples, const char* log_every, double seconds) {
        out.push_back({fmt::format("reflection-{}-{}", operation, samples),
                       "reflection",
                       {{"architecture", operation},
                        {"samples", std::to_string(samples)},
                        {"log-every", log_every},
                        {"device", "cpu"},
                        {"threads", "1"}},
                       seconds});
    };
    for (const int samples : {10, 25, 50, 100, 200, 500}) {
        add("ddl", samples, samples == 500 ? "20" : "100", 10);
        add("jpmhc", samples, "100", 60);
    }
    add("edelta", 500, "20", 15);
}

/// MGT, its ablations and Post-LN on a text: 2 ms per block and step of Post-LN, 3.5 of MGT, and a tenth of a second per
/// block for each of three rows of the log, as estimated from other models.
void add_mgt(std::vector<Series>& out) {
    const auto add = [&](const std::string& name, const std::string& architecture, int layers, int channels) {
        const double per_step = layers * (architecture == "mgt"       ? 3.5e-3
                                          : architecture == "post-ln" ? 2e-3
                                                                      : 3e-3);
        out.push_back({fmt::format("text-{}-{}", name, layers),
                       "text",
                       {{"architecture", architecture},
                        {"layers", std::to_string(layers)},
                        {"channels", std::to_string(channels)},
                        {"batch", "32"},
                        {"steps", "500"},
                        {"log-every", "250"},
                        {"validation-samples", "500"}},
                       std::round(500 * per_step + 0.3 * layers)});
    };
    for (const int layers : {12, 24, 48, 100})
        for (const char* const name : {"post-ln", "mgt"}) add(name, name, layers, 256);
    for (const char* const name : {"mgt-mhc", "mgt-ddl"}) add(name, name, 48, 256);
    // 12 C² parameters per block of Post-LN and 16 C² of MGT: 20 million in all.
    for (const auto& [layers, plain, full] :
         {std::tuple{24, 264, 228}, std::tuple{48, 188, 160}, std::tuple{100, 128, 112}}) {
        add("post-ln-20m", "post-ln", layers, plain);
        add("mgt-20m", "mgt", layers, full);
    }
}

/// Hyper-connections and plain residuals with 8 blocks, and recursive models, on a text.
void add_text_models(std::vector<Series>& out) {
    const auto add = [&](const std::string& name, const std::string& field, const std::string& which,
                         double seconds) {
        out.push_back({"text-" + name,
                       "text",
                       {{field, which}, {"layers", "8"}, {"validation-samples", "500"}},
                       seconds});
    };
    add("identity-stack", "mixer", "identity", 70);
    add("bistochastic-stack", "mixer", "bistochastic", 110);
    add("mhc-lite", "architecture", "mhc-lite", 90);
    add("shc", "architecture", "shc", 120);
    add("hc", "architecture", "hc", 70);
    add("gpt", "architecture", "gpt", 40);
    for (const char* const mixer : {"cayley", "bistochastic"})
        out.push_back({fmt::format("text-recursive-{}", mixer),
                       "text",
                       {{"architecture", "recursive"},
                        {"mixer", mixer},
                        {"steps", "1000"},
                        {"log-every", "50"},
                        {"validation-samples", "500"}},
                       120});
}

/// Steps at the sizes of two papers, timed.
void add_speeds(std::vector<Series>& out) {
    const auto add = [&](const std::string& name, const std::string& field, const std::string& which,
                         const std::string& channels) {
        out.push_back({"speed-" + name,
                       "gyroscope",
                       {{field, which},
                        {"layers", "2"},
                        {"channels", channels},
                        {"heads", "8"},
                        {"steps", "300"},
                        {"log-every", "300"},
                        {"validation-samples", "50"}},
                       30,
                       true});
    };
    add("gpt", "architecture", "gpt", "512");
    add("jpmhc", "architecture", "jpmhc", "2048");
    add("identity-stack", "mixer", "identity", "2048");
    // Blocks of sHC's paper with about as many tokens per batch, two of its twelve.
    for (const int streams : {2, 4, 6, 7})
        out.push_back({fmt::format("speed-mhc-lite-{}", streams),
                       "gyroscope",
                       {{"architecture", "mhc-lite"},
                        {"streams", std::to_string(streams)},
                        {"layers", "2"},
                        {"channels", std::to_string(768 * streams)},
                        {"heads", "12"},
                        {"batch", "32"},
                        {"steps", "300"},
                        {"log-every", "300"},
                        {"validation-samples", "50"}},
                       60,
                       true});
}

std::vector<Series> make_series() {
    std::vector<Series> out;
    add_models(out, "stability");
    out.push_back(
        {"stability-jpmhc-exact", "stability", {{"architecture", "jpmhc"}, {"cayley-iterations", "0"}}, 60});
    add_stack(out, "stability", "bistochastic", 80);
    for (const char* const task : {"near-pi-single", "near-pi-multi"}) {
        add_stack(out, task, "bistochastic", 80);
        add_stack(out, task, "identity", 50);
    }
    add_models(out, "gyroscope");
    for (const auto* const hybrid : {&causal, &published}) {
        for (const std::string weight : {"0", "0.05", "0.2"})
            add_hybrid(out, "gyroscope", *hybrid, "-weight-" + weight, {{"gate-weight", weight}}, 160);
        add_hybrid(out, "gyroscope", *hybrid, "-3x184", {{"layers", "3"}, {"channels", "184"}}, 90);
        add_hybrid(out, "gyroscope", *hybrid, "-2x224", {{"layers", "2"}, {"channels", "224"}}, 70);
    }
    add_models(out, "near-pi-single");
    add_models(out, "near-pi-multi");
    for (const std::string bias : {"-1.5", "1.5"}) {
        for (const char* const task : {"stability", "gyroscope"})
            add_hybrid(out, task, causal, "-bias-" + bias, {{"gate-bias", bias}}, 160);
        for (const char* const task : {"near-pi-single", "near-pi-multi"})
            add_hybrid(out, task, published, "-bias-" + bias, {{"gate-bias", bias}}, 140);
    }
    add_reflection(out);
    add_mgt(out);
    add_text_models(out);
    add_speeds(out);
    return out;
}

}  // namespace

bool Training::on_gpu() const {
    return std::none_of(fields.begin(), fields.end(),
                        [](const auto& field) { return field.first == "device"; });
}

std::vector<Training> Series::trainings() const {
    std::vector<Training> out;
    for (const int seed : training_seeds) {
        out.push_back({fmt::format("{}-{}", name, seed), task, fields, seconds, alone});
        out.back().fields.emplace_back("seed", std::to_string(seed));
    }
    return out;
}

const std::vector<Series>& training_series() {
    static const std::vector<Series> all = make_series();
    return all;
}

bool is_training_text(std::string_view text) {
    constexpr std::uint64_t offset = 0xcbf29ce484222325, prime = 0x100000001b3;  // FNV-1a
    const auto hash = std::accumulate(text.begin(), text.end(), offset, [](std::uint64_t h, char c) {
        return (h ^ static_cast<unsigned char>(c)) * prime;
    });
    return text.size() == 1115394 && hash == 0x4016c93c3be74c18;
}

double TrainingResult::at(const std::string& value) const {
    const auto found = values.find(value);
    if (found == values.end())
        throw std::out_of_range(fmt::format("training {} has no value '{}'", name, value));
    return found->second;
}

const std::vector<double>& TrainingResult::column(const std::string& wanted) const {
    const auto found = columns.find(wanted);
    if (found == columns.end())
        throw std::out_of_range(fmt::format("training {} has no column '{}'", name, wanted));
    return found->second;
}

TrainingResult training_from_json(const std::string& text, const std::string& where) {
    const auto json = parse_json(text, where);
    try {
        TrainingResult out{json.at("name"), json.at("machine"), json.at("version"), json.at("values"), {}};
        for (const auto& [name, numbers] : json.at("columns").items())
            for (const auto& number : numbers)
                out.columns[name].push_back(number.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                                             : number.get<double>());
        return out;
    } catch (const nlohmann::json::exception&) {
        refuse(where, "is not the result of a training");
    }
}

std::string to_json(const TrainingResult& result) {
    using nlohmann::json;
    const auto lines = [](const auto& map) {
        std::string out;
        for (const auto& [name, value] : map)
            out += fmt::format("{}\n  {}: {}", out.empty() ? "" : ",", json(name).dump(), json(value).dump());
        return out;
    };
    return fmt::format(
        "{{\n \"name\": {},\n \"machine\": {},\n \"version\": {},\n \"values\": {{{}\n }},\n \"columns\": {{{}\n }}\n}}\n",
        json(result.name).dump(), json(result.machine).dump(), json(result.version).dump(),
        lines(result.values), lines(result.columns));
}

TrainingResults::TrainingResults(std::vector<TrainingResult> results) : results_(std::move(results)) {
    std::sort(results_.begin(), results_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
}

const TrainingResult* TrainingResults::find(std::string_view name) const {
    const auto found =
        std::find_if(results_.begin(), results_.end(), [&](const auto& r) { return r.name == name; });
    return found == results_.end() ? nullptr : &*found;
}

std::vector<const TrainingResult*> TrainingResults::of(std::string_view series) const {
    std::vector<const TrainingResult*> out;
    for (const int seed : training_seeds) {
        const auto* const result = find(fmt::format("{}-{}", series, seed));
        if (result == nullptr) return {};
        out.push_back(result);
    }
    return out;
}

bool TrainingResults::have(const std::vector<std::string>& series) const {
    return std::none_of(series.begin(), series.end(), [&](const auto& name) { return of(name).empty(); });
}

const TrainingResults& stored_trainings() {
    static const TrainingResults all = [] {
        std::vector<TrainingResult> out;
        for (const auto& text : embedded_trainings())
            out.push_back(training_from_json(text, "stored training"));
        return TrainingResults(std::move(out));
    }();
    return all;
}

TrainingResults read_trainings(const std::filesystem::path& folder) {
    std::vector<TrainingResult> out;
    if (!std::filesystem::is_directory(folder)) return {};
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".json")
            out.push_back(training_from_json(read_text(entry.path()), entry.path().string()));
    return TrainingResults(std::move(out));
}

}  // namespace spectra::claims
