#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace spectra::cli {

/// One line without control characters: what is printed of a message, wherever its words came from.
std::string one_line(std::string_view message);

/// "spectra: <message>" on standard error.
void print_error(std::string_view message);

/// Writes to standard output and flushes. Throws std::runtime_error where it cannot (a full disk).
void print(std::string_view text);

/// Columns of the terminal on standard output, within 80 to 100; 100 where there is none.
int page_columns();

/// Standard output is a terminal and NO_COLOR is not set.
bool use_colour();

/// "850 ms", "12 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

/// What is going on, in one line of standard error that is rewritten in place; nothing where that is no
/// terminal. The line is gone when the object is.
class Progress {
public:
    explicit Progress(bool wanted);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { clear(); }

    /// Put before every stage from now on: "7 of 40, cayley-L10, ".
    void prefix(std::string words) { prefix_ = std::move(words); }
    /// A new stage begins: "solving ov".
    void stage(const std::string& name);
    /// `done` of `total` of the stage: "simulating 43/100, 2 s left".
    void update(int done, int total);
    /// Words of the stage's own, at most ten times a second.
    void say(const std::string& words);
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    void show(const std::string& line);

    bool visible_;
    bool shown_ = false;
    std::string prefix_, stage_;
    Clock::time_point stage_began_, last_shown_;
};

}  // namespace spectra::cli
