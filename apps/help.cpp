#include "help.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

namespace spectra::cli {

namespace {

constexpr std::size_t page_width = 96;
constexpr std::size_t left_column = 31;

/// Stands for a blank at which a line is not broken.
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

/// `left`, then `right` wrapped in its column.
std::string entry(const std::string& left, const std::string& right) {
    std::string page;
    std::string line = padded("  " + left, left_column);
    if (length(line) > left_column || line.back() != ' ') {
        page += line + '\n';
        line = std::string(left_column, ' ');
    }
    bool fresh = true;
    std::size_t begin = 0;
    while (begin < right.size()) {
        const auto end = std::min(right.find(' ', begin), right.size());
        const std::string word = right.substr(begin, end - begin);
        if (!fresh && length(line) + 1 + length(word) > page_width) {
            page += line + '\n';
            line = std::string(left_column, ' ');
            fresh = true;
        }
        line += (fresh ? "" : " ") + word;
        fresh = false;
        begin = end + 1;
    }
    page += line + '\n';
    std::replace(page.begin(), page.end(), unbroken, ' ');
    return page;
}

std::string left_of(const CLI::Option& option) {
    const std::string name = option.get_positional() ? option.get_name(true) : option.get_name(false, true);
    if (option.get_positional() || option.get_expected_min() == 0) return name;
    const std::string value = option.get_type_name();
    // A long list of names is in the description.
    return name + " " + (length(value) <= 44 ? value : value.ends_with("FILE") ? "NAME|FILE" : "NAME");
}

std::string right_of(const CLI::Option& option) {
    std::string initial = option.get_default_str();
    if (initial.empty()) return option.get_description();
    std::replace(initial.begin(), initial.end(), ' ', unbroken);
    return option.get_description() + " [default:" + unbroken + initial + "]";
}

}  // namespace

std::string help_page(const CLI::App& app, const std::string& usage) {
    std::string page = app.get_description() + "\n\nUsage: " + usage + "\n";
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    if (!commands.empty()) page += "\nCommands:\n";
    for (const auto* command : commands) {
        std::string left = command->get_name();
        for (const auto* option :
             command->get_options([](const CLI::Option* o) { return o->get_positional(); }))
            left +=
                " " + (option->get_type_name().empty() ? option->get_name(true) : option->get_type_name());
        page += entry(left, command->get_description());
    }
    for (const auto& group : app.get_groups()) {
        const auto options = app.get_options([&](const CLI::Option* o) { return o->get_group() == group; });
        if (group.empty() || options.empty()) continue;
        page += fmt::format("\n{}:\n", group);
        for (const auto* option : options) page += entry(left_of(*option), right_of(*option));
    }
    if (!app.get_footer().empty()) page += "\n" + app.get_footer();
    return page;
}

}  // namespace spectra::cli
