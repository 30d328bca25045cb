#pragma once

#include "console/command.hpp"

#include <string>
#include <vector>

namespace spectra::console {

/// What a manual has beyond the commands and options.
struct Manual {
    std::string version = {};
    std::string origin = {};                    ///< a comment in its first line: what wrote it
    std::vector<std::string> description = {};  ///< paragraphs
    std::vector<Entry> environment = {}, files = {};
    std::vector<std::string> programs = {};  ///< related manual pages, of section 1
    std::string elsewhere = {};              ///< where else to read
};

/// The manual page of a program with all its commands, or of one command, in roff with the macros of
/// man(7): the text of help_page, and what is too long for it. ASCII only; other characters are \[uXXXX].
std::string man_page(const Command& command, const Manual& manual);

/// `text` for a line of roff: no character of it is a request, an escape or a typographic quote, and long
/// lists without spaces may break after their commas and bars.
std::string roff_text(const std::string& text);

}  // namespace spectra::console
