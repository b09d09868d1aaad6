// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "clock.h"
#include "code.h"
#include "contents.h"
#include "controller.h"
#include "host.h"
#include "job.h"
#include "memory.h"
#include "records.h"

namespace anemone {

namespace {

// Sets that the hardware initialises after power-up. A larger near memory is then preset to the
// state after a full initialisation, because simulating one cycle per line would take minutes.
constexpr uint64_t kSwept = 1 << 16;
constexpr uint64_t kStuck = 100'000; // cycles without progress that mean a deadlock
constexpr uint64_t kQuiet = 200;     // idle cycles that mean the last swap is over

class Run {
public:
    Run(const std::string& job, const std::string& trace, const std::string& out)
        : job_(readJob(job)), trace_(trace), outcomeFile_(out + "/outcomes"),
          setFile_(out + "/sets") {
        outcomes_.reserve(trace_.size());
    }

    void run() {
        powerUp();
        const Clock clock;
        const uint64_t first = controller_.cycle();
        feed();
        const double seconds = clock.seconds(), user = Clock::cpu() - clock.user;
        const uint64_t cycles = controller_.cycle() - first;
        rest();
        const Counters counters = controller_.counters();
        checkCounters(counters);
        for (const auto& [set, tag] : checkContents(job_, trace_, host_, near_, far_)) {
            const std::array<uint64_t, 2> record{set, tag};
            setFile_.put(record.data(), sizeof record);
        }
        setFile_.finish();
        if (!outcomes_.empty())
            outcomeFile_.put(outcomes_.data(), outcomes_.size());
        outcomeFile_.finish();
        report(counters, cycles, seconds, user);
    }

private:
    void powerUp() {
        const uint64_t swept = std::min(job_.nearLines, kSwept);
        controller_.configure(job_, swept);
        reset(true);
        for (const auto& [line, held] : near_.written())
            if (line >= swept || held.sideband != code_.word(line, 0))
                throw std::runtime_error(
                    "the sweep of near memory leaves something else than the tags of power-up");
        if (near_.written().size() != swept)
            throw std::runtime_error("the sweep of near memory leaves lines out");
        if (!far_.written().empty() || far_.reads() || near_.reads())
            throw std::runtime_error("more than near memory is swept");
        near_.forget([this](uint64_t line) {
            if (line >= job_.nearLines)
                return Line::of(unwritten(line - job_.nearLines + job_.dedicatedStart));
            Line held = Line::of(unwritten(line));
            held.sideband = code_.word(line, 0);
            return held;
        });
        if (swept == job_.nearLines)
            return;
        controller_.configure(job_, job_.nearLines);
        reset(false);
        if (!near_.written().empty())
            throw std::runtime_error("a warm reset sweeps near memory");
    }

    void reset(bool power) {
        controller_.reset(true, power);
        for (unsigned i = 0; i < 4; ++i)
            step();
        controller_.reset(false, false);
        const uint64_t limit = controller_.cycle() + 1000 + 2 * job_.near.interval * kSwept;
        while (!controller_.initialised()) {
            if (controller_.cycle() > limit)
                throw std::runtime_error("stuck: near memory is not initialised");
            step();
        }
    }

    // A cycle without the host.
    void step() {
        offer();
        controller_.settle();
        take();
        controller_.tick();
    }

    void offer() {
        near_.offer(controller_.cycle());
        far_.offer(controller_.cycle());
        controller_.setSideband(near_.sideband());
    }

    void take() {
        near_.take(controller_.cycle(), controller_.sideband());
        far_.take(controller_.cycle(), 0);
        if (const auto outcome = controller_.outcome()) {
            outcomes_.push_back(*outcome);
            if (outcomes_.size() > host_.accepted())
                throw std::runtime_error("an outcome of no access");
        }
    }

