#include "validate.hpp"

#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "console/interrupt.hpp"
#include "layouts/listing.hpp"
#include "report/terminal.hpp"
#include "report/validation_json.hpp"
#include "report/validation_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace spectra::cli {

using namespace console;

namespace {

using Json = nlohmann::ordered_json;
using study::ValidateRequest;

int list_files(const ValidateRequest& r) {
    auto objects = Json::array();
    for (const auto& name : r.files) {
        const auto file = weightfile::TensorFile::open(name);
        if (r.json)
            objects.push_back(layouts::listing_json(file));
        else
            print(layouts::listing(file, page_columns()) + (r.files.size() > 1 ? "\n" : ""));
    }
    if (r.json) print_json(objects.size() == 1 ? objects.front() : objects);
    return done;
}

void print_validated(const ValidateRequest& r, const study::Validated& validated) {
    const auto& all = validated.all;
    if (r.json) {
        auto objects = Json::array();
        for (const auto& v : all) objects.push_back(validation::validation_json(v));
        Json object = all.size() == 1
                          ? objects.front()
                          : Json{{"checkpoints", objects}, {"verdict", validated.pass ? "PASS" : "FAIL"}};
        object["files"] = validated.files;
        print_json(object);
        return;
    }
    if (r.quiet) {
        for (const auto& v : all)
            for (const auto& reason : v.verdict.reasons) print_error(fmt::format("{}: FAIL: {}", v.file, reason));
        return;
    }
    for (const auto& v : all)
        print(validation::validation_page(v, page_columns(), use_colour(), report::locale_is_utf8()) + "\n",
              Colours::kept);
    if (all.size() > 1) print(validation::evolution_table(all) + "\n");
    print(fmt::format("files: {}\n", fmt::join(validated.files, ", ")));
}

}  // namespace

bool confirm_scripts(const ValidateRequest& r) {
    const auto scripts = study::scripts_to_run(r);
    if (r.run_script || scripts.empty()) return false;
    const std::string what = scripts.front() +
                             ": a TorchScript module is a program and would run with your rights (SECURITY.md)";
    if (!ask(what + ". Run it?"))
        throw std::invalid_argument(what + "; use --run-script if you trust its author");
    return true;
}

int validate(const ValidateRequest& r, const study::Invocation& invocation, const study::Measurer& measure) {
    check_conflicts(r);
    if (r.list) return list_files(r);
    confirm_scripts(r);
    catch_interrupts(was_interrupted);
    study::Validated validated;
    {
        Progress progress(!r.quiet);
        validated = study::validate(r, invocation, measure, progress);
    }
    print_validated(r, validated);
    for (const auto& v : validated.all)
        if (const auto* p = v.predicted(); p != nullptr && !p->certificate.certified)
            print_error(fmt::format("{}: the prediction is not certified: {}", v.file, p->certificate.message));
    if (interrupted()) return was_interrupted;
    if (!validated.pass) return verdict_negative;
    return validated.certified ? done : not_finished;
}

}  // namespace spectra::cli
