#include "study/train_request.hpp"

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "tasks/tasks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace spectra::study {

const std::vector<std::string>& architecture_choices() {
    static const std::vector<std::string> names{
        "gpt",   "post-ln", "ddl",           "delta",         "mhc", "mhc-lite",
        "jpmhc", "edelta",  "edelta-cayley", "edelta-stream", "shc", "hc",
        "mgt",   "mgt-mhc", "mgt-ddl",       "recursive",     "trm"};
    return names;
}

const std::vector<std::string>& mixer_choices() {
    static const std::vector<std::string> names{
        "identity", "hyper",       "bistochastic",  "permutation",     "cayley",   "orthogonal",
        "rotation", "householder", "cayley-hybrid", "spectral-sphere", "grassmann"};
    return names;
}

void check_applies(const TrainRequest& r, const std::string& command) {
    const std::string architecture = r.architecture.value_or(r.mixer ? "mixer" : "gpt");
    const std::string family = architecture == "mhc"        ? "bistochastic"
                               : architecture == "mhc-lite" ? "permutation"
                                                            : r.mixer.value_or("");
    const auto only = [&](bool given, const std::string& option, const std::vector<std::string>& models,
                          const std::vector<std::string>& families = {}) {
        const auto has = [](const auto& list, const auto& name) {
            return std::find(list.begin(), list.end(), name) != list.end();
        };
        if (!given || has(models, architecture) || has(families, family)) return;
        auto all = models;
        for (const auto& name : families) all.push_back("`mixer` " + name);
        throw std::invalid_argument(fmt::format("{}: {} does not apply to {}; only to {}", command, option,
                                                r.mixer ? *r.mixer + " mixers" : architecture,
                                                fmt::join(all, ", ")));
    };
    only(r.norm.has_value(), "`norm`", {"gpt", "post-ln", "mgt", "mgt-mhc", "mgt-ddl"});
    only(r.value_injection, "`value_injection`", {"ddl"});
    only(r.beta_scale.has_value(), "`beta_scale`", {"mgt", "mgt-ddl"});
    only(r.beta_offset.has_value(), "`beta_offset`", {"mgt", "mgt-ddl"});
    only(r.gate_regulariser.has_value(), "`gate_regulariser`", {"edelta", "edelta-stream"},
         {"cayley-hybrid"});
    only(r.sinkhorn_clamp.has_value(), "`sinkhorn_clamp`", {"mhc"}, {"bistochastic"});
    only(r.temperature.has_value(), "`temperature`", {"mhc", "mhc-lite", "jpmhc"},
         {"bistochastic", "permutation"});
    only(r.answer_cycles || r.supervision_steps || r.puzzle_tokens || r.halt_exploration || r.puzzle_rate,
         "`answer_cycles`, `supervision_steps`, `halt_exploration`, `puzzle_tokens` or `puzzle_lr`", {"trm"});
    only(r.permutations.has_value(), "`permutations`", {"mhc-lite"}, {"permutation"});
    if (r.permutation_basis && !r.permutations)
        throw std::invalid_argument(command + ": `permutation_basis` requires `permutations` K");
    if (r.task == "reflection" && r.value_injection)
        throw std::invalid_argument(command + ": `value_injection` does not apply to the task reflection");
}

void check_conflicts(const TrainRequest& r) {
    if (r.task.empty())
        throw std::invalid_argument(
            fmt::format("train: which task? use one of {}", fmt::join(tasks::task_names(), ", ")));
    const auto& names = tasks::task_names();
    if (std::find(names.begin(), names.end(), r.task) == names.end())
        throw std::invalid_argument(
            fmt::format("train {}: unknown{}", in_quotes(r.task), suggestion(r.task, names)));
    const auto refuse = [](const std::string& why) { throw std::invalid_argument("train: " + why); };
    const bool reflection = r.task == "reflection";
    const bool trm = r.architecture == "trm", grids = r.task == "grid" || r.task == "arc";
    if (r.architecture && r.mixer && *r.architecture != "recursive" && !trm)
        refuse(
            "`architecture` cannot be combined with `mixer` (except for recursive and trm): both choose the model");
    if (trm && !grids) refuse(fmt::format("{}: trm learns grids only; use the task grid or arc", r.task));
    if (trm && r.accumulate.value_or(1) > 1)
        refuse("`accumulate`: trm carries its states from step to step of one batch; must be 1");
    if (r.task == "arc" && !r.grids) refuse("arc: no puzzles given; use `grids` FILE or FOLDER");
    if (r.grids && r.task != "arc") refuse("`grids` only applies to the task arc");
    if (r.difficulty && r.task != "grid") refuse("`difficulty` only applies to the task grid");
    if (reflection && (r.layers || r.channels || r.cycles || r.mixer))
        refuse("reflection trains a single operator; use `architecture` ddl, jpmhc or edelta only");
    if (reflection && r.architecture && *r.architecture != "ddl" && *r.architecture != "jpmhc" &&
        *r.architecture != "edelta")
        refuse(fmt::format("reflection `architecture` {}: must be ddl, jpmhc or edelta", *r.architecture));
    if (reflection && !r.architecture) refuse("reflection: requires `architecture` ddl, jpmhc or edelta");
    check_applies(r, "train");
    if (r.task == "text" && !r.text) refuse("text: no file given; use `text` FILE");
    if (r.task != "text" && (r.text || r.context || r.vocabulary))
        refuse("`text`, `context` and `vocabulary` only apply to the task text");
    if (r.vocabulary && *r.vocabulary != 0 && *r.vocabulary < 256)
        refuse(fmt::format("`vocabulary` {}: must be 0 for the bytes of the text, or at least 256",
                           *r.vocabulary));
    if (r.precision == "bf16" && r.device == "cpu") refuse("`precision` bf16: requires CUDA");
    if (r.stop_after && *r.stop_after > r.steps)
        refuse(fmt::format("`stop_after` {}: must be at most `steps` {}", *r.stop_after, r.steps));
}

std::string stem_of(const TrainRequest& r) {
    const std::string model = r.architecture.value_or(r.mixer ? *r.mixer : "gpt");
    return r.out.value_or(fmt::format("spectra-{}-{}", r.task, model));
}

}  // namespace spectra::study