    // Runs the trace until everything has been accepted and answered.
    void feed() {
        uint64_t last = controller_.cycle(), before = 0;
        while (!host_.done()) {
            host_.offer();
            offer();
            controller_.settle();
            host_.take(controller_.cycle());
            take();
            controller_.tick();
            if (const uint64_t now = host_.accepted() + host_.answered(); now != before) {
                before = now;
                last = controller_.cycle();
            }
            if (controller_.cycle() - last > kStuck)
                throw std::runtime_error("stuck: nothing accepted or answered for " +
                                         std::to_string(kStuck) + " cycles, after " +
                                         std::to_string(host_.accepted()) + " accesses");
            if ((controller_.cycle() & 0xFFF) == 0)
                progress_.show(host_.answered(), trace_.size());
        }
    }

    // Lets swaps finish: they go on after the last response.
    void rest() {
        host_.offer();
        const uint64_t limit = controller_.cycle() + kStuck;
        for (uint64_t quiet = 0; quiet < kQuiet; ++quiet) {
            step();
            if (!near_.idle() || !far_.idle())
                quiet = 0;
            if (controller_.cycle() > limit)
                throw std::runtime_error("memory is accessed long after all is answered");
        }
    }

    void checkCounters(const Counters& c) const {
        std::array<uint64_t, 4> kinds{};
        for (const uint8_t kind : outcomes_)
            ++kinds.at(kind);
        expect(outcomes_.size(), trace_.size(), "outcomes, accesses");
        expect(c.hits, kinds[kHit], "hits counted, outcomes");
        expect(c.misses, kinds[kMiss] + kinds[kSwap], "misses counted, outcomes");
        expect(c.swaps, kinds[kSwap], "swaps counted, outcomes");
        expect(c.errors, 0, "errors counted, expected");
        const uint64_t seen = near_.reads() + near_.writes() + far_.reads() + far_.writes();
        expect(c.nearReads + c.nearWrites + c.farReads + c.farWrites, seen + c.forwarded,
               "accesses of near and far counted, seen at the ports or forwarded");
        for (const auto& [counted, port] :
             {std::pair{c.nearReads, near_.reads()}, std::pair{c.nearWrites, near_.writes()},
              std::pair{c.farReads, far_.reads()}, std::pair{c.farWrites, far_.writes()}})
            expect(port <= counted, true, "no more accesses at a port than are counted");
    }

    static void expect(uint64_t a, uint64_t b, const char* what) {
        if (a != b)
            throw std::runtime_error(std::string(what) + ": " + std::to_string(a) + ", " +
                                     std::to_string(b));
    }

    void report(const Counters& c, uint64_t cycles, double seconds, double user) const {
        const std::array<std::pair<const char*, uint64_t>, 14> figures{{
            {"hits", c.hits},
            {"misses", c.misses},
            {"swaps", c.swaps},
            {"near_reads", c.nearReads},
            {"near_writes", c.nearWrites},
            {"far_reads", c.farReads},
            {"far_writes", c.farWrites},
            {"forwarded", c.forwarded},
            {"mismatches", host_.mismatches()},
            {"cycles", cycles},
            {"port_near_reads", near_.reads()},
            {"port_near_writes", near_.writes()},
            {"port_far_reads", far_.reads()},
            {"port_far_writes", far_.writes()},
        }};
        std::printf("result {");
        for (const auto& [name, value] : figures)
            std::printf("\"%s\": %llu, ", name, (unsigned long long)value);
        std::printf("\"seconds\": %.6f, \"user_seconds\": %.6f}\n", seconds, user);
    }

    const Job job_;
    const Trace trace_;
    const SidebandCode code_;
    Records outcomeFile_, setFile_;
    Controller controller_;
    Host host_{controller_.host(), trace_, job_};
    // Before its initialisation, a near line's sideband is no code word.
    Memory near_{"near", controller_.near(), job_.near, job_,
                 [](uint64_t) { return Line{{}, ~uint64_t(0)}; }};
    Memory far_{"far", controller_.far(), job_.far, job_,
                [this](uint64_t line) { return Line::of(unwritten(line + job_.nearLines)); }};
    std::vector<uint8_t> outcomes_;
    Progress progress_;
};

} // namespace

void run(const std::string& job, const std::string& trace, const std::string& out) {
    Run(job, trace, out).run();
}

} // namespace anemone
