#include "study/validate_request.hpp"

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "layouts/layouts.hpp"
#include "weightfile/model_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace spectra::study {

namespace {

/// What a default name carries beside the file's name.
std::string suffix_of(const Settings& settings) {
    return file_name_suffix(settings, {"command", "layout"});
}

}  // namespace

void check_conflicts(const ValidateRequest& r) {
    const auto refuse = [](const std::string& why) { throw std::invalid_argument("validate: " + why); };
    if (r.files.empty())
        refuse("no file given; use a checkpoint of spectra train, a TorchScript, torch.save or safetensors file, or a "
               "model's folder");
    if (r.at == "zero" && (r.input || r.inputs))
        refuse("`at` zero cannot be combined with `input` or `inputs`: zero is one input");
    if (r.input && !r.shape.empty())
        refuse("`input` cannot be combined with `shape`: one gives what the other draws");
    if (r.triplets > 0 && r.all_tokens)
        refuse("`triplets` cannot be combined with `token` all: a model file holds one token's branches");
    if (r.triplets > 0 && !r.alignment.value_or(true))
        refuse("`triplets` cannot be combined with `aligned` none: they are what is looked at");
    const auto& names = layouts::layout_names();
    if (r.layout && !r.layout->ends_with(".json") && std::find(names.begin(), names.end(), *r.layout) == names.end())
        throw std::invalid_argument(
            fmt::format("`layout` {}: no such layout{}", in_quotes(*r.layout), suggestion(*r.layout, names)));
}

namespace {

std::string name_of(const std::string& file) {
    return weightfile::model_name(file);
}

}  // namespace

std::string stem_of(const ValidateRequest& r, const Settings& settings) {
    return r.out.value_or((r.files.size() > 1 ? "spectra-validate" : "spectra-validate-" + name_of(r.files.front())) +
                          suffix_of(settings));
}

std::string stem_of(const ValidateRequest& r, std::size_t index, const Settings& settings) {
    if (r.files.size() == 1) return stem_of(r, settings);
    const auto name = name_of(r.files[index]);
    const auto same =
        std::count_if(r.files.begin(), r.files.end(), [&](const auto& f) { return name_of(f) == name; });
    const auto number = std::to_string(index + 1);
    if (r.out) return *r.out + "-" + number;
    return "spectra-validate-" + name + suffix_of(settings) + (same > 1 ? "-" + number : "");
}

}  // namespace spectra::study
