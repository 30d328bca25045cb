#pragma once

/// \file
/// Progress, warnings and a way to stop, for long studies.

#include "base/stop.hpp"

#include <atomic>
#include <string>
#include <vector>

namespace spectra::study {

/// Follows a study while it runs: shows how far it is, reports warnings, and may stop it. This one ignores
/// everything and never stops.
class Observer {
public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    /// A stage and the seconds it is expected to take.
    struct Stage {
        std::string name;    ///< as stage() gives it
        double seconds = 0;  ///< expected
    };

    /// The stages that lie ahead, so that the time left of all of them can be shown. Without it only that of the
    /// current stage is known.
    virtual void plan(const std::vector<Stage>& /*stages*/) {}
    /// Put before every stage from now on: "7 of 40, cayley-L10: ".
    virtual void prefix(const std::string& /*words*/) {}
    /// A new stage begins: "solving ov".
    virtual void stage(const std::string& /*name*/) {}
    /// `done` of `total` steps of the stage.
    virtual void update(int /*done*/, int /*total*/) {}
    /// How far the stage is, in words of its own: "step 40/2000, loss 0.31". May be called many times per second.
    virtual void say(const std::string& /*words*/) {}
    /// Reports something worth knowing before the study ends.
    virtual void note(const std::string& /*message*/) {}
    /// Reports a problem that does not end the study.
    virtual void warn(const std::string& /*message*/) {}
    /// Becomes true, from another thread or a signal, when the study should end with what it has.
    virtual const std::atomic<bool>& stop() const {
        static const std::atomic<bool> never{false};
        return never;
    }
    /// True if the study should end.
    bool stopped() const { return stop().load(); }
};

/// Thrown if a study was stopped and nothing can be kept.
using spectra::Stopped;

/// Throws Stopped if the observer stops the study.
inline void throw_if_stopped(const Observer& observer) {
    if (observer.stopped()) throw Stopped{};
}

}  // namespace spectra::study
