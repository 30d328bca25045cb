#pragma once

#include "study/observer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spectra::cli {

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

/// What is going on, in one line of standard error that is rewritten in place; prints nothing if that is
/// not a terminal, or if TERM is dumb or not set. The destructor clears the line.
class Progress final : public study::Observer {
public:
    explicit Progress(bool wanted);
    ~Progress() override { clear(); }

    /// Adds the time of later stages to what is left of the current one.
    void plan(const std::vector<Stage>& stages) override;
    /// Put before every stage from now on: "7 of 40, cayley-L10, ".
    void prefix(const std::string& words) override { prefix_ = words; }
    /// A new stage begins: "solving ov".
    void stage(const std::string& name) override;
    /// `done` of `total` of the stage: "simulating 43/100, 2 s left".
    void update(int done, int total) override;
    /// Free text for the stage, shown at most ten times per second.
    void say(const std::string& words);
    /// Prints the message above the line, unless nothing is wanted.
    void note(const std::string& message) override;
    /// Prints the message as an error, above the line.
    void warn(const std::string& message) override;
    /// Ctrl-C was pressed (interrupt.hpp).
    const std::atomic<bool>& stop() const override;
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    void show(const std::string& line);
    std::string time_left(double of_stage) const;
    /// What empties the line: an escape code, or blanks where NO_COLOR asks for plain text.
    std::string erased() const;

    bool wanted_, visible_;
    std::size_t shown_ = 0;  ///< bytes on the line
    std::string prefix_, stage_;
    std::vector<Stage> plan_;   ///< from the current stage on, which is the first
    bool in_plan_ = false;      ///< the current stage is the first of plan_
    Clock::time_point stage_began_, last_shown_;
};

}  // namespace spectra::cli
