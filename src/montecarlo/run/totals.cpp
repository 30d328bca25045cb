#include "montecarlo/run/totals.hpp"

#include <algorithm>
#include <utility>

namespace spectra::montecarlo {
namespace {

constexpr int first_look = 32, look_every = 16;  // checks of the errors, Options::until_error

std::chrono::steady_clock::duration seconds(double count) {
    return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(std::clamp(count, 0.0, 1e9)));
}

}  // namespace

Totals::Totals(const Options& options, Simulation head, double log_mean_square, int size, bool values,
               int window)
    : options_(options),
      head_(std::move(head)),
      size_(static_cast<std::size_t>(size)),
      values_(values),
      tally_(log_mean_square, size),
      waiting_(static_cast<std::size_t>(std::max(window, 1))),
      save_at_(begin_ + seconds(options.checkpoint_seconds)) {
    if (values) kept_.resize(static_cast<std::size_t>(options.samples) * size_);
    if (options_.stop != nullptr && options_.checkpoint)
        watcher_ = std::jthread([this](const std::stop_token& done) { watch(done); });
}

void Totals::watch(const std::stop_token& done) {
    std::mutex own;
    std::unique_lock lock(own);
    std::condition_variable_any sleep;
    while (!done.stop_requested() && !options_.stop->load())
        sleep.wait_for(lock, done, std::chrono::milliseconds(100), [] { return false; });
    if (done.stop_requested()) return;
    {
        const std::scoped_lock state(mutex_);
        save_at_ = begin_;
    }
    checkpoint_if_due(true);
}

void Totals::resume(const Simulation& from) {
    // The mean square is computed from the matrix, not from its singular values.
    const auto precision = head_.precision == "f32" ? 1e-3 : 1e-6;
    tally_.restore(from, head_.probes == 0 ? std::optional(precision) : std::nullopt);
    if (values_) std::copy(from.log_values.begin(), from.log_values.end(), kept_.begin());
    next_ = from.samples;
    seconds_before_ = from.seconds;
    look_at_errors();
}

bool Totals::may_begin(int sample, int count) {
    std::unique_lock lock(mutex_);
    // (Waiting in OpenMP's ordered regions would keep a core busy.)
    moved_.wait(lock, [this, sample, count] {
        return ended_ || sample == next_ ||
               static_cast<std::size_t>(sample - next_) + static_cast<std::size_t>(count) <= waiting_.size();
    });
    return !ended_ && !(options_.stop != nullptr && options_.stop->load());
}

std::span<double> Totals::room(int sample, int count) {
    if (!values_) return {};
    return std::span(kept_).subspan(static_cast<std::size_t>(sample) * size_,
                                    static_cast<std::size_t>(count) * size_);
}

void Totals::finish(int sample, Outcome outcome) {
    receive(sample, std::move(outcome));
    checkpoint_if_due();
}

void Totals::receive(int sample, Outcome outcome) {
    const std::scoped_lock lock(mutex_);
    slot(sample) = std::move(outcome);
    while (auto& next = slot(next_)) {
        if (!ended_) add(*next);
        next.reset();
        ++next_;
    }
    moved_.notify_all();
}

void Totals::fail(std::exception_ptr reason) {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::move(reason);
    ended_ = true;
    moved_.notify_all();
}

void Totals::end() {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    moved_.notify_all();
}

std::optional<Outcome>& Totals::slot(int sample) {
    return waiting_[static_cast<std::size_t>(sample) % waiting_.size()];
}

void Totals::add(const Outcome& outcome) {
    if (!outcome.drawn) {
        error_ = outcome.failure;
        ended_ = true;
        return;
    }
    if (values_ && !outcome.buffer.empty())
        std::copy(outcome.log_values.begin(), outcome.log_values.end(), room(next_, 1).begin());
    tally_.add(*outcome.drawn, outcome.log_values);
    look_at_errors();
    if (!options_.progress) return;
    try {
        options_.progress(tally_.samples(), options_.samples);
    } catch (...) {
        error_ = std::current_exception();
        ended_ = true;
    }
}

void Totals::look_at_errors() {
    const int samples = tally_.samples();
    if (!options_.until_error || samples < first_look || samples % look_every != 0) return;
    converged_ = tally_.errors().largest() <= *options_.until_error;
    if (converged_) ended_ = true;
}

Simulation Totals::snapshot() const {
    Simulation out = head_;
    tally_.write(out, !values_);
    out.converged = converged_;
    out.seconds = seconds_before_ + std::chrono::duration<double>(Clock::now() - begin_).count();
    return out;
}

void Totals::checkpoint_if_due(bool even_without_samples) {
    if (!options_.checkpoint) return;
    Simulation out;
    const auto begin = Clock::now();
    {
        const std::scoped_lock lock(mutex_);
        if (saving_ || ended_ || begin < save_at_) return;
        if (tally_.samples() == 0 && !even_without_samples) return;
        saving_ = true;
        out = snapshot();
    }
    std::exception_ptr failure;
    try {
        // The values of the first samples do not change: they are copied while others are written after them.
        if (values_)
            out.log_values.assign(
                kept_.begin(),
                kept_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(out.samples) * size_));
        if (out.samples > 0) give_law(out);
        options_.checkpoint(out);
    } catch (...) {
        failure = std::current_exception();
    }
    const auto now = Clock::now();
    const std::scoped_lock lock(mutex_);
    saving_ = false;
    save_at_ = now + std::max(seconds(options_.checkpoint_seconds), 19 * (now - begin));
    if (!failure) return;
    if (!error_) error_ = failure;
    ended_ = true;
    moved_.notify_all();
}

void Totals::give_law(Simulation& out) const {
    out.law = values_
                  ? Spectrum::from_log_values(out.log_values, out.log_floor)
                  : Spectrum::from_histogram(out.log_edges, out.counts, out.below, out.above, out.log_floor);
}

Simulation Totals::result() {
    const std::scoped_lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    Simulation out = snapshot();
    if (values_) {
        kept_.resize(static_cast<std::size_t>(out.samples) * size_);
        out.log_values = std::move(kept_);
    }
    give_law(out);
    return out;
}

}  // namespace spectra::montecarlo
