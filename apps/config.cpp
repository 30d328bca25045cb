#include "config.hpp"

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <stdexcept>

namespace spectra::cli {

namespace {

constexpr const char* config_option = "--config";

/// Where to write, what to print, and what makes no sense twice: not part of what made a result.
constexpr const char* not_kept[] = {"out",     "force", "json",   "quiet", "threads",
                                    "resume",  "help",  "version", "config"};

/// Options that a file cannot set.
constexpr const char* not_settable[] = {"help", "version", "config"};

template <std::size_t N>
bool is_in(const char* const (&list)[N], const std::string& name) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool takes_config(const CLI::App& app) {
    return app.get_option_no_throw(config_option) != nullptr &&
           app.get_option_no_throw(config_option)->get_items_expected_max() > 0;
}

std::vector<std::string> commands_with_config(const CLI::App& program) {
    std::vector<std::string> names;
    for (const auto* command : program.get_subcommands([](const CLI::App*) { return true; }))
        if (takes_config(*command)) names.push_back(command->get_name());
    return names;
}

bool is_flag(const CLI::Option& option) {
    return option.get_items_expected_max() == 0;
}

std::vector<std::string> keys_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* option : app.get_options([](const CLI::Option* o) { return o->nonpositional(); }))
        for (const auto& name : option->get_lnames())
            if (!is_in(not_settable, name)) names.push_back(name);
    return names;
}

/// The option of a key, or of its spelling with underscores.
const CLI::Option& option_of(const CLI::App& app, const TomlEntry& entry, const std::string& where) {
    std::string name = entry.key;
    std::replace(name.begin(), name.end(), '_', '-');
    const auto* const option = name.empty() ? nullptr : app.get_option_no_throw("--" + name);
    if (option == nullptr || is_in(not_settable, name)) {
        const auto near = nearest(name, keys_of(app));
        throw std::invalid_argument(fmt::format("{}: unknown key {}; {}", where, in_quotes(entry.key),
                                                near ? fmt::format("did you mean '{}'?", *near)
                                                     : "keys are the names of options, without dashes"));
    }
    return *option;
}

std::optional<std::string> word_of(const CLI::Option& option, const TomlEntry& entry, const std::string& where) {
    const std::string name = "--" + option.get_lnames().front();
    const bool truth = entry.kind == TomlEntry::Kind::truth;
    if (is_flag(option) != truth)
        throw std::invalid_argument(fmt::format("{}: {} must be {}", where, in_quotes(entry.key),
                                                is_flag(option) ? "true or false" : "a text, a number or a list"));
    if (truth) return entry.values.front() == "true" ? std::optional(name) : std::nullopt;
    return fmt::format("{}={}", name, fmt::join(entry.values, ","));
}

/// The words without --config and its value.
std::vector<std::string> without_config(const std::vector<std::string>& words) {
    std::vector<std::string> out;
    for (std::size_t k = 0; k < words.size(); ++k) {
        if (words[k] == config_option)
            ++k;
        else if (!words[k].starts_with(std::string(config_option) + "="))
            out.push_back(words[k]);
    }
    return out;
}

/// A number as it is typed, everything else as a text.
std::string toml_value(const std::string& text) {
    const bool plain = !text.empty() && text.find_first_not_of("0123456789.eE-") == std::string::npos &&
                       std::isdigit(static_cast<unsigned char>(text.front())) != 0 && text.back() != '.' &&
                       (text.front() != '0' || text.size() == 1 || text[1] == '.') && parse_number(text).has_value();
    return plain ? text : toml_text(text);
}

using Given = std::map<std::string, std::string>;

/// The options of an analysis, by name; unknown words are left out.
Given given_options(const CLI::App& program, const std::string& command_line) {
    Given given;
    const auto words = shell_words(command_line);
    for (std::size_t k = 1; k < words.size(); ++k) {
        const auto equals = words[k].find('=');
        const auto* const option =
            words[k].starts_with("--") ? program.get_option_no_throw(words[k].substr(0, equals)) : nullptr;
        if (option == nullptr) continue;
        std::string value = "true";
        if (!is_flag(*option) && equals != words[k].npos) value = words[k].substr(equals + 1);
        if (!is_flag(*option) && equals == words[k].npos) value = k + 1 < words.size() ? words[++k] : "";
        given[option->get_lnames().front()] = value;
    }
    return given;
}

/// Do the numbers of a simulation depend on it?
bool shapes_samples(const CLI::Option& option) {
    constexpr const char* of_the_simulation[] = {"slopes", "method", "mixers", "device", "precision"};
    const std::string group = option.get_group();
    return group == "Network" || group == "Mixer families" || group == "Branch" ||
           is_in(of_the_simulation, option.get_lnames().front());
}

}  // namespace

