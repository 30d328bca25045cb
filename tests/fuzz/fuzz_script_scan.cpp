#include "weightfile/script_scan.hpp"

#include "target.hpp"

#include <array>

using namespace spectra;

namespace {

using namespace std::string_view_literals;

/// Each leaves no text and no comment open, whatever stands before it, as long as none was.
constexpr std::array pieces{"torch"sv,     "ops"sv,       "x"sv,        "."sv,         "("sv,
                            ")"sv,         "="sv,         "\n"sv,       " "sv,         "\t"sv,
                            "\\\n"sv,      ":\n"sv,       "def f"sv,    "1.5"sv,       " ''"sv,
                            " '#'"sv,      " '\\''"sv,    " '\\\\'"sv,  " \"\\\"\""sv, " \"'''\""sv,
                            "# torch.\n"sv, "# \\\n"sv,   "#'''\n"sv,   "#\"\n"sv,     " '''\"\n'''\n"sv,
                            " \"\"\"\n#'\"\"\"\n"sv};

/// What may stand between the parts of torch.save.
constexpr std::array blanks{""sv, " "sv, "\t"sv, "\\\n"sv, "  # save\n"sv, "\n"sv};

/// A source that calls torch.save outside of texts and comments; `rest` is anything.
std::string unsafe_source(std::string_view choices, std::string_view rest) {
    std::string source;
    std::size_t sum = 0;
    for (const char c : choices) {
        const auto choice = static_cast<unsigned char>(c);
        source += pieces[choice % pieces.size()];
        sum += choice;
    }
    source += '\n';
    for (const auto part : {"torch"sv, "."sv, "save"sv, "("sv}) {
        source.append(part).append(blanks[sum % blanks.size()]);
        sum /= blanks.size();
    }
    return source.append(rest);
}

bool is_refused(const std::string& source) {
    bool refused = true;
    fuzz::must_read_or_refuse([&] {
        weightfile::refuse_unsafe_source(source, "input");
        refused = false;
    });
    return refused;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text(data, size);
    (void)is_refused(text);
    const auto half = text.size() / 2;
    if (!is_refused(unsafe_source(text.substr(0, half), text.substr(half)))) std::abort();
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
