#include "console/progress.hpp"

#include "base/text.hpp"
#include "console/interrupt.hpp"
#include "console/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace spectra::console {

Progress::Progress(bool wanted) : wanted_(wanted), visible_(wanted && can_rewrite_lines()) {}

void Progress::plan(const std::vector<Stage>& stages) {
    plan_ = stages;
    in_plan_ = false;
}

void Progress::stage(const std::string& name) {
    const auto planned =
        std::find_if(plan_.begin(), plan_.end(), [&](const Stage& stage) { return stage.name == name; });
    in_plan_ = planned != plan_.end();
    if (in_plan_) plan_.erase(plan_.begin(), planned);
    stage_ = prefix_ + name;
    stage_began_ = Clock::now();
    show(stage_ + (in_plan_ ? time_left(plan_.front().seconds) : ""));
}

/// ", 2 min 5 s left": of this stage and those after it.
std::string Progress::time_left(double of_stage) const {
    double seconds = of_stage;
    for (std::size_t k = in_plan_ ? 1 : 0; k < plan_.size(); ++k) seconds += plan_[k].seconds;
    return seconds < 0.5 ? "" : fmt::format(", {} left", duration_text(seconds));
}

void Progress::update(int done, int total) {
    const auto now = Clock::now();
    if (!visible_ || now - last_shown_ < std::chrono::milliseconds(100)) return;
    const double spent = std::chrono::duration<double>(now - stage_began_).count();
    const double left = done > 0   ? spent * std::max(total - done, 0) / done
                        : in_plan_ ? std::max(plan_.front().seconds - spent, 0.0)
                                   : 0.0;
    show(fmt::format("{} {}/{}{}", stage_, done, total, time_left(left)));
}

void Progress::say(const std::string& words) {
    if (visible_ && Clock::now() - last_shown_ >= std::chrono::milliseconds(100)) show(prefix_ + words);
}

void Progress::note(const std::string& message) {
    if (!wanted_) return;
    clear();
    print_error(with_options(message));
}

void Progress::warn(const std::string& message) {
    clear();
    print_error(with_options(message));
}

const std::atomic<bool>& Progress::stop() const {
    return interrupted();
}

void Progress::clear() {
    if (shown_ > 0) {
        const std::string text = erased();
        std::fwrite(text.data(), 1, text.size(), stderr);
    }
    shown_ = 0;
}

std::string Progress::erased() const {
    return no_colour() ? "\r" + std::string(shown_, ' ') + "\r" : "\r\x1b[K";
}

void Progress::show(const std::string& line) {
    if (!visible_) return;
    last_shown_ = Clock::now();
    const std::string words = printable(line), text = erased() + words;
    shown_ = words.size();
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace spectra::console