std::vector<std::string> with_config(const CLI::App& program, const CLI::App* command,
                                     const std::vector<std::string>& words, const std::string& file) {
    const CLI::App& app = command != nullptr ? *command : program;
    const std::string table = command != nullptr ? command->get_name() : "";
    const auto commands = commands_with_config(program);
    std::vector<std::string> out = without_config(words), added;
    bool any = false;
    std::string other;
    for (const auto& entry : parse_toml(read_text(file), file)) {
        const std::string where = fmt::format("{}: line {}", file, entry.line);
        if (!entry.table.empty() && std::find(commands.begin(), commands.end(), entry.table) == commands.end())
            throw std::invalid_argument(fmt::format("{}: unknown table {}{}", where, in_quotes(entry.table),
                                                    suggestion(entry.table, commands)));
        // Keys of other commands are checked too, with the file in front of you.
        const CLI::App& owner = entry.table.empty() ? program : *program.get_subcommand(entry.table);
        const CLI::Option& option = option_of(owner, entry, where);
        const auto word = word_of(option, entry, where);
        if (entry.table != table) {
            other = entry.table;
            continue;
        }
        any = true;
        if (app.get_option(option.get_name(false, false))->count() == 0 && word) added.push_back(*word);
    }
    if (!any)
        throw std::invalid_argument(
            fmt::format("{}: has no options for {}; {}", file, table.empty() ? "analysing a network" : table,
                        !other.empty()  ? fmt::format("use it with spectra {}", other)
                        : table.empty() ? "expected keys such as mixer = \"cayley\""
                                        : fmt::format("they must stand below a line [{}]", table)));
    out.insert(out.begin() + (command != nullptr ? 1 : 0), added.begin(), added.end());
    return out;
}

std::vector<std::string> option_differences(const CLI::App& program, const std::string& now,
                                            const std::string& before) {
    std::vector<std::string> differences;
    if (!before.starts_with("spectra --")) return differences;  // another command, or no program at all
    const auto own = given_options(program, now), others = given_options(program, before);
    for (const auto* option : program.get_options([](const CLI::Option* o) { return o->nonpositional(); })) {
        if (!shapes_samples(*option)) continue;
        const std::string name = option->get_lnames().front();
        const std::string initial = option->get_default_str();
        const auto value = [&](const Given& given) { return given.contains(name) ? given.at(name) : initial; };
        const auto shown = [&](const Given& given) {
            if (given.contains(name)) return given.at(name);
            return initial.empty() ? std::string("not given") : initial + " (the default)";
        };
        if (value(own) != value(others))
            differences.push_back(fmt::format("--{} {}, now {}", name, shown(others), shown(own)));
    }
    return differences;
}

std::string config_of(const CLI::App& program, const std::string& command_line, const std::string& where) {
    auto words = shell_words(command_line);
    if (!words.empty()) words.erase(words.begin());  // the program
    const auto refuse = [&](const std::string& what) {
        throw std::invalid_argument(fmt::format("{}: was made by {}: {}", where, in_quotes(command_line), what));
    };
    const CLI::App* app = &program;
    std::string page;
    if (!words.empty() && !words.front().starts_with('-')) {
        const auto commands = commands_with_config(program);
        if (std::find(commands.begin(), commands.end(), words.front()) == commands.end())
            refuse(fmt::format("only analyses, {} take a file of options", fmt::join(commands, ", ")));
        app = program.get_subcommand(words.front());
        page = fmt::format("[{}]\n", words.front());
        words.erase(words.begin());
    }
    for (std::size_t k = 0; k < words.size(); ++k) {
        const auto equals = words[k].find('=');
        const auto* const option =
            words[k].starts_with("--") ? app->get_option_no_throw(words[k].substr(0, equals)) : nullptr;
        if (option == nullptr || (!is_flag(*option) && equals == words[k].npos && k + 1 == words.size()))
            refuse(fmt::format("{} is not an option of this program", in_quotes(words[k])));
        const std::string name = option->get_lnames().front();
        std::string value = "true";
        if (!is_flag(*option)) value = toml_value(equals == words[k].npos ? words[++k] : words[k].substr(equals + 1));
        if (!is_in(not_kept, name)) page += fmt::format("{} = {}\n", name, value);
    }
    return page;
}

std::string shell_line(const std::vector<std::string>& words) {
    std::string line;
    for (const auto& word : words) {
        const bool plain = !word.empty() && word.find_first_not_of(
                                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "0123456789-_=.,:+/%@") == std::string::npos;
        if (!line.empty()) line += ' ';
        if (plain) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        line += '\'';
    }
    return line;
}

std::vector<std::string> shell_words(const std::string& line) {
    std::vector<std::string> words;
    std::string word;
    bool inside = false, quoted = false;
    for (std::size_t k = 0; k < line.size(); ++k) {
        const char c = line[k];
        if (c == '\'') {
            quoted = !quoted;
            inside = true;
        } else if (!quoted && c == ' ') {
            if (inside) words.push_back(word);
            word.clear();
            inside = false;
        } else {
            if (!quoted && c == '\\' && k + 1 < line.size()) ++k;
            word += line[k];
            inside = true;
        }
    }
    if (inside) words.push_back(word);
    return words;
}

}  // namespace spectra::cli
