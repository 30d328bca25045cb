#include "command_line.hpp"
#include "torch_program/train.hpp"

// The program behind the commands of spectra that need Torch.
int main(int argc, char** argv) {
    return spectra::cli::run(argc, argv, {.train = spectra::cli::train_model});
}
