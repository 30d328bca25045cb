// Changes files at random and gives them to a target, where there is no libFuzzer.
//
//     fuzz_pickle INPUTS SEED FILE…            runs INPUTS inputs made of what the files hold
//     fuzz_pickle --corpus FOLDER FILE…        writes what a target starts from, for libFuzzer
//
// The files themselves are run first. A FILE.dict is no sample: it has words of the format, as libFuzzer's
// dictionaries do. A FILE.h5 is run as it is: the C library of HDF5 does not survive changed images. Like libFuzzer
// in scripts/fuzz.sh it fails where an input takes more than 10 seconds, or all of them more than 2 GB.
//
// An input that crashes stands in the file `crash-input` of the current folder.

#include "target.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

/// There where a sanitizer is linked, which ends the program by itself.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A line of a dictionary, between its quotes, with \\, \" and \xAB for what they stand for.
std::string word_of(const std::string& line) {
    const auto begin = line.find('"'), end = line.rfind('"');
    std::string word;
    if (line.starts_with('#') || begin >= end) return word;
    for (std::size_t k = begin + 1; k < end; ++k) {
        if (line[k] != '\\') {
            word += line[k];
        } else if (line[k + 1] != 'x') {
            word += line[++k];
        } else {
            word += static_cast<char>(std::stoi(line.substr(k + 2, 2), nullptr, 16));
            k += 3;
        }
    }
    return word;
}

/// What the files given hold for a target.
struct Material {
    std::vector<std::string> samples, fixed, words;

    void add(const std::string& path) {
        if (path.ends_with(".dict")) {
            std::ifstream in(path);
            for (std::string line; std::getline(in, line);)
                if (auto word = word_of(line); !word.empty()) words.push_back(std::move(word));
        } else if (auto sample = fuzz_input(content(path)); !sample.empty()) {
            (path.ends_with(".h5") ? fixed : samples).push_back(std::move(sample));
        }
    }
};

class Mutator {
public:
    Mutator(const Material& material, std::uint64_t seed)
        : samples_(material.samples), words_(material.words), random_(seed) {
        if (words_.empty()) words_.emplace_back();
    }

    std::string next() {
        std::string input = any(samples_);
        for (std::size_t k = 1 + below(below(4) == 0 ? 16 : 3); k-- > 0;) change(input);
        return input;
    }

private:
    std::size_t below(std::size_t bound) {
        return bound == 0 ? 0 : static_cast<std::size_t>(random_() % bound);
    }
    template <class Range>
    typename Range::const_reference any(const Range& range) {
        return range[below(range.size())];
    }

    void change(std::string& input) {
        const std::size_t at = below(input.size() + 1),
                          length = std::min(1 + below(below(4) == 0 ? 200 : 8), input.size() - at);
        switch (below(9)) {
            case 0:
                if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
                break;
            case 1:
                if (at < input.size()) input[at] = static_cast<char>(below(256));
                break;
            case 2:
                input.erase(at, length);
                break;
            case 3:
                input.insert(below(input.size() + 1), input.substr(at, length));
                break;
            case 4:
                input.insert(at, any(words_));
                break;
            case 5: {
                const auto& word = any(words_);
                input.replace(at, std::min(word.size(), input.size() - at), word);
                break;
            }
            case 6: {
                const std::string& other = any(samples_);
                const std::size_t from = below(other.size() + 1);
                input.replace(at, length, other.substr(from, 1 + below(64)));
                break;
            }
            case 7:
                set_number(input, at);
                break;
            default:
                if (below(8) == 0) input.resize(at);
        }
    }

    /// A number of 1, 2, 4 or 8 bytes becomes one at an edge.
    void set_number(std::string& input, std::size_t at) {
        constexpr std::array<std::uint64_t, 10> edges{0,          1,          0x7F,        0xFF,       0xFFFF,
                                                      0x7FFFFFFF, 0xFFFFFFFF, 0x100000000, ~0ULL >> 1, ~0ULL};
        const std::size_t width = std::size_t{1} << below(4);
        if (at + width > input.size()) return;
        const std::uint64_t value = any(edges) + below(3) - 1;
        for (std::size_t k = 0; k < width; ++k) input[at + k] = static_cast<char>((value >> (8 * k)) & 0xFFU);
    }

    std::vector<std::string> samples_, words_;
    std::mt19937_64 random_;
};

/// What is being run, for whoever finds the crash.
std::string current;

void leave_input() {
    std::ofstream("crash-input", std::ios::binary) << current;
}

void leave_input_at_signal(int signal) {
    leave_input();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

int run(std::size_t inputs, std::uint64_t seed, const Material& material) {
    using Clock = std::chrono::steady_clock;
    const auto seconds_since = [](Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(leave_input);
    std::signal(SIGABRT, leave_input_at_signal);
    std::signal(SIGSEGV, leave_input_at_signal);
    const auto give = [](const std::string& input) {
        current = input;
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
    };
    for (const auto& sample : material.fixed) give(sample);
    for (const auto& sample : material.samples) give(sample);
    if (material.samples.empty()) inputs = 0;
    Mutator mutator(material, seed);
    const auto start = Clock::now();
    double slowest = 0;
    for (std::size_t k = 0; k < inputs; ++k) {
        const std::string input = mutator.next();
        const auto began = Clock::now();
        give(input);
        if (const double taken = seconds_since(began); taken > slowest) {
            slowest = taken;
            if (taken > 1) std::ofstream("slow-input", std::ios::binary) << current;
        }
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const long peak = usage.ru_maxrss / 1024;
    std::printf("%zu inputs, %.1f s, slowest %.3f s, peak %ld MB\n", inputs, seconds_since(start), slowest, peak);
    return slowest > 10 || peak > 2048 ? 1 : 0;
}

int write_corpus(const std::filesystem::path& folder, const std::vector<std::string>& samples) {
    std::filesystem::create_directories(folder);
    for (std::size_t k = 0; k < samples.size(); ++k)
        std::ofstream(folder / ("sample-" + std::to_string(k)), std::ios::binary) << samples[k];
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::vector<std::string> given(arguments + 1, arguments + count);
    Material material;
    for (std::size_t k = 2; k < given.size(); ++k) material.add(given[k]);
    if (material.samples.empty() && material.fixed.empty()) {
        std::fprintf(
            stderr,
            "usage: %s INPUTS SEED FILE... | --corpus FOLDER FILE...; none of the files is a sample\n",
            arguments[0]);
        return 2;
    }
    if (given[0] == "--corpus") return write_corpus(given[1], material.samples);
    return run(std::stoul(given[0]), std::stoull(given[1]), material);
}
