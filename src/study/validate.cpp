#include "study/validate.hpp"

#include "layouts/layouts.hpp"
#include "report/validation_figure.hpp"
#include "report/validation_report.hpp"
#include "study/analysis.hpp"
#include "study/draw.hpp"
#include "study/output_files.hpp"
#include "study/request.hpp"
#include "weightfile/model_folder.hpp"
#include "weightfile/script_scan.hpp"
#include "weightfile/torch_file.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace spectra::study {

namespace {

using validation::Validation;
using weightfile::TensorFile;

bool is_ours(const TensorFile& file) {
    if (file.kind() != weightfile::Kind::torch_save) return false;
    const auto top = file.value();
    if (top.kind() != weightfile::Value::Kind::dict) return false;
    const auto format = top.find("format");
    return format && format->text() == "spectra-training";
}

bool must_run(const ValidateRequest& r, const TensorFile& file) {
    if (r.layout) return false;
    return file.kind() == weightfile::Kind::torch_script || (is_ours(file) && r.at != "zero");
}

layouts::LayoutOptions layout_options(const ValidateRequest& r) {
    layouts::LayoutOptions options;
    if (r.layout && r.layout->ends_with(".json"))
        options.map = layouts::read_layout_map(*r.layout);
    else
        options.layout = r.layout.value_or("");
    return options;
}

/// The mixers of a weight file, at zero input or at drawn ones.
std::vector<layouts::Stack> stacks_of(const ValidateRequest& r, const TensorFile& file) {
    auto options = layout_options(r);
    if (r.at != "data" && !r.inputs) return {layouts::read_stack(file, options)};
    std::vector<layouts::Stack> stacks;
    const int count = r.inputs.value_or(default_inputs);
    for (int k = 0; k < count; ++k) {
        options.input.draw = layouts::InputPoint::Draw{r.seed, k, count};
        stacks.push_back(layouts::read_stack(file, options));
        if (stacks.back().input == "every input") break;
    }
    return stacks;
}

/// How many triplets of every branch explain what was measured.
void add_alignment(const ValidateRequest& r, Validation& v, Observer& observer) {
    if (!r.alignment.value_or(true) || v.measurements.empty() || v.measurements.front().branches.empty())
        return;
    try {
        v.alignment = validation::align(v.measurements, v.measured->law, alignment_options(r, observer));
    } catch (const Stopped&) {  // what was measured stands
    }
}

Validation validate_one(const ValidateRequest& r, const TensorFile& file, const Measurer& measure,
                        Observer& observer) {
    const std::string& name = file.where();
    Validation v;
    v.file = name;
    if (must_run(r, file)) {
        measure(r, file, v, observer);
        add_alignment(r, v, observer);
    } else {
        if (r.input || !r.shape.empty() || r.token || r.all_tokens)
            throw std::invalid_argument(
                fmt::format("{}: {}: `input`, `shape` and `token` are for models that are run: checkpoints of "
                            "spectra train and TorchScript",
                            name, weightfile::name(file.kind())));
        v.step = file.training_step();
        validation::add_stacks(v, stacks_of(r, file), r.noise.value_or(default_noise), r.threads.value_or(0));
    }
    validation::conclude(v, r.require ? *r.require : validation::requirements_for(v));
    return v;
}

/// A file is validated in the same way alone and among others.
Invocation of_file(const Invocation& invocation, const std::string& file) {
    return invocation.with("file", std::filesystem::absolute(file).lexically_normal().string());
}

/// Opens every file, once, and refuses what can be refused before anything is computed.
std::vector<TensorFile> open_files(const ValidateRequest& r, const Invocation& invocation, const Measurer& measure) {
    std::vector<TensorFile> files;
    for (const auto& name : r.files) {
        const auto& file = files.emplace_back(TensorFile::open(name));
        if (must_run(r, file) && !measure)
            throw std::invalid_argument(fmt::format("{}: its model must be run by spectra-torch", name));
        try {
            if (!must_run(r, file) && !r.layout) layouts::recognise(file);
        } catch (const layouts::UnknownLayout& error) {
            throw std::invalid_argument(
                fmt::format("{}: `list` shows the keys, `layout` MAP.json names the mixers", error.what()));
        }
    }
    for (std::size_t k = 0; k < r.files.size(); ++k)
        check_writable(output_files(stem_of(r, k, invocation.settings), r.plot),
                       of_file(invocation, r.files[k]).settings, r.force);
    if (r.files.size() > 1 && !r.force)
        for (const auto& figure : output_files(stem_of(r, invocation.settings), r.plot).figures)
            refuse_symbolic_link(figure);
    return files;
}

}  // namespace

validation::AlignmentOptions alignment_options(const ValidateRequest& r, Observer& observer) {
    validation::AlignmentOptions options;
    options.explain = r.explain.value_or(options.explain);
    options.rank = r.aligned;
    options.stored = r.triplets;
    options.seed = r.seed;
    options.threads = r.threads.value_or(0);
    options.device = r.device == "cpu"    ? montecarlo::Device::cpu
                     : r.device == "cuda" ? montecarlo::Device::cuda
                                          : montecarlo::Device::automatic;
    options.before_rank = [&observer, shown = -1](int rank) mutable {
        throw_if_stopped(observer);
        if (rank == shown) return;
        shown = rank;
        observer.stage(fmt::format("keeping {} triplets of every branch", rank));
    };
    return options;
}

bool needs_a_model(const ValidateRequest& r) {
    if (r.list) return false;
    for (const auto& name : r.files)
        if (must_run(r, TensorFile::open(name))) return true;
    return false;
}

std::vector<std::string> scripts_to_run(const ValidateRequest& r) {
    std::vector<std::string> scripts;
    if (r.list) return scripts;
    for (const auto& name : r.files) {
        if (weightfile::is_model_folder(name)) continue;
        const weightfile::MappedFile mapped(name);
        const auto file = TensorFile::from_bytes(mapped.bytes(), name);
        if (file.kind() != weightfile::Kind::torch_script || !must_run(r, file)) continue;
        const weightfile::ZipArchive archive(mapped.bytes(), name);
        weightfile::refuse_unsafe_script(archive, weightfile::torch_root(archive, name), name);
        scripts.push_back(name);
    }
    return scripts;
}

Validated validate(const ValidateRequest& r, const Invocation& invocation, const Measurer& measure, Observer& observer) {
    check_conflicts(r);
    const auto opened = open_files(r, invocation, measure);
    throw_if_stopped(observer);
    Validated validated;
    for (std::size_t k = 0; k < r.files.size() && !observer.stopped(); ++k) {
        if (r.files.size() > 1) observer.prefix(fmt::format("{} of {}, ", k + 1, r.files.size()));
        observer.stage("measuring");
        const auto& v = validated.all.emplace_back(validate_one(r, opened[k], measure, observer));
        validated.pass = validated.pass && v.verdict.pass;
        validated.certified = validated.certified && v.certified();
        const auto files = output_files(stem_of(r, k, invocation.settings), r.plot);
        validation::write_validation_file(v, provenance(of_file(invocation, r.files[k]), r.seed), files.result);
        validated.files.push_back(files.result.string());
        observer.stage("drawing");
        draw_or_warn(observer,
                     [&] { render_all(validation::validation_figure(v), files.figures, validated.files); });
    }
    if (validated.all.size() > 1)
        draw_or_warn(observer, [&] {
            render_all(validation::evolution_figure(validated.all),
                       output_files(stem_of(r, invocation.settings), r.plot).figures, validated.files);
        });
    if (validated.all.size() < r.files.size()) validated.pass = false;  // stopped
    return validated;
}

}  // namespace spectra::study
