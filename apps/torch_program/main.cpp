#include "command_line.hpp"
#include "torch_program/train.hpp"
#include "train/validate_model.hpp"

#include <malloc.h>

// The program behind the commands of spectra that need Torch.
int main(int argc, char** argv) {
    // Tensors of every step come and go: memory given back to the system is paid for again in page faults.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    return spectra::cli::run(argc, argv,
                             {.train = spectra::cli::train_model, .measure = spectra::train::validate_model});
}
