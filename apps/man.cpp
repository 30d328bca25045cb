#include "man.hpp"

#include "help.hpp"
#include "study/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <vector>

namespace spectra::cli {

namespace {

const std::vector<std::string> description{
    "spectra computes the singular values of the Jacobian J = Y_L ··· Y_2 Y_1, Y_l = A_l ⊗ I + X_l, of a "
    "deep "
    "residual network with n coupled streams: A_l is the n×n mixer of the skip connection, X_l a random "
    "branch. It solves the theory of infinite width, simulates networks of finite width, compares the two "
    "and "
    "draws both.",
    "Without a command it analyses one network, prints a page and writes a result file and a figure. A "
    "command comes first, followed by its own options.",
    "Progress goes to standard error, and only to a terminal. An error is one line: what was wrong, where, "
    "and what to use instead.",
};

const std::vector<Entry> environment{
    {"NO_COLOR", "if set and not empty, output has no colours"},
    {"LC_ALL, LC_CTYPE, LANG",
     "output is Unicode if the first of these that is set names UTF-8, otherwise ASCII"},
    {"OMP_NUM_THREADS",
     "number of threads without --threads; train on a GPU uses at most two"},
    {"OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME, OPENBLAS_THREAD_TIMEOUT",
     "how threads of train and validate wait for each other; without them they sleep after a few microseconds"},
    {"PATH", "where to look for gnuplot"},
    {"OMPI_COMM_WORLD_RANK and _SIZE, PMI_RANK and _SIZE, SLURM_PROCID and SLURM_STEP_NUM_TASKS",
     "set by mpirun and srun: the rank of this process and the number of processes"},
};

const std::vector<Entry> files{
    {"STEM.h5", "all results of a run, in HDF5; --out sets STEM. spectra info describes the file"},
    {"STEM.png, STEM.svg, STEM.pdf, STEM.html", "figures and pages, see --plot and report"},
    {"STEM.md, STEM.csv, STEM.tex", "tables of compare; sweep and train write STEM.csv"},
    {"STEM.parts", "sweep: finished networks, until all are"},
    {"STEM.ckpt, STEM.ckpt.previous", "train: the last two checkpoints, as torch.save writes them"},
    {"spectra-torch", "next to the program: started by train and validate when they need Torch"},
};

constexpr unsigned no_break = 0xA0;

/// The code point at text[at]; advances `at` to the next.
unsigned code_point(const std::string& text, std::size_t& at) {
    const auto byte = [&](std::size_t k) {
        return static_cast<unsigned>(static_cast<unsigned char>(text[k]));
    };
    const unsigned first = byte(at++);
    if (first < 0x80U) return first;
    const unsigned length = first >= 0xF0U ? 3 : first >= 0xE0U ? 2 : 1;
    unsigned point = first & (0x3FU >> length);
    for (unsigned k = 0; k < length && at < text.size(); ++k) point = point << 6U | (byte(at++) & 0x3FU);
    return point;
}

/// Characters that groff would read as a request, an escape or a typographic quote are escaped by name.
std::string roff_character(unsigned c) {
    switch (c) {
        case '\\':
            return "\\e";
        case '-':
            return "\\-";
        case '\'':
            return "\\(aq";
        case '"':
            return "\\(dq";
        case '`':
            return "\\(ga";
        case '^':
            return "\\(ha";
        case '~':
            return "\\(ti";
        case '\n':
            return " ";
        case no_break:
            return "\\ ";
        default:
            return c < 0x80U ? std::string(1, static_cast<char>(c)) : fmt::format("\\[u{:04X}]", c);
    }
}

std::string bold(const std::string& text) {
    return "\\fB" + roff_text(text) + "\\fP";
}

std::string italic(const std::string& text) {
    return "\\fI" + roff_text(text) + "\\fP";
}

/// A title in capitals, as manual pages write it.
std::string capitals(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return roff_text(text);
}

std::string section(const std::string& name) {
    return fmt::format(".SH \"{}\"\n", capitals(name));
}

/// `tag` is roff already.
std::string item(const std::string& tag, const std::string& text) {
    return fmt::format(".TP\n{}\n{}\n", tag, roff_text(text));
}

std::string items(const std::string& title, const std::vector<Entry>& entries) {
    if (entries.empty()) return "";
    std::string lines = section(title);
    for (const auto& entry : entries) lines += item(bold(entry.name), entry.text);
    return lines;
}

/// Literal words in bold, placeholders in italics.
std::string typed_words(const std::string& line) {
    std::vector<std::string> words;
    for (const auto& word : CLI::detail::split(line, ' ')) {
        const bool is_typed = std::all_of(
            word.begin(), word.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '|'; });
        words.push_back(is_typed ? bold(word) : word.starts_with('[') ? roff_text(word) : italic(word));
    }
    return fmt::format("{}", fmt::join(words, " "));
}

std::string usage_lines(const CLI::App& app) {
    std::vector<std::string> lines;
    for (const auto& line : usage(app)) lines.push_back(typed_words(line));
    return fmt::format("{}\n", fmt::join(lines, "\n.br\n"));
}

std::string options(const CLI::App& app) {
    std::string lines;
    for (const auto& group : shown_groups(app)) {
        lines += fmt::format(".SS \"{}\"\n", roff_text(group.name));
        for (const auto& option : group.options)
            lines +=
                item(bold(option.names) + (option.value.empty() ? "" : " " + italic(option.value)),
                     option.description +
                         (option.initial.empty() ? "" : fmt::format(" [default:\u00A0{}]", option.initial)));
    }
    return lines;
}

/// The sections of the whole program, one per command, or of one command.
std::string sections(const CLI::App& app) {
    if (app.get_parent() != nullptr) return section("Options") + options(app);
    std::string lines = section("Description");
    for (const auto& paragraph : description) lines += fmt::format(".PP\n{}\n", roff_text(paragraph));
    lines += section("Commands");
    for (const auto& command : shown_commands(app)) lines += item(typed_words(command.name), command.text);
    lines += section("Options") + options(app);
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
        lines += section(app.get_name() + " " + command->get_name()) + usage_lines(*command) + ".PP\n" +
                 roff_text(command->get_description()) + "\n" + options(*command);
    return lines;
}

/// For whatis(1): begins in lower case and has no full stop.
std::string short_description(const CLI::App& app) {
    std::string text = app.get_description();
    if (text.ends_with('.')) text.pop_back();
    if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
}

}  // namespace

