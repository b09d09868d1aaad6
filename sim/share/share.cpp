// SPDX-License-Identifier: Apache-2.0
#include "share.h"

#include <cstdio>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include "clock.h"
#include "expander.h"
#include "memory.h"
#include "port.h"

namespace anemone {

namespace {

constexpr unsigned kHosts = BUILT_HOSTS;
constexpr unsigned kSender = 0, kReceiver = 1;
// A core stalls when this much of its other work waits at a port or is outstanding there.
constexpr uint64_t kMostWaiting = 32, kMostUnderWay = 256;
constexpr uint64_t kStuck = 100'000;               // cycles per line that mean a deadlock
constexpr uint64_t kOtherWork = uint64_t(1) << 24; // first address of the other work

unsigned channelOf(uint64_t address) {
    return unsigned(address >> kLineSize) & (kChannels - 1);
}

class Share {
public:
    explicit Share(const Setting& setting) : set_(setting), random_(setting.seed) {
        for (unsigned i = 0; i < kHosts * kChannels; ++i)
            ports_.emplace_back(expander_.upstream(i));
        for (MemoryPins& pins : expander_.memories()) {
            memories_.emplace_back(pins, true, set_.latency);
            memories_.back().refresh(set_.refreshEvery, set_.refreshFor);
        }
    }

    void run() {
        expander_.reset();
        const uint64_t first = expander_.cycle();
        for (message_ = 1; message_ <= set_.messages; ++message_) {
            all(kSender, true, set_.lines);
            all(kReceiver, false, set_.inFlight);
            progress_.show(message_, set_.messages);
        }
        report(expander_.cycle() - first);
    }

private:
    // One host writes or loads all lines of the message, `inFlight` at a time.
    void all(unsigned host, bool write, uint64_t inFlight) {
        const uint64_t began = expander_.cycle();
        asked_ = answered_ = 0;
        while (answered_ < set_.lines) {
            for (; asked_ < set_.lines && asked_ - answered_ < inFlight; ++asked_) {
                const uint64_t address = asked_ << kLineSize;
                port(host, channelOf(address))
                    .arrive({expander_.cycle(), address, write, true, message_});
            }
            cycle();
            if (expander_.cycle() - began > kStuck * set_.lines)
                throw std::runtime_error("stuck: a message is not whole");
        }
    }

    void cycle() {
        const uint64_t now = expander_.cycle();
        otherWork(now);
        for (Port& one : ports_)
            one.offer();
        for (Memory& memory : memories_)
            memory.offer(now);
        expander_.settle();
        for (Port& one : ports_) {
            const Answered answered = one.take(now);
            if (answered.read)
                ++(answered.read->message ? loads_ : reads_)[answered.cycles];
            for (const Request* done : {answered.read, answered.written})
                answered_ += done && done->message;
        }
        for (Memory& memory : memories_)
            memory.take(now);
        expander_.tick();
    }

    void otherWork(uint64_t now) {
        std::uniform_real_distribution<double> chance(0, 1);
        for (unsigned host = 0; host < kHosts; ++host)
            for (unsigned c = 0; c < kChannels; ++c) {
                Port& one = port(host, c);
                if (one.waiting() >= kMostWaiting || one.underWay() >= kMostUnderWay ||
                    chance(random_) >= set_.load / kHosts)
                    continue;
                const uint64_t line = random_() % (kOtherWork >> kLineSize) * kChannels + c;
                const bool write = chance(random_) >= set_.reads;
                one.arrive({now, kOtherWork + (line << kLineSize), write, false, 0});
            }
    }

    Port& port(unsigned host, unsigned channel) { return ports_[host * kChannels + channel]; }

    static void print(const char* name, const std::map<uint64_t, uint64_t>& counts) {
        std::printf("\"%s\": [", name);
        const char* comma = "";
        for (const auto& [cycles, count] : counts) {
            std::printf("%s[%llu, %llu]", comma, (unsigned long long)cycles,
                        (unsigned long long)count);
            comma = ", ";
        }
        std::printf("], ");
    }

    void report(uint64_t cycles) const {
        uint64_t requests = 0;
        for (const Port& one : ports_)
            requests += one.accepted();
        std::printf("result {");
        print("latency", loads_);
        print("other", reads_);
        std::printf("\"cycles\": %llu, \"requests\": %llu}\n", (unsigned long long)cycles,
                    (unsigned long long)requests);
    }

    const Setting set_;
    std::mt19937_64 random_;
    Expander expander_;
    std::vector<Port> ports_; // host * kChannels + channel
    std::vector<Memory> memories_;
    std::map<uint64_t, uint64_t> loads_, reads_; // histograms: cycles, count
    uint64_t message_ = 0, asked_ = 0, answered_ = 0;
    Progress progress_;
};

} // namespace

void share(const Setting& setting) {
    Share(setting).run();
}

} // namespace anemone
