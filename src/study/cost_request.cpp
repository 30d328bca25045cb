#include "study/cost_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace spectra::study {

std::vector<CostedModel> costed_models(const CostRequest& r) {
    std::vector<CostedModel> all;
    const auto add = [&](const std::string& name, const auto& choose) {
        auto model = r.model;
        choose(model);
        all.push_back({name, std::move(model)});
    };
    for (const auto& name : r.architectures)
        add(name, [&](TrainRequest& model) { model.architecture = name; });
    for (const auto& name : r.mixers) add(name + " mixers", [&](TrainRequest& model) { model.mixer = name; });
    return all;
}

void check_conflicts(const CostRequest& r) {
    auto models = costed_models(r);
    if (models.empty() && r.modules.empty())
        throw std::invalid_argument("cost: of what? use `architecture`, `mixer` or `modules`");
    if (models.empty()) {  // modules have no options
        auto none = r.model;
        none.architecture = "modules";
        models.push_back({"modules", std::move(none)});
    }
    // Options are for those models that have them, and one must.
    std::string why;
    for (const auto& [name, model] : models) {
        try {
            check_applies(model, "cost");
            return;
        } catch (const std::invalid_argument& error) {
            if (why.empty()) why = error.what();
        }
    }
    throw std::invalid_argument(why);
}

std::string stem_of(const CostRequest& r) {
    auto names = r.architectures;
    names.insert(names.end(), r.mixers.begin(), r.mixers.end());
    names.insert(names.end(), r.modules.begin(), r.modules.end());
    return r.out.value_or(fmt::format("spectra-cost-{}", fmt::join(names, "-")));
}

}  // namespace spectra::study
