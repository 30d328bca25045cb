#include "montecarlo/run/session.hpp"

#include "base/bytes.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

namespace spectra::montecarlo {
namespace {

enum class Kind : std::uint8_t { plan, next, end, outcomes, failure, bye };
enum class Ending : std::uint8_t { drawn, failed, out_of_memory, stopped };

constexpr std::size_t largest_message = std::size_t{16} << 20U;
constexpr auto pause = std::chrono::microseconds(200);  // between checks for messages

class Writer : public ByteWriter {
public:
    explicit Writer(Kind kind) { put(kind); }
};

void put(Writer& writer, const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::bad_alloc& error) {
        writer.put(Ending::out_of_memory);
        writer.put(std::string(error.what()));
    } catch (const std::exception& error) {
        writer.put(Ending::failed);
        writer.put(std::string(error.what()));
    } catch (...) {
        writer.put(Ending::failed);
        writer.put(std::string("unknown error"));
    }
}

std::exception_ptr failure_of(Ending ending, const std::string& text) {
    if (ending == Ending::out_of_memory) return std::make_exception_ptr(std::bad_alloc());
    return std::make_exception_ptr(std::runtime_error(text));
}

void put(Writer& writer, int sample, const Outcome& outcome) {
    writer.put(sample);
    if (outcome.drawn) {
        writer.put(Ending::drawn);
        writer.put(outcome.drawn->square);
        writer.put(outcome.drawn->exponent);
        writer.put(outcome.drawn->log_floor);
        writer.put_values(outcome.log_values);
    } else if (outcome.failure) {
        put(writer, outcome.failure);
    } else {
        writer.put(Ending::stopped);
    }
}

Outcome get_outcome(ByteReader& reader) {
    Outcome out;
    const auto ending = reader.get<Ending>();
    if (ending == Ending::drawn) {
        const auto square = reader.get<double>();
        const auto exponent = reader.get<long>();
        const auto log_floor = reader.get<double>();
        out.drawn = Drawn{square, exponent, log_floor};
        out.buffer = reader.values<double>();
        out.log_values = out.buffer;
    } else if (ending != Ending::stopped) {
        out.failure = failure_of(ending, reader.text());
    }
    return out;
}

/// Collects the samples of one rank, for the first rank.
class Outbox final : public Collector {
public:
    Outbox(const Plan& plan, const std::atomic<bool>* stop)
        : stop_(stop), window_(plan.window), next_(plan.first) {}

    bool may_begin(int sample, int count) override {
        std::unique_lock lock(mutex_);
        moved_.wait(lock, [&] { return ended_ || sample == next_ || sample - next_ <= window_ - count; });
        return !ended_ && !(stop_ != nullptr && stop_->load());
    }
    bool ended() const override { return ended_; }
    std::span<double> room(int, int) override { return {}; }
    void finish(int sample, Outcome outcome) override {
        const std::scoped_lock lock(mutex_);
        if (outcome.drawn && outcome.buffer.empty()) throw std::logic_error("values without a buffer");
        outcomes_.emplace_back(sample, std::move(outcome));
    }
    void fail(std::exception_ptr reason) override {
        const std::scoped_lock lock(mutex_);
        failure_ = std::move(reason);
    }

    void advance(int next) {
        const std::scoped_lock lock(mutex_);
        next_ = next;
        moved_.notify_all();
    }
    void end() {
        const std::scoped_lock lock(mutex_);
        ended_ = true;
        moved_.notify_all();
    }

    /// Sends the collected outcomes; false: there were none.
    bool empty(parallel::Ranks& ranks) {
        std::vector<std::pair<int, Outcome>> outcomes;
        std::exception_ptr failure;
        {
            const std::scoped_lock lock(mutex_);
            outcomes.swap(outcomes_);
            std::swap(failure, failure_);
        }
        if (ended_) return false;
        Writer writer(Kind::outcomes);
        for (const auto& [sample, outcome] : outcomes) {
            put(writer, sample, outcome);
            if (writer.size() < largest_message) continue;
            ranks.send(0, writer.take());
            writer = Writer(Kind::outcomes);
        }
        if (writer.size() > 1) ranks.send(0, writer.take());
        if (failure) {
            Writer message(Kind::failure);
            put(message, failure);
            ranks.send(0, message.take());
        }
        return !outcomes.empty() || failure;
    }

private:
    const std::atomic<bool>* stop_;
    const int window_;
    std::mutex mutex_;
    std::condition_variable moved_;
    int next_;  // last value reported by the first rank
    std::atomic<bool> ended_ = false;
    std::vector<std::pair<int, Outcome>> outcomes_;
    std::exception_ptr failure_;
};

/// Runs `draw` beside the calling thread.
class Drawing {
public:
    Drawing(Collector& collector, std::function<void(Collector&)> draw)
        : thread_([this, &collector, draw = std::move(draw)] {
              try {
                  draw(collector);
              } catch (...) {
                  collector.fail(std::current_exception());
              }
              done_ = true;
          }) {}
    bool done() const { return done_; }

private:
    std::atomic<bool> done_ = false;
    std::jthread thread_;
};

void tell_all(parallel::Ranks& ranks, const Writer& writer) {
    for (int to = 1; to < ranks.size(); ++to) ranks.send(to, Writer(writer).take());
}

Writer news(const Plan& plan) {
    Writer out(Kind::plan);
    out.put(plan.first);
    out.put(plan.block);
    out.put(plan.window);
    out.put(plan.device);
    out.put(plan.fingerprint);
    return out;
}

Plan get_plan(ByteReader& reader) {
    Plan out;
    out.first = reader.get<int>();
    out.block = reader.get<int>();
    out.window = reader.get<int>();
    out.device = reader.text();
    out.fingerprint = reader.text();
    return out;
}

/// How the first rank handles messages.
class Inbox {
public:
    Inbox(int ranks, Totals& totals) : in_(static_cast<std::size_t>(ranks), true), totals_(totals) {
        in_.front() = false;
    }

