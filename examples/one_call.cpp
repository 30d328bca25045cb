// The whole analysis in one call, as the program spectra runs it: theory and simulation of ten Cayley layers, compared
// and written to one_call.h5 in the current folder.
//
// Prints each stage as it begins, then what was found: the theory's certificate, check by check, the share of singular
// values near 1, and how far theory and simulation are apart.

#include <jacobian_spectra/study/analysis.hpp>

#include <cstdio>
#include <exception>

namespace {

/// Prints stages and warnings. To stop a study, override stop().
class Printer final : public spectra::study::Observer {
public:
    void stage(const std::string& name) override { std::printf("%s ...\n", name.c_str()); }
    void warn(const std::string& message) override { std::fprintf(stderr, "%s\n", message.c_str()); }
};

}  // namespace

int main() {
    spectra::study::Request request;
    request.mixer = "cayley";
    request.depth = 10;
    request.samples = 40;
    request.methods = {spectra::dyson::Method::operator_valued};
    request.out = "one_call";
    request.plots = {};  // no figure
    request.force = true;
    try {
        Printer printer;
        const auto report = spectra::study::analyse(request, "examples/one_call", printer);
        if (!report) return 0;  // another process of an MPI run has it
        const auto& theory = report->theories.front();
        std::printf("theory        %s\n", theory.summary.message.c_str());
        for (const auto& check : theory.summary.checks)
            std::printf("  %-22s %.1e, limit %.1e\n", check.what.c_str(), check.found, check.limit);
        std::printf("in window     %.4f\n", theory.law.metrics().window);
        for (const auto& [pair, agreement] : report->agreement)
            std::printf("W1            %.4f (%s)\n", agreement.wasserstein1, spectra::report::name(pair).c_str());
        for (const auto& file : report->files) std::printf("wrote         %s\n", file.c_str());
        return theory.summary.certified ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
