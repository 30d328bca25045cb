#include "validate.hpp"

#include "analyse.hpp"
#include "weightfile/script_scan.hpp"
#include "weightfile/torch_file.hpp"
#include "console.hpp"
#include "exit_status.hpp"
#include "interrupt.hpp"
#include "base/text.hpp"
#include "output_files.hpp"
#include "report/terminal.hpp"
#include "layouts/layouts.hpp"
#include "layouts/listing.hpp"
#include "report/validation_figure.hpp"
#include "report/validation_json.hpp"
#include "report/validation_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace spectra::cli {

namespace {

using Json = nlohmann::ordered_json;
using weightfile::TensorFile;
using validation::Validation;

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

int list_files(const ValidateRequest& r) {
    auto objects = Json::array();
    for (const auto& name : r.files) {
        const auto file = TensorFile::open(name);
        if (r.json)
            objects.push_back(layouts::listing_json(file));
        else
            print(layouts::listing(file, page_columns()) + (r.files.size() > 1 ? "\n" : ""));
    }
    if (r.json) print_json(objects.size() == 1 ? objects.front() : objects);
    return done;
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

Validation validate_one(const ValidateRequest& r, const std::string& name, const Measurer& measure) {
    const auto file = TensorFile::open(name);
    Validation v;
    v.file = name;
    if (must_run(r, file)) {
        measure(r, file, v);
    } else {
        if (r.input || !r.shape.empty() || r.token || r.all_tokens)
            throw std::invalid_argument(
                fmt::format("{}: {}: --input, --shape and --token are for models that are run: checkpoints "
                            "of spectra train "
                            "and TorchScript",
                            name, weightfile::name(file.kind())));
        v.step = file.training_step();
        validation::add_stacks(v, stacks_of(r, file), r.noise.value_or(0.05), r.threads.value_or(0));
    }
    validation::conclude(v, r.require.value_or(validation::default_requirements()));
    return v;
}

void draw(const plot::Figure& figure, const std::vector<std::filesystem::path>& paths,
          std::vector<std::string>& written) {
    try {
        for (const auto& path : paths) {
            plot::render(figure, path);
            written.push_back(path.string());
        }
    } catch (const std::runtime_error& error) {
        print_error(fmt::format("warning: no figure: {}", error.what()));
    }
}

}  // namespace

bool needs_a_model(const ValidateRequest& r) {
    if (r.list) return false;
    for (const auto& name : r.files)
        if (must_run(r, TensorFile::open(name))) return true;
    return false;
}

bool confirm_scripts(const ValidateRequest& r) {
    if (r.list) return false;
    bool confirmed = false;
    for (const auto& name : r.files) {
        const weightfile::MappedFile mapped(name);
        const auto file = TensorFile::from_bytes(mapped.bytes(), name);
        if (file.kind() != weightfile::Kind::torch_script || !must_run(r, file)) continue;
        const weightfile::ZipArchive archive(mapped.bytes(), name);
        weightfile::refuse_unsafe_script(archive, weightfile::torch_root(archive, name), name);
        if (r.run_script || confirmed) continue;
        const std::string what =
            name + ": a TorchScript module is a program, and would run with your rights (SECURITY.md)";
        if (!ask(what + ". Run it?"))
            throw std::invalid_argument(what + "; accepted: --run-script, if you trust its author");
        confirmed = true;
    }
    return confirmed;
}

int validate(const ValidateRequest& r, const std::string& command, const Measurer& measure) {
    check_conflicts(r);
    if (r.list) return list_files(r);
    confirm_scripts(r);
    for (const auto& name : r.files) {
        const auto file = TensorFile::open(name);
        if (must_run(r, file) && !measure)
            throw std::invalid_argument(fmt::format("{}: its model must be run by spectra-torch", name));
        try {
            if (!must_run(r, file) && !r.layout) layouts::recognise(file);
        } catch (const layouts::UnknownLayout& error) {
            throw std::invalid_argument(
                fmt::format("{}: --list shows the keys, --layout MAP.json names the mixers", error.what()));
        }
    }
    for (std::size_t k = 0; k < r.files.size(); ++k)
        check_writable(output_files(stem_of(r, k), r.plot), r.force);
    if (r.files.size() > 1 && !r.force)
        for (const auto& figure : output_files(stem_of(r), r.plot).figures) refuse_symbolic_link(figure);

    catch_interrupts();
    Progress progress(!r.quiet);
    std::vector<Validation> all;
    std::vector<std::string> written;
    for (std::size_t k = 0; k < r.files.size() && !interrupted(); ++k) {
        if (r.files.size() > 1) progress.prefix(fmt::format("{} of {}, ", k + 1, r.files.size()));
        progress.stage("measuring");
        all.push_back(validate_one(r, r.files[k], measure));
        const auto files = output_files(stem_of(r, k), r.plot);
        validation::write_validation_file(all.back(), provenance(command, r.seed), files.result);
        written.push_back(files.result.string());
        progress.stage("drawing");
        draw(validation::validation_figure(all.back()), files.figures, written);
    }
    if (all.size() > 1)
        draw(validation::evolution_figure(all), output_files(stem_of(r), r.plot).figures, written);
    progress.clear();

    bool pass = true, certified = true;
    for (const auto& v : all) {
        pass = pass && v.verdict.pass;
        certified = certified && v.certified();
    }
    if (r.json) {
        auto objects = Json::array();
        for (const auto& v : all) objects.push_back(validation::validation_json(v));
        Json object = all.size() == 1 ? objects.front()
                                      : Json{{"checkpoints", objects}, {"verdict", pass ? "PASS" : "FAIL"}};
        object["files"] = written;
        print_json(object);
    } else {
        for (const auto& v : all)
            print(validation::validation_page(v, page_columns(), use_colour(), report::locale_is_utf8()) +
                      "\n",
                  Colours::kept);
        if (all.size() > 1) print(validation::evolution_table(all) + "\n");
        if (!r.quiet) print(fmt::format("files: {}\n", fmt::join(written, ", ")));
    }
    for (const auto& v : all)
        if (const auto* p = v.predicted(); p != nullptr && !p->doubt.empty())
            print_error(fmt::format("{}: the prediction is not certified: {}", v.file, p->doubt));
    if (interrupted()) return was_interrupted;
    if (!pass) return verdict_negative;
    return certified ? done : not_finished;
}

}  // namespace spectra::cli