std::string roff_text(const std::string& text) {
    constexpr std::size_t long_word = 40;
    std::string roff;
    std::size_t word = 0;  // start of the current word
    for (std::size_t at = 0; at < text.size();) {
        const unsigned c = code_point(text, at);
        roff += roff_character(c);
        if (c == '.' && at == 1) roff = "\\&.";
        if (c == ' ') word = at;
        const bool goes_on = at < text.size() && text[at] != ' ';
        if ((c == ',' || c == '|') && goes_on &&
            std::min(text.find(' ', word), text.size()) - word > long_word)
            roff += "\\:";
    }
    return roff;
}

std::string man_page(const CLI::App& app) {
    const bool is_whole = app.get_parent() == nullptr;
    const std::string name = is_whole ? app.get_name() : app.get_parent()->get_name() + "-" + app.get_name();
    return fmt::format(
               ".\\\" Written by spectra man, from the words of spectra --help-all.\n"
               ".TH \"{}\" 1 \"\" \"spectra {}\" \"User Commands\"\n.nh\n.ad l\n",
               capitals(name), roff_text(version::number)) +
           section("Name") + fmt::format("{} \\- {}\n", roff_text(name), roff_text(short_description(app))) +
           section("Synopsis") + usage_lines(app) + sections(app) + items("Exit status", exit_statuses()) +
           (is_whole ? items("Environment", environment) + items("Files", files) : "") +
           items("Examples", examples(app)) + section("See also") +
           (is_whole
                ? "\\fBgnuplot\\fP(1), \\fBmpirun\\fP(1), \\fBh5dump\\fP(1); a tutorial, the theory and the "
                  "formats of files in the folder docs of the source\n"
                : "\\fBspectra\\fP(1)\n");
}

}  // namespace spectra::cli
