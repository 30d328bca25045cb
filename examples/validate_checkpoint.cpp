// Validates a checkpoint: validate_checkpoint FILE [NOISE]
//
// Reads the mixers of a trained model from its weight file (torch.save or safetensors), without Torch and
// without running the model, and predicts the singular values of its Jacobian. A weight file holds no
// branches: their total variance Lσ² is assumed (NOISE, 0.05 by default).
//
// Prints the layout that the tensor names belong to, how far the mixers are from bistochastic and from
// orthogonal, the predicted metrics, and the verdict. Exit status 1: a requirement is not kept; 2: the file
// cannot be read.

#include <jacobian_spectra/layouts/layouts.hpp>
#include <jacobian_spectra/validation/validation.hpp>
#include <jacobian_spectra/weightfile/tensor_file.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "usage: validate_checkpoint FILE [NOISE]\n");
        return 2;
    }
    try {
        const auto file = spectra::weightfile::TensorFile::open(arguments[1]);
        const spectra::layouts::Stack stack = spectra::layouts::read_stack(file);
        std::printf("layout        %s: %d connections of %d streams, %s\n", stack.layout.c_str(),
                    stack.depth(), stack.streams, stack.input.c_str());

        spectra::validation::Validation validation;
        validation.file = arguments[1];
        const double noise = count > 2 ? std::atof(arguments[2]) : 0.05;
        spectra::validation::add_stacks(validation, {stack}, noise, /*threads=*/0);
        spectra::validation::conclude(validation,
                                      spectra::validation::parse_requirements("window>=0.5,collapsed<=0.05"));

        const auto& mixers = *validation.mixers;
        std::printf("mixers        row sums off by %.1e, column sums by %.1e; orthogonality off by %.1e\n",
                    mixers.row_sum_defect, mixers.column_sum_defect, mixers.orthogonality_defect);
        const spectra::Metrics& metrics = validation.predicted()->metrics;
        std::printf("predicted     in [0.75, 1.25] %.4f, below 0.1 %.4f, largest %.4f (%s)\n", metrics.window,
                    metrics.collapsed, metrics.largest,
                    validation.certified() ? "certified" : "not certified");
        std::printf("verdict       %s\n", validation.verdict.pass ? "PASS" : "FAIL");
        for (const auto& reason : validation.verdict.reasons)
            std::printf("              %s\n", reason.c_str());
        return validation.verdict.pass ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
