// A library that was never asked for. Where it is loaded all the same, it leaves a mark.
#include <cstdio>
#include <cstdlib>

namespace {

struct Mark {
    Mark() {
        const char* const path = std::getenv("SPECTRA_FAKE_LIBRARY_MARK");
        if (path == nullptr) return;
        if (std::FILE* const file = std::fopen(path, "w")) std::fclose(file);
    }
} mark;

}  // namespace
