// SPDX-License-Identifier: Apache-2.0
#include "replay.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <stdexcept>
#include <vector>

#include "clock.h"
#include "control.h"
#include "expander.h"
#include "feeder.h"
#include "host.h"
#include "job.h"
#include "memory.h"
#include "readout.h"

namespace anemone {

namespace {

// Readouts that a channel may be ahead of the slowest one. This limits the snapshots in memory.
constexpr unsigned kAhead = 2;
// Cycles without an accepted request that mean a deadlock. A read with an update effect and its
// backlog take 15.
constexpr unsigned kStuck = 1000;
// Cycles after which all requests and counter updates are complete.
constexpr unsigned kDrain = 64 + kMemoryLatency;

class Replay {
public:
    Replay(const std::string& job, const std::string& trace, const std::string& out)
        : rules_(readJob(job)), trace_(trace), lines_(out + "/lines") {
        for (unsigned r = 0; r < rules_.size(); ++r) {
            const auto name = "." + std::to_string(r);
            const auto width = unsigned(rules_[r].rule.counterWidth);
            reads_.emplace_back(out + "/reads" + name, width);
            states_.emplace_back(out + "/states" + name, width);
        }
        for (unsigned c = 0; c < kChannels; ++c) {
            feeders_.emplace_back(trace_, rules_, c);
            hosts_.emplace_back(expander_.upstream(c), c, lines_);
            memories_.emplace_back(expander_.memories()[c]);
        }
        for (const JobRule& r : rules_)
            if (r.readEvery)
                work_ += trace_.size() / r.readEvery * kLines * kChannels *
                         (r.rule.serialEffect() ? kLineWords : 1);
        work_ += trace_.size() + rules_.size() * kLines * kChannels;
    }

    void run() {
        setUp();
        const Clock clock;
        const uint64_t first = expander_.cycle();
        feed();
        seconds_ = clock.seconds();
        user_ = Clock::cpu() - clock.user;
        cycles_ = std::max(last_, lastOrdered_ - leastWait_) + 1 - first;
        rest(); // events that wait for a read with an update effect get their slots now
        snapshot();
        rest();
        check();
        for (auto* files : {&reads_, &states_})
            for (Snapshots& file : *files)
                file.finish();
        lines_.finish();
        report();
    }

private:
    void setUp() {
        for (Host& host : hosts_)
            host.offerNothing();
        expander_.reset();
        control_.start();
        for (unsigned r = 0; r < rules_.size(); ++r) {
            control_.program(r, rules_[r].rule);
            for (const auto& [key, base] : rules_[r].map)
                control_.map(r, key, base);
        }
        control_.wait();
        for (unsigned p = 0; p < kPipelines; ++p)
            if (control_.status(p).matched)
                throw std::runtime_error("a pipeline counts events before there are any");
    }

    // Runs the trace, each channel at full rate, until everything has been accepted and answered.
    void feed() {
        bool busy = true;
        last_ = expander_.cycle();
        while (busy) {
            uint64_t slowest = UINT64_MAX;
            for (const Feeder& feeder : feeders_)
                slowest = std::min(slowest, feeder.readouts());
            for (unsigned c = 0; c < kChannels; ++c)
                offer(c, slowest);
            settle();
            busy = false;
            for (unsigned c = 0; c < kChannels; ++c) {
                if (expander_.takesLine(c))
                    readOrdered(c);
                if (hosts_[c].accepted())
                    accept(c);
                busy |= feeders_[c].item().kind != Item::kDone || hosts_[c].pending();
            }
            expander_.tick();
            if ((expander_.cycle() & 0xFFF) == 0)
                progress_.show(slots_, std::max(work_, slots_));
            if (expander_.cycle() - last_ > kStuck)
                throw std::runtime_error("stuck: nothing accepted for " + std::to_string(kStuck) +
                                         " cycles");
        }
    }

    // Computes this cycle's outputs, and takes the responses.
    void settle() {
        const uint64_t cycle = expander_.cycle();
        for (Memory& memory : memories_)
            memory.offer(cycle);
        expander_.settle();
        for (Host& host : hosts_)
            host.take(cycle);
        for (Memory& memory : memories_)
            memory.take(cycle);
    }

    void offer(unsigned c, uint64_t slowest) {
        const Item& item = feeders_[c].item();
        // AXI does not order a write after an accepted read, but the trace does. So a write waits
        // until all earlier telemetry reads have taken their places in the channel's order.
        if (item.kind == Item::kEvent && item.row.write() && !waitingReads_[c].empty())
            hosts_[c].offerNothing();
        else if (item.kind == Item::kEvent)
            hosts_[c].offerEvent(item.row.id(), item.row.address(), item.row.write());
        else if (item.kind == Item::kRead &&
                 !(item.periodic && feeders_[c].readouts() >= slowest + kAhead))
            hosts_[c].offerRead(item.row.id(), item.pipeline, item.line, item.effect);
        else
            hosts_[c].offerNothing();
    }

    // The oldest waiting telemetry read of the channel takes its place in the channel's order.
    void readOrdered(unsigned c) {
        lastOrdered_ = expander_.cycle();
        leastWait_ = std::min(leastWait_, lastOrdered_ - waitingReads_[c].front());
        waitingReads_[c].pop_front();
    }

