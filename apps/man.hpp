#pragma once

#include <string>

namespace CLI {
class App;
}

namespace spectra::cli {

/// The manual page of the program with all its commands, or of one command, in roff with the macros of
/// man(7): the text of help_page, and what is too long for it. ASCII only; other characters are \[uXXXX].
std::string man_page(const CLI::App& app);

/// `text` for a line of roff: no character of it is a request, an escape or a typographic quote, and long
/// lists without spaces may break after their commas and bars.
std::string roff_text(const std::string& text);

}  // namespace spectra::cli
