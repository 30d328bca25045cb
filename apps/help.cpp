#include "help.hpp"

#include "exit_status.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

namespace spectra::cli {

namespace {

constexpr std::size_t page_width = 96;
constexpr std::size_t overview_width = 80;
constexpr std::size_t left_column = 31;
constexpr std::size_t status_column = 7;
constexpr std::size_t longest_value = 44;

/// Marks a non-breaking space.
constexpr char unbroken = '\x1f';

/// Characters, not bytes.
std::size_t length(const std::string& text) {
    std::size_t count = 0;
    for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    return count;
}

std::string padded(const std::string& text, std::size_t width) {
    return text + std::string(length(text) < width ? width - length(text) : 0, ' ');
}

/// `left`, then `right` wrapped in its column of a page.
std::string entry(const std::string& left, const std::string& right, std::size_t column = left_column,
                  std::size_t width = page_width) {
    std::string page;
    std::string line = padded("  " + left, column);
    if (length(line) > column || line.back() != ' ') {
        page += line + '\n';
        line = std::string(column, ' ');
    }
    bool fresh = true;
    std::size_t begin = 0;
    while (begin < right.size()) {
        auto end = std::min(right.find(' ', begin), right.size());
        // A word too long for a line is broken after a comma.
        if (end - begin > width - column) {
            const auto comma = right.rfind(',', begin + width - column - 1);
            if (comma != std::string::npos && comma > begin) end = comma + 1;
        }
        const std::string word = right.substr(begin, end - begin);
        const std::string gap = fresh || right[begin - 1] != ' ' ? "" : " ";
        if (!fresh && length(line + gap + word) > width) {
            page += line + '\n';
            line = std::string(column, ' ');
            fresh = true;
        }
        line += (fresh ? "" : gap) + word;
        fresh = false;
        begin = end + (end < right.size() && right[end] == ' ' ? 1 : 0);
    }
    page += line + '\n';
    std::replace(page.begin(), page.end(), unbroken, ' ');
    return page;
}

/// A positional in the usage line: its accepted values, or its name where that list is long.
std::string placeholder(const CLI::Option& option) {
    const std::string value = option.get_type_name();
    return value.empty() || length(value) > longest_value ? option.get_name(true) : value;
}

std::vector<const CLI::Option*> positionals(const CLI::App& app) {
    return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::string name_with_positionals(const CLI::App& command) {
    std::string words = command.get_name();
    for (const auto* option : positionals(command)) words += " " + placeholder(*option);
    return words;
}

ShownOption shown(const CLI::Option& option) {
    const std::string value = option.get_type_name();
    const bool is_long = length(value) > longest_value;
    ShownOption result{option.get_name(false, true), "", option.get_description(), option.get_default_str()};
    if (option.get_positional()) {
        result.names = placeholder(option);
        if (is_long)
            result.description += ": " + fmt::format("{}", fmt::join(CLI::detail::split(value, '|'), ", "));
    } else if (option.get_expected_min() > 0) {
        // The description lists the names where there are many.
        result.value = !is_long ? value : value.ends_with("FILE") ? "NAME|FILE" : "NAME";
    }
    return result;
}

std::string page_entry(const ShownOption& option) {
    const std::string left = option.value.empty() ? option.names : option.names + " " + option.value;
    if (option.initial.empty()) return entry(left, option.description);
    std::string initial = option.initial;
    std::replace(initial.begin(), initial.end(), ' ', unbroken);
    return entry(left, option.description + " [default:" + unbroken + initial + "]");
}

/// The options of --help, with shorter descriptions than those of --help-all.
struct FrequentOptions {
    std::string group;
    std::vector<Entry> options;
};

const std::vector<FrequentOptions>& frequent_options() {
    static const std::vector<FrequentOptions> groups{
        {"Network",
         {{"--mixer NAME|FILE", "mixers: a family or a file of matrices"},
          {"--depth L", "layers [default: 10]"},
          {"--streams n", "residual streams [default: 4]"},
          {"--branch NAME", "the random branch [default: isotropic]"},
          {"--noise C", "total variance of the branch [default: 0.05]"},
          {"--seed N", "random seed [default: 1]"}}},
        {"Methods",
         {{"--theory LIST", "theories to solve, or none [default: ov,scalar]"},
          {"--samples S", "Jacobians to simulate, or 0 [default: 100]"},
          {"--device NAME", "auto, cpu or cuda [default: auto]"}}},
        {"Output",
         {{"--out STEM", "name of the files, without .h5 and .png"},
          {"--plot LIST", "png, svg, pdf, html or none [default: png]"},
          {"--json", "print JSON instead of a page"}}},
        {"About",
         {{"--help-all", "all options, examples and exit statuses"}, {"--version", "version, git commit and features"}}},
    };
    return groups;
}

/// Options that a command requires.
std::string needed_options(const std::string& command) {
    if (command == "depth-limit") return " --mixer NAME|FILE";
    if (command == "sweep") return " --mixers NAME,NAME…";
    return "";
}

}  // namespace

std::vector<ShownGroup> shown_groups(const CLI::App& app) {
    std::vector<ShownGroup> groups(1);
    groups.front().name = "Arguments";
    for (const auto* option : positionals(app)) groups.front().options.push_back(shown(*option));
    for (const auto& name : app.get_groups()) {
        if (name.empty()) continue;
        ShownGroup group{name, {}};
        for (const auto* option : app.get_options(
                 [&](const CLI::Option* o) { return o->get_group() == name && !o->get_positional(); }))
            group.options.push_back(shown(*option));
        groups.push_back(std::move(group));
    }
    std::erase_if(groups, [](const ShownGroup& group) { return group.options.empty(); });
    return groups;
}

std::vector<std::string> usage(const CLI::App& app) {
    if (app.get_parent() == nullptr)
        return {app.get_name() + " --mixer NAME|FILE [options]", app.get_name() + " COMMAND …"};
    const auto named = app.get_options(
        [&app](const CLI::Option* o) { return o->nonpositional() && o != app.get_help_ptr(); });
    return {fmt::format("{} {}{}{}", app.get_parent()->get_name(), name_with_positionals(app),
                        needed_options(app.get_name()), named.empty() ? "" : " [options]")};
}

std::vector<Entry> shown_commands(const CLI::App& app) {
    std::vector<Entry> commands;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
        commands.push_back({name_with_positionals(*command), command->get_description()});
    return commands;
}

std::vector<Entry> examples(const CLI::App& app) {
    static const std::vector<Entry> all{
        {"spectra --mixer cayley --depth 10", "theory, simulation, spectra-cayley-L10.h5 and .png"},
        {"spectra --mixer bistochastic --depth 10 --noise 0.1 --samples 500 --out run1",
         "more noise, more samples, files run1.h5 and run1.png"},
        {"spectra --mixer my-mixers.csv --sigma2 0.01 --theory ov", "your own matrices"},
        {"spectra --mixer orthogonal --branch activation --activation gelu",
         "the slopes of an activation in the branch"},
        {"spectra --mixer bistochastic --branch hyper-connection --depth 20",
         "a branch that reads one mix of the streams"},
        {"spectra --mixer orthogonal --theory none --samples 0 --omega \"0.3+0.05i,1+0.01i\" --json",
         "g at two points, as JSON"},
        {"spectra --mixer cayley --sensitivity --average 20",
         "what the metrics depend on, and how much they vary between draws of the mixers"},
        {"spectra compare", "six mixers at three depths: two figures, a ranked table, spectra-compare.h5"},
        {"spectra compare --mixers cayley,my-mixers.csv --depths 10,50 --plot pdf --table tex",
         "your own mixers, for a paper; networks already in the file are not recomputed"},
        {"spectra figure bands", "one of eleven pictures, with its numbers beside it; spectra figure lists them"},
        {"spectra depth-limit --mixer bistochastic --sigma2 0.005", "how deep these mixers can go"},
        {"spectra sweep --mixers bistochastic,cayley --depths 1,2,10 --noises 0.05,0.2 --seeds 1:5",
         "sixty networks in one file, with a table; rerun the same command to resume"},
        {"spectra train gyroscope --architecture edelta",
         "a model of the EΔ paper on its task, with trivial predictors beside its loss"},
        {"spectra validate spectra-gyroscope-edelta.ckpt",
         "is the trained model still an isometry, and does theory explain it"},
        {"spectra validate model.safetensors --require \"norm<=1.05\"",
         "the mixers of a weight file; exit status 1 if they fail"},
        {"spectra validate models/Example-Flash", "the same of a published model, by its folder"},
        {"spectra conform reference.safetensors mine.safetensors",
         "is your hyper-connection the published one? names the difference"},
        {"spectra info run1.h5", "describes a result file"},
        {"spectra report run1.h5", "a page to look at, run1.html; several files share one page"},
        {"spectra explore", "a page in which you move depth, noise and mixer and see the law move: open it in a browser"},
        {"spectra reproduce", "the papers' claims, computed again; exit status 1 where a result no longer agrees"},
        {"spectra reproduce C9 C13", "two of them; docs/claims.md lists all"},
        {"spectra doctor", "what works on this machine, and what to install; for reports of problems as well"},
        {"spectra man | man -l -", "the manual page, if it is not installed"},
    };
    if (app.get_parent() == nullptr) return all;
    const std::string begin = app.get_parent()->get_name() + " " + app.get_name();
    std::vector<Entry> own;
    for (const auto& example : all)
        if (example.name == begin || example.name.starts_with(begin + " ")) own.push_back(example);
    return own;
}

const std::vector<Entry>& exit_statuses() {
    static const std::vector<Entry> statuses{
        {std::to_string(done), "done"},
        {std::to_string(verdict_negative), 
         "done, and the verdict of validate or conform is negative, or a result of reproduce no longer agrees with its "
         "claim"},
        {std::to_string(bad_input), "bad command line or input; nothing was computed or written"},
        {std::to_string(not_finished),
         "could not finish: points left uncertified (the file marks them), out of memory, disk full; "
         "doctor: something required does not work"},
        {std::to_string(was_interrupted),
         "interrupted by Ctrl-C; finished samples are kept (press twice to stop at once)"},
    };
    return statuses;
}

std::string help_page(const CLI::App& app) {
    std::string page =
        fmt::format("{}\n\nUsage: {}\n", app.get_description(), fmt::join(usage(app), ", or "));
    const auto commands = shown_commands(app);
    if (!commands.empty()) page += "\nCommands:\n";
    for (const auto& command : commands) page += entry(command.name, command.text);
    for (const auto& group : shown_groups(app)) {
        page += fmt::format("\n{}:\n", group.name);
        for (const auto& option : group.options) page += page_entry(option);
    }
    const auto shown_examples = examples(app);
    if (!shown_examples.empty()) page += "\nExamples:\n";
    for (const auto& example : shown_examples)
        page += fmt::format("  {}\n      {}\n", example.name, example.text);
    if (app.get_parent() == nullptr) {
        page += "\nExit status:\n";
        for (const auto& status : exit_statuses()) page += entry(status.name, status.text, status_column);
    }
    return page;
}

std::string overview_page(const CLI::App& app) {
    constexpr std::size_t group_column = 10, option_column = 31, command_column = 28;
    std::string page = fmt::format("{}\n\nUsage: {}\n\nCommands ({} COMMAND --help shows the options of one):\n",
                                   app.get_description(), fmt::join(usage(app), ", or "), app.get_name());
    for (const auto& command : shown_commands(app))
        page += entry(command.name, command.text, command_column, overview_width);
    page += "\nOptions of an analysis:\n";
    for (const auto& [group, options] : frequent_options())
        for (const auto& option : options) {
            const std::string head = &option == &options.front() ? group : "";
            page += entry(padded(head, group_column) + option.name, option.text, option_column, overview_width);
        }
    return page;
}

std::string start_page(const CLI::App& app) {
    constexpr std::size_t text_column = 45;
    static const std::vector<Entry> commands{
        {"--mixer cayley --depth 10", "analyse one network"},
        {"compare", "six mixers at three depths, ranked"},
        {"depth-limit --mixer bistochastic", "how deep a mixer can go"},
        {"validate FILE", "is a trained model still isometric?"},
        {"doctor", "what works on this machine"},
    };
    std::string page = app.get_description() + "\n\nCommands to start with:\n";
    for (const auto& command : commands)
        page += padded("  " + app.get_name() + " " + command.name, text_column) + command.text + "\n";
    return page + fmt::format("\n{0} --help shows the most used options, {0} --help-all all of them.\n",
                              app.get_name());
}

}  // namespace spectra::cli