    void accept(unsigned c) {
        const Item& item = feeders_[c].item();
        if (item.kind == Item::kRead) {
            const bool serial = item.effect && item.pipeline < rules_.size() &&
                                rules_[item.pipeline].rule.serialEffect();
            Ask ask{item.line, nullptr, nullptr, item.at};
            if (item.periodic) {
                ask.snapshots = &reads_[item.pipeline];
                ask.snapshot = ask.snapshots->at(item.at);
            }
            hosts_[c].expectLine(ask);
            waitingReads_[c].push_back(expander_.cycle());
            slots_ += serial ? kLineWords : 1;
            ++asked_;
        } else {
            hosts_[c].expectEvent();
            for (unsigned r = 0; r < rules_.size(); ++r) {
                const Rule& rule = rules_[r].rule;
                const uint64_t address = item.row.address();
                considered_[r] += (item.row.write() ? rule.writes : rule.reads) &&
                                  address >= rule.start && address < rule.end;
            }
            ++slots_;
            ++events_;
        }
        last_ = expander_.cycle();
        feeders_[c].advance();
    }

    void rest() {
        for (Host& host : hosts_)
            host.offerNothing();
        for (unsigned i = 0; i < kDrain; ++i) {
            settle();
            expander_.tick();
        }
    }

    // Reads every line of every rule without effect.
    void snapshot() {
        for (unsigned r = 0; r < rules_.size(); ++r) {
            for (unsigned line = 0; line < kLines; ++line) {
                for (unsigned c = 0; c < kChannels; ++c)
                    hosts_[c].offerRead(0, r, line, false);
                settle();
                for (Host& host : hosts_) {
                    if (!host.accepted())
                        throw std::runtime_error("a snapshot does not run at a line a cycle");
                    host.expectLine({line, &states_[r], states_[r].at(events_), 0});
                    ++asked_;
                    ++slots_;
                }
                expander_.tick();
            }
        }
    }

    // Invariants that hold for all rules.
    void check() {
        uint64_t answered = 0, reached = 0;
        for (const Host& host : hosts_)
            answered += host.lines();
        for (const Memory& memory : memories_)
            reached += memory.reads() + memory.writes();
        expect(answered, asked_, "lines answered, lines asked for", 0);
        expect(reached, events_, "requests at memory, events", 0);
        control_.expectNoErrors();
        expect(expander_.messages()[0], 0, "error interrupts, expected", 0);
        for (unsigned p = 0; p < kPipelines; ++p) {
            const Status s = control_.status(p);
            expect(s.parityErrors, 0, "parity errors, expected", p);
            const uint64_t counted = s.matched + s.unmapped + s.outOfRange;
            expect(counted, p < rules_.size() ? considered_[p] : 0,
                   "events counted, events that pass the filter", p);
            expect(s.notifications <= s.matched, true, "notifications are matches", p);
            expect(s.notified, s.notifications != 0, "latch set, notifications counted", p);
            // Without an acknowledge there is at most one interrupt.
            expect(expander_.messages()[1 + p], s.notified, "interrupts, latch set", p);
            if (p < rules_.size())
                counts_.push_back(s);
        }
    }

    static void expect(uint64_t a, uint64_t b, const char* what, unsigned pipeline) {
        if (a != b)
            throw std::runtime_error("pipeline " + std::to_string(pipeline) + ": " + what + ": " +
                                     std::to_string(a) + ", " + std::to_string(b));
    }

    void report() const {
        std::printf("result {\"events\": %llu, \"cycles\": %llu, \"slots\": %llu, "
                    "\"seconds\": %.6f, \"user_seconds\": %.6f, \"rules\": [",
                    (unsigned long long)events_, (unsigned long long)cycles_,
                    (unsigned long long)(slots_ - rules_.size() * kLines * kChannels), seconds_,
                    user_);
        for (unsigned r = 0; r < rules_.size(); ++r) {
            const Status& s = counts_[r];
            std::printf("%s{\"matched\": %llu, \"unmapped\": %llu, \"out_of_range\": %llu, "
                        "\"notifications\": %llu}",
                        r ? ", " : "", (unsigned long long)s.matched,
                        (unsigned long long)s.unmapped, (unsigned long long)s.outOfRange,
                        (unsigned long long)s.notifications);
        }
        std::printf("]}\n");
    }

    const std::vector<JobRule> rules_;
    const Trace trace_;
    Expander expander_;
    Control control_{expander_};
    Records lines_;
    std::deque<Snapshots> reads_, states_;
    std::deque<Feeder> feeders_;
    std::deque<Host> hosts_;
    // Telemetry reads that wait for their place in the channel's order: cycles of acceptance.
    std::array<std::deque<uint64_t>, kChannels> waitingReads_;
    std::deque<Memory> memories_;
    std::array<uint64_t, kPipelines> considered_{};
    uint64_t events_ = 0, asked_ = 0, slots_ = 0, work_ = 0;
    std::vector<Status> counts_;
    uint64_t last_ = 0;             // cycle of the last accepted request
    uint64_t lastOrdered_ = kStuck; // cycle in which the last telemetry read was ordered
    uint64_t leastWait_ = kStuck;   // shortest time from a read's acceptance to its order
    uint64_t cycles_ = 0;           // of the replay, without the shortest wait of the last read
    double seconds_ = 0, user_ = 0;
    Progress progress_;
};

} // namespace

void replay(const std::string& job, const std::string& trace, const std::string& out) {
    Replay(job, trace, out).run();
}

} // namespace anemone
