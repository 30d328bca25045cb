#pragma once

#include "montecarlo/run/collector.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace spectra::montecarlo {

/// Adds samples up in order, whichever finishes first: sums do not depend on threads and ranks, a stopped
/// run keeps the first samples, and of several errors that of the first sample is reported.
class Totals final : public Collector {
public:
    /// `head` has everything known before the first sample; `window` is the number of samples that may wait
    /// for an earlier one.
    Totals(const Options& options, Simulation head, double log_mean_square, int size, bool values,
           int window);

    /// Restores the state after the samples of `from`.
    void resume(const Simulation& from);

    bool may_begin(int sample, int count = 1) override;
    bool ended() const override { return ended_; }
    std::span<double> room(int sample, int count) override;
    void finish(int sample, Outcome outcome) override;
    void fail(std::exception_ptr reason) override;

    /// finish() without saving samples, for a thread that has no time for it.
    void receive(int sample, Outcome outcome);
    /// Saves the samples if it is time. Also called once as soon as the run is asked to stop: samples in
    /// progress may take longer than the program is allowed.
    void checkpoint_if_due(bool even_without_samples = false);
    /// Ends the run with the samples added so far.
    void end();

    /// The first unfinished sample.
    int next() const { return next_; }
    bool complete() const { return next_ >= options_.samples; }

    /// Rethrows the exception that ended the run, if any.
    Simulation result();

private:
    using Clock = std::chrono::steady_clock;

    void watch(const std::stop_token& done);
    std::optional<Outcome>& slot(int sample);
    void add(const Outcome& outcome);
    void look_at_errors();
    Simulation snapshot() const;
    void give_law(Simulation& out) const;

    const Options& options_;
    const Simulation head_;
    const std::size_t size_;
    const bool values_;
    const Clock::time_point begin_ = Clock::now();
    Tally tally_;
    std::vector<double> kept_;
    double seconds_before_ = 0;  // of the runs that this one resumes

    mutable std::mutex mutex_;
    std::condition_variable moved_;
    std::vector<std::optional<Outcome>> waiting_;  // a ring, by sample number
    std::atomic<int> next_ = 0;
    std::atomic<bool> ended_ = false;  // no further samples will be added
    bool converged_ = false;
    std::exception_ptr error_;

    bool saving_ = false;
    Clock::time_point save_at_;
    std::jthread watcher_;  // last, so that it ends before the rest is destroyed
};

}  // namespace spectra::montecarlo
