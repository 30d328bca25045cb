#include "console/option_file.hpp"

#include "base/nearest.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>

namespace spectra::console {

namespace {

using Words = std::vector<std::string>;

bool is_in(const Words& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_settable(const OptionFiles& files, const std::string& name) {
    return name != files.option && !is_in(files.not_settable, name);
}

Words commands_with_files(const Command& program, const OptionFiles& files) {
    Words names;
    for (const auto& command : program.commands)
        if (const auto* const option = find_option(command, files.option);
            option != nullptr && option->takes_value)
            names.push_back(command.name);
    return names;
}

Words keys_of(const Command& command, const OptionFiles& files) {
    Words keys;
    for (const auto& option : command.options)
        for (const auto& name : option.names)
            if (is_settable(files, name)) keys.push_back(name);
    return keys;
}

/// The option of a key, or of its spelling with underscores.
const Option& option_of(const Command& command, const OptionFiles& files, const TomlEntry& entry,
                        const std::string& where) {
    std::string name = entry.key;
    std::replace(name.begin(), name.end(), '_', '-');
    const auto* const option = find_option(command, name);
    if (option == nullptr || !is_settable(files, name)) {
        const auto near = nearest(name, keys_of(command, files));
        throw std::invalid_argument(fmt::format("{}: unknown key {}; {}", where, in_quotes(entry.key),
                                                near ? fmt::format("did you mean '{}'?", *near)
                                                     : "keys are the names of options, without dashes"));
    }
    return *option;
}

std::optional<std::string> word_of(const Option& option, const TomlEntry& entry, const std::string& where) {
    const std::string name = "--" + option.names.front();
    const bool truth = entry.kind == TomlEntry::Kind::truth;
    if (option.takes_value == truth)
        throw std::invalid_argument(fmt::format("{}: {} must be {}", where, in_quotes(entry.key),
                                                truth ? "a text, a number or a list" : "true or false"));
    if (truth) return entry.values.front() == "true" ? std::optional(name) : std::nullopt;
    return fmt::format("{}={}", name, fmt::join(entry.values, ","));
}

/// The words without the option of the file and its value.
Words without_file(const Words& words, const std::string& option) {
    Words out;
    for (std::size_t k = 0; k < words.size(); ++k) {
        if (words[k] == "--" + option)
            ++k;
        else if (!words[k].starts_with("--" + option + "="))
            out.push_back(words[k]);
    }
    return out;
}

/// A number as it is typed, everything else as a text.
std::string toml_value(const std::string& text) {
    const bool plain = !text.empty() && text.find_first_not_of("0123456789.eE-") == std::string::npos &&
                       std::isdigit(static_cast<unsigned char>(text.front())) != 0 && text.back() != '.' &&
                       (text.front() != '0' || text.size() == 1 || text[1] == '.') &&
                       parse_number(text).has_value();
    return plain ? text : toml_text(text);
}

}  // namespace

std::vector<std::string> with_option_file(const Command& program, const std::string& command,
                                          const Words& words, const std::string& file,
                                          const OptionFiles& files) {
    const auto commands = commands_with_files(program, files);
    Words out = without_file(words, files.option), added;
    bool any = false;
    std::string other;
    for (const auto& entry : parse_toml(read_text(file), file)) {
        const std::string where = fmt::format("{}: line {}", file, entry.line);
        if (!entry.table.empty() && !is_in(commands, entry.table))
            throw std::invalid_argument(fmt::format("{}: unknown table {}{}", where, in_quotes(entry.table),
                                                    suggestion(entry.table, commands)));
        // Keys of other commands are checked too, with the file in front of you.
        const Command& owner = entry.table.empty() ? program : *find_command(program, entry.table);
        const Option& option = option_of(owner, files, entry, where);
        const auto word = word_of(option, entry, where);
        if (entry.table != command) {
            other = entry.table;
            continue;
        }
        any = true;
        if (!option.given && word) added.push_back(*word);
    }
    if (!any)
        throw std::invalid_argument(fmt::format(
            "{}: has no options for {}; {}", file, command.empty() ? files.without_command : command,
            !other.empty()    ? fmt::format("use it with {} {}", program.name, other)
            : command.empty() ? fmt::format("expected keys such as {}", files.example)
                              : fmt::format("they must stand below a line [{}]", command)));
    out.insert(out.begin() + (command.empty() ? 0 : 1), added.begin(), added.end());
    return out;
}

std::string option_file_of(const Command& program, const std::string& command_line, const std::string& where,
                           const OptionFiles& files) {
    auto words = shell_words(command_line);
    if (!words.empty()) words.erase(words.begin());  // the program
    const auto refuse = [&](const std::string& what) {
        throw std::invalid_argument(
            fmt::format("{}: was made by {}: {}", where, in_quotes(command_line), what));
    };
    const Command* command = &program;
    std::string page;
    if (!words.empty() && !words.front().starts_with('-')) {
        const auto commands = commands_with_files(program, files);
        if (!is_in(commands, words.front()))
            refuse(fmt::format("only analyses, {} take a file of options", fmt::join(commands, ", ")));
        command = find_command(program, words.front());
        page = fmt::format("[{}]\n", words.front());
        words.erase(words.begin());
    }
    for (std::size_t k = 0; k < words.size(); ++k) {
        const auto equals = words[k].find('=');
        const auto* const option =
            words[k].starts_with("--") ? find_option(*command, words[k].substr(2, equals - 2)) : nullptr;
        if (option == nullptr || (option->takes_value && equals == words[k].npos && k + 1 == words.size()))
            refuse(fmt::format("{} is not an option of this program", in_quotes(words[k])));
        const std::string& name = option->names.front();
        std::string value = "true";
        if (option->takes_value)
            value = toml_value(equals == words[k].npos ? words[++k] : words[k].substr(equals + 1));
        if (is_settable(files, name) && !is_in(files.not_kept, name))
            page += fmt::format("{} = {}\n", name, value);
    }
    return page;
}

}  // namespace spectra::console
