#pragma once

#include "montecarlo/run/collector.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace spectra::montecarlo {

/// Adds samples up in their own order whichever finishes first: sums do not depend on threads and ranks, a
/// run that is stopped keeps the first so many, and of several errors the first sample's is reported.
class Totals final : public Collector {
public:
    /// `head` has what is known before the first sample; `window`: as many samples may be waiting for an
    /// earlier one.
    Totals(const Options& options, Simulation head, double log_mean_square, int size, bool values,
           int window);

    /// As after its samples.
    void resume(const Simulation& from);

    bool may_begin(int sample, int count = 1) override;
    bool ended() const override { return ended_; }
    std::span<double> room(int sample, int count) override;
    void finish(int sample, Outcome outcome) override;
    void fail(std::exception_ptr reason) override;

    /// finish() without a checkpoint, for a thread that has no time for one.
    void receive(int sample, Outcome outcome);
    /// Also called, once, as soon as the run is asked to stop: samples that are being drawn may take longer than
    /// the program is given.
    void checkpoint_if_due();
    /// Keeps what was added up by now.
    void end();

    /// The first sample that is not finished.
    int next() const { return next_; }
    bool complete() const { return next_ >= options_.samples; }

    /// Throws what ended the run, if anything did.
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
    double seconds_before_ = 0;  // of the runs this one continues

    mutable std::mutex mutex_;
    std::condition_variable moved_;
    std::vector<std::optional<Outcome>> waiting_;  // a ring, by sample number
    std::atomic<int> next_ = 0;
    std::atomic<bool> ended_ = false;  // no sample after the ones added will be
    bool converged_ = false;
    std::exception_ptr error_;

    bool saving_ = false;
    Clock::time_point save_at_;
    std::jthread watcher_;  // last: it ends before the rest goes
};

}  // namespace spectra::montecarlo
