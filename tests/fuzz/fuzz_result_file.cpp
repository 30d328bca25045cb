#include "report/result_file.hpp"

#include "base/text.hpp"
#include "report/runs_file.hpp"
#include "report/stored_report.hpp"
#include "written_file.hpp"

using namespace spectra;

namespace {

/// What is asked of laws that were read; garbage may give any number, and must give one.
void use(const report::Report& report) {
    for (const auto& mixer : report.network.mixers)
        if (!mixer.allFinite()) std::abort();
    std::vector<const Spectrum*> laws;
    for (const auto& theory : report.theories) laws.push_back(&theory.law);
    if (report.simulation) laws.push_back(&report.simulation->law);
    for (const auto* law : laws) {
        (void)law->metrics();
        (void)law->log_quantile(0.5);
        (void)agreement(*law, *laws.front());
    }
}

void use(const h5::File& file, const report::StoredRun& stored) {
    (void)report::stored_description(file, stored);  // never throws
    fuzz::must_read_or_refuse([&] {
        report::RunsReport all;
        all.runs.push_back(report::read_run(file, stored));
        (void)to_json(all);
        (void)summary_csv(all);
        (void)terminal_page(all, 80, false, true);
    });
    fuzz::must_read_or_refuse([&] { use(report::read_report(file, stored)); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::optional<h5::File> file;
    fuzz::must_read_or_refuse([&] { file = fuzz::open_hdf5(data, size); });
    if (!file) return 0;
    fuzz::must_read_or_refuse([&] {
        const auto page = report::describe_result_file(*file, "input");
        // Nothing on it is for the terminal to obey.
        if (printable(page, Lines::keep) != page) std::abort();
    });
    const report::StoredRun whole{"a", "input"}, part{"a", "input", "runs/a"};
    bool parts = false;
    fuzz::must_read_or_refuse([&] { parts = file->exists(part.group); });
    use(*file, parts ? part : whole);
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
