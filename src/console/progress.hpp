#pragma once

#include "study/observer.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace spectra::console {

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
    /// Shown at most ten times per second.
    void say(const std::string& words) override;
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
    std::vector<Stage> plan_;  ///< from the current stage on, which is the first
    bool in_plan_ = false;     ///< the current stage is the first of plan_
    Clock::time_point stage_began_, last_shown_;
};

}  // namespace spectra::console