    /// Other ranks are still in the run.
    bool waits() const { return std::find(in_.begin(), in_.end(), true) != in_.end(); }

    void take(const parallel::Message& message) {
        try {
            read(message);
        } catch (...) {
            totals_.fail(std::current_exception());
        }
    }

private:
    void read(const parallel::Message& message) {
        const auto from = static_cast<std::size_t>(message.from);
        const std::string name = "rank " + std::to_string(message.from);
        if (message.bytes.empty()) {  // expected, if the rank had announced it
            if (in_[from]) totals_.fail(std::make_exception_ptr(std::runtime_error(name + " left the run")));
            in_[from] = false;
            return;
        }
        ByteReader reader(message.bytes);
        const auto kind = reader.get<Kind>();
        if (kind == Kind::bye) {
            in_[from] = false;
        } else if (kind == Kind::failure) {
            const auto ending = reader.get<Ending>();
            totals_.fail(failure_of(ending, name + ": " + reader.text()));
        } else {
            while (!reader.at_end() && !totals_.ended()) {
                const int sample = reader.get<int>();
                totals_.receive(sample, get_outcome(reader));
            }
        }
    }

    std::vector<bool> in_;
    Totals& totals_;
};

}  // namespace

void lead(parallel::Ranks& ranks, const Plan& plan, const std::atomic<bool>* stop, Totals& totals,
          const std::function<void(Collector&)>& draw) {
    tell_all(ranks, news(plan));
    const Drawing drawing(totals, draw);
    Inbox inbox(ranks.size(), totals);
    int announced = plan.first;
    bool told = false;
    while (inbox.waits() || !drawing.done()) {
        bool idle = true;
        while (const auto message = ranks.receive()) {
            inbox.take(*message);
            idle = false;
        }
        // With nothing left to draw here, no other thread would check these.
        if (drawing.done() && !told) {
            if (stop != nullptr && *stop) totals.end();
            totals.checkpoint_if_due();
        }
        if (!told && (totals.ended() || totals.complete())) {
            tell_all(ranks, Writer(Kind::end));
            told = true;
        } else if (const int next = totals.next(); !told && next != announced) {
            Writer writer(Kind::next);
            writer.put(next);
            tell_all(ranks, writer);
            announced = next;
        }
        if (idle) std::this_thread::sleep_for(pause);
    }
}

void follow(parallel::Ranks& ranks, const std::function<void(const Plan&, Collector&)>& draw,
            const std::atomic<bool>* stop) {
    std::optional<parallel::Message> message;
    while (!(message = ranks.receive())) std::this_thread::sleep_for(pause);
    if (message->bytes.empty()) return;
    ByteReader first(message->bytes);
    if (first.get<Kind>() != Kind::plan) throw std::logic_error("a rank received no plan");
    const Plan plan = get_plan(first);

    Outbox outbox(plan, stop);
    {
        const Drawing drawing(outbox, [&](Collector& collector) { draw(plan, collector); });
        while (!outbox.ended() || !drawing.done()) {
            bool idle = !outbox.empty(ranks);
            while (!outbox.ended() && (message = ranks.receive())) {
                idle = false;
                ByteReader reader(message->bytes);
                const bool over = message->bytes.empty() || reader.get<Kind>() == Kind::end;
                if (over) {
                    outbox.end();
                } else {
                    outbox.advance(reader.get<int>());
                }
            }
            if (idle) std::this_thread::sleep_for(pause);
        }
    }
    ranks.send(0, Writer(Kind::bye).take());
}

}  // namespace spectra::montecarlo
