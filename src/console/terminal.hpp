#pragma once

#include <nlohmann/json_fwd.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace spectra::console {

/// Everything shown to a user goes through this file, and through spectra::printable: text may come from files that
/// someone else made.

/// A message in one printable line.
std::string one_line(std::string_view message);

/// A message of a library, which puts names of fields in backquotes, with options instead: "`logit_scale` -1: …"
/// becomes "--logit-scale -1: …".
std::string with_options(std::string_view message);
std::string message_of(const std::exception& error);

/// "spectra: <message>" on standard error.
void print_error(std::string_view message);

/// Writes to standard output and flushes. Throws std::runtime_error if it cannot (a full disk). Colour codes are
/// kept in pages, which clean the text between them (report::Page).
enum class Colours { escaped, kept };
void print(std::string_view text, Colours colours = Colours::escaped);

/// A JSON object on lines of its own. Text that is not UTF-8 is shown with U+FFFD.
void print_json(const nlohmann::ordered_json& object);

/// A question on standard error, answered at the terminal: true for y or yes. False without asking if standard
/// input or error is not a terminal.
bool ask(std::string_view question);

/// Columns of the terminal on standard output, within 80 to 100; 100 if there is none.
int page_columns();

/// Standard output is a terminal, TERM is set and not dumb, and NO_COLOR is not set.
bool use_colour();

/// Standard error is a terminal whose lines can be rewritten: TERM is set and not dumb. False for all but the first
/// of several processes.
bool can_rewrite_lines();

/// NO_COLOR asks for text without escape codes.
bool no_colour();

}  // namespace spectra::console
