#include "command_line.hpp"

int main(int argc, char** argv) {
    return spectra::cli::run(argc, argv);
}
