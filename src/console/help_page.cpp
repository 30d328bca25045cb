#include "console/help_page.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace spectra::console {

namespace {

constexpr std::size_t page_width = 96;
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

ShownOption shown(const Option& option, bool positional) {
    const bool is_long = length(option.values) > longest_value;
    ShownOption result{option.shown, "", option.description, option.initial};
    if (positional) {
        result.names = placeholder(option);
        if (is_long)
            result.description += ": " + fmt::format("{}", fmt::join(split(option.values, '|'), ", "));
    } else if (option.takes_value) {
        // The description lists the names where there are many.
        result.value = !is_long ? option.values : option.values.ends_with("FILE") ? "NAME|FILE" : "NAME";
    }
    return result;
}

std::string page_entry(const ShownOption& option) {
    const std::string left = option.value.empty() ? option.names : option.names + " " + option.value;
    if (option.initial.empty()) return help_entry(left, option.description, left_column, page_width);
    std::string initial = option.initial;
    std::replace(initial.begin(), initial.end(), ' ', unbroken);
    return help_entry(left, option.description + " [default:" + unbroken + initial + "]", left_column,
                      page_width);
}

}  // namespace

std::string placeholder(const Option& positional) {
    return positional.values.empty() || length(positional.values) > longest_value ? positional.shown
                                                                                  : positional.values;
}

std::string name_with_positionals(const Command& command) {
    std::string words = command.name;
    for (const auto& positional : command.positionals) words += " " + placeholder(positional);
    return words;
}

std::vector<ShownGroup> shown_groups(const Command& command) {
    std::vector<ShownGroup> groups(1);
    groups.front().name = "Arguments";
    for (const auto& option : command.positionals) groups.front().options.push_back(shown(option, true));
    for (const auto& option : command.options) {
        if (option.group.empty()) continue;
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const ShownGroup& g) { return g.name == option.group; });
        if (group == groups.end()) group = groups.insert(groups.end(), {option.group, {}});
        group->options.push_back(shown(option, false));
    }
    if (groups.front().options.empty()) groups.erase(groups.begin());
    return groups;
}

std::string padded(const std::string& text, std::size_t width) {
    return text + std::string(length(text) < width ? width - length(text) : 0, ' ');
}

std::string help_entry(const std::string& left, const std::string& right, std::size_t column,
                       std::size_t width) {
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

std::string help_page(const Command& command) {
    std::string page =
        fmt::format("{}\n\nUsage: {}\n", command.description, fmt::join(command.usage, ", or "));
    if (!command.commands.empty()) page += "\nCommands:\n";
    for (const auto& one : command.commands)
        page += help_entry(name_with_positionals(one), one.description, left_column, page_width);
    for (const auto& group : shown_groups(command)) {
        page += fmt::format("\n{}:\n", group.name);
        for (const auto& option : group.options) page += page_entry(option);
    }
    if (!command.examples.empty()) page += "\nExamples:\n";
    for (const auto& example : command.examples)
        page += fmt::format("  {}\n      {}\n", example.name, example.text);
    if (command.is_program()) {
        page += "\nExit status:\n";
        for (const auto& status : command.exit_statuses)
            page += help_entry(status.name, status.text, status_column, page_width);
    }
    return page;
}

}  // namespace spectra::console
