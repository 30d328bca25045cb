#pragma once

#include "console/command.hpp"

namespace spectra::console::tests {

/// A program with one command, small enough to write its pages by hand.
inline Command brew() {
    Command make{.program = "brew",
                 .name = "make",
                 .description = "make a pot",
                 .usage = {"brew make FILE [options]"},
                 .positionals = {{.shown = "FILE", .values = "FILE", .description = "the recipe"}},
                 .options = {{.shown = "--kind",
                              .names = {"kind"},
                              .values = "green,black|none",
                              .description = "the leaves",
                              .initial = "green",
                              .group = "Tea",
                              .takes_value = true},
                             {.shown = "--cups,--cup",
                              .names = {"cups", "cup"},
                              .values = "N",
                              .description = "how many",
                              .initial = "2",
                              .group = "Tea",
                              .takes_value = true},
                             {.shown = "--milk", .names = {"milk"}, .description = "with it", .group = "Tea"},
                             {.shown = "--settings",
                              .names = {"settings"},
                              .values = "FILE",
                              .description = "a file of options",
                              .group = "",
                              .takes_value = true}},
                 .examples = {{"brew make tea.txt", "a pot"}},
                 .exit_statuses = {{"0", "done"}}};
    return {
        .name = "brew",
        .description = "Hot drinks.",
        .usage = {"brew COMMAND"},
        .options = {{.shown = "-h,--help", .names = {"help"}, .description = "this page", .group = "About"},
                    {.shown = "--settings",
                     .names = {"settings"},
                     .values = "FILE",
                     .description = "a file of options",
                     .group = "About",
                     .takes_value = true}},
        .exit_statuses = {{"0", "done"}},
        .commands = {make}};
}

}  // namespace spectra::console::tests
