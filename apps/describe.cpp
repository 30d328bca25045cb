#include "describe.hpp"

#include "console/help_page.hpp"
#include "help.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace spectra::cli {

namespace {

console::Option describe(const CLI::Option& option) {
    return {.shown = option.get_positional() ? option.get_name(true) : option.get_name(false, true),
            .names = option.get_lnames(),
            .values = option.get_type_name(),
            .description = option.get_description(),
            .initial = option.get_default_str(),
            .group = option.get_group(),
            .takes_value = option.get_expected_min() > 0,
            .given = option.count() > 0};
}

/// Options that a command requires.
std::string needed_options(const std::string& command) {
    if (command == "depth-limit") return " --mixer NAME|FILE";
    if (command == "evaluate") return " --text FILE";
    if (command == "cost") return " --architecture NAME,NAME…";
    if (command == "sweep") return " --mixers NAME,NAME…";
    return "";
}

std::vector<std::string> usage(const CLI::App& app, const console::Command& described) {
    if (described.is_program())
        return {app.get_name() + " --mixer NAME|FILE [options]", app.get_name() + " COMMAND …"};
    const auto named = app.get_options(
        [&app](const CLI::Option* o) { return o->nonpositional() && o != app.get_help_ptr(); });
    return {fmt::format("{} {}{}{}", described.program, console::name_with_positionals(described),
                        needed_options(app.get_name()), named.empty() ? "" : " [options]")};
}

std::vector<console::Entry> own_examples(const console::Command& command) {
    if (command.is_program()) return examples();
    const std::string begin = command.program + " " + command.name;
    std::vector<console::Entry> own;
    for (const auto& example : examples())
        if (example.name == begin || example.name.starts_with(begin + " ")) own.push_back(example);
    return own;
}

}  // namespace

console::Command describe(const CLI::App& app) {
    console::Command command;
    if (app.get_parent() != nullptr) command.program = app.get_parent()->get_name();
    command.name = app.get_name();
    command.description = app.get_description();
    for (const auto* option : app.get_options())
        (option->get_positional() ? command.positionals : command.options).push_back(describe(*option));
    command.usage = usage(app, command);
    command.examples = own_examples(command);
    command.exit_statuses = exit_statuses();
    for (const auto* subcommand : app.get_subcommands([](const CLI::App*) { return true; }))
        command.commands.push_back(describe(*subcommand));
    return command;
}

}  // namespace spectra::cli
