// Changes files at random and gives them to a target, where there is no libFuzzer.
//
//     fuzz_pickle INPUTS SEED FILE…            runs INPUTS inputs made of what the files hold
//     fuzz_pickle --corpus FOLDER FILE…        writes what a target starts from, for libFuzzer
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
#include <string_view>
#include <vector>

/// There where a sanitizer is linked, which ends the program by itself.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using namespace std::string_view_literals;

// Words of the formats, which chance would not find.
constexpr std::array words{
    "ctorch._utils\n_rebuild_tensor_v2\n"sv,
    "ctorch._utils\n_rebuild_tensor_v3\n"sv,
    "ctorch._utils\n_rebuild_parameter\n"sv,
    "ctorch._utils\n_rebuild_tensor\n"sv,
    "ctorch\nFloatStorage\n"sv,
    "ctorch\nBFloat16Storage\n"sv,
    "ctorch\nUntypedStorage\n"sv,
    "ctorch\nfloat8_e4m3fn\n"sv,
    "ctorch\nSize\n"sv,
    "ctorch\nComplexFloatStorage\n"sv,
    "ccollections\nOrderedDict\n"sv,
    "c_codecs\nencode\n"sv,
    "c__builtin__\nset\n"sv,
    "cos\nsystem\n"sv,
    "X\7\0\0\0storage"sv,
    "\x8A\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"sv,
    "\x8A\x08\0\0\0\0\0\0\0\x80"sv,
    "(K\1K\2t"sv,
    "K\0"sv,
    ")R"sv,
    "tR"sv,
    "tQ"sv,
    "}("sv,
    "]("sv,
    "u"sv,
    "e"sv,
    "a"sv,
    "s"sv,
    "b"sv,
    "0"sv,
    "1"sv,
    "2"sv,
    "("sv,
    "."sv,
    "h\0"sv,
    "q\0"sv,
    "h\1"sv,
    "\x85"sv,
    "\x86"sv,
    "\x87"sv,
    "\x94"sv,
    "\x93"sv,
    "\x8F"sv,
    "\x90"sv,
    "\x91"sv,
    "\x81"sv,
    "N"sv,
    "\x88"sv,
    "PK\x01\x02"sv,
    "PK\x03\x04"sv,
    "PK\x05\x06"sv,
    "PK\x06\x06"sv,
    "PK\x06\x07"sv,
    "\xFF\xFF\xFF\xFF"sv,
    "\x01\0\x18\0"sv,
    "data.pkl"sv,
    "byteorder"sv,
    "big"sv,
    "../"sv,
    "\"dtype\":"sv,
    "\"shape\":["sv,
    "\"data_offsets\":["sv,
    "\"__metadata__\":{"sv,
    "\"F32\""sv,
    "\"F8_E4M3\""sv,
    "\"F4\""sv,
    "\"C64\""sv,
    "18446744073709551615"sv,
    "4294967296"sv,
    "-1"sv,
    "1e9"sv,
    "null"sv,
    "{"sv,
    "}"sv,
    "["sv,
    "]"sv,
    ","sv,
    "\\u0000"sv,
};

std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class Mutator {
public:
    Mutator(std::vector<std::string> samples, std::uint64_t seed)
        : samples_(std::move(samples)), random_(seed) {}

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
                input.insert(at, any(words));
                break;
            case 5: {
                const auto word = any(words);
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

    std::vector<std::string> samples_;
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

int run(std::size_t inputs, std::uint64_t seed, std::vector<std::string> samples) {
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
    for (const auto& sample : samples) give(sample);
    Mutator mutator(std::move(samples), seed);
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
    std::printf("%zu inputs, %.1f s, slowest %.3f s, peak %ld MB\n", inputs, seconds_since(start), slowest,
                usage.ru_maxrss / 1024);
    return 0;
}

int write_corpus(const std::filesystem::path& folder, const std::vector<std::string>& samples) {
    std::filesystem::create_directories(folder);
    for (std::size_t k = 0; k < samples.size(); ++k)
        std::ofstream(folder / ("sample-" + std::to_string(k)), std::ios::binary) << samples[k];
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::vector<std::string> words_given(arguments + 1, arguments + count);
    std::vector<std::string> samples;
    for (std::size_t k = 2; k < words_given.size(); ++k) {
        std::string sample = fuzz_input(content(words_given[k]));
        if (!sample.empty()) samples.push_back(std::move(sample));
    }
    if (samples.empty()) {
        std::fprintf(
            stderr,
            "usage: %s INPUTS SEED FILE... | --corpus FOLDER FILE...; none of the files is a sample\n",
            arguments[0]);
        return 2;
    }
    if (words_given[0] == "--corpus") return write_corpus(words_given[1], samples);
    return run(std::stoul(words_given[0]), std::stoull(words_given[1]), std::move(samples));
}
