#include "config.hpp"

#include "base/shell.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
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

}  // namespace spectra::cli
