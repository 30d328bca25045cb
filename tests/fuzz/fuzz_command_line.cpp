#include "options.hpp"
#include "target.hpp"
#include "base/text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <vector>

using namespace spectra;

namespace {

using Words = std::vector<std::string>;

void expect_one_line(const std::exception& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
}

/// The options of a command, which are made once: making them takes a hundred times as long as reading a line.
template <class Request>
struct Options {
    Request request;
    CLI::App app;

    Options() {
        app.allow_extras();
        cli::add_options(app, request);
    }
};

/// As apps/command_line.cpp does, but that nothing is run.
template <class Request>
void parse(Words words) {
    static Options<Request> options;
    auto& request = options.request;
    auto& app = options.app;
    request = Request{};
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    try {
        app.parse(std::move(words));
        if constexpr (requires { study::check_conflicts(request); }) study::check_conflicts(request);
    } catch (const CLI::CallForHelp&) {
    } catch (const CLI::ParseError& error) {
        expect_one_line(error);
    } catch (const std::invalid_argument& error) {
        expect_one_line(error);
    }
}

struct Command {
    const char* name;
    void (*parse)(Words);
};
constexpr Command commands[] = {
    {"depth-limit", parse<study::DepthLimitRequest>},
    {"sweep", parse<study::SweepRequest>},
    {"compare", parse<study::CompareRequest>},
    {"figure", parse<study::FigureRequest>},
    {"train", parse<study::TrainRequest>},
    {"validate", parse<study::ValidateRequest>},
    {"cost", parse<study::CostRequest>},
    {"evaluate", parse<study::EvaluateRequest>},
};

/// No file is to be read.
bool may_name_file(const std::string& word) {
    std::error_code ignored;
    return word.find_first_of(std::string_view("/\0", 2)) != word.npos || std::filesystem::exists(word, ignored) ||
           std::filesystem::exists(word.substr(word.find('=') + 1), ignored);
}

}  // namespace

/// A word a line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto words = split(fuzz::text(data, size), '\n');
    std::erase_if(words, may_name_file);
    for (const auto& command : commands)
        if (!words.empty() && words.front() == command.name) {
            words.erase(words.begin());
            command.parse(words);
            return 0;
        }
    parse<study::Request>(words);
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
