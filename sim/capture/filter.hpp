// SPDX-License-Identifier: Apache-2.0
// Turns a program's accesses into memory traffic: address translation, cache and prefetcher, time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cache.hpp"
#include "config.hpp"
#include "core.hpp"
#include "pages.hpp"

namespace capture {

// One line that left or entered the cache. 16 bytes, the format of the file (little-endian).
struct Event {
    static constexpr std::uint64_t kWrite = 1ull << 63;
    static constexpr std::uint64_t kPrefetch = 1ull << 62;
    static constexpr std::uint64_t kNonTemporal = 1ull << 61;
    std::uint64_t address_and_flags; // physical byte address, 64 B aligned
    std::uint64_t time_ns;
};

enum class Phase {
    load,   // only pages are touched: set-up at full speed
    warm,   // the cache runs, too
    record, // its traffic is recorded, too; the clock starts at 0
    done,   // enough events, or the program has ended
};

struct Totals {
    std::uint64_t loads = 0, stores = 0, calls = 0; // of the program, while recorded
    std::uint64_t fills = 0, writebacks = 0, prefetches = 0, streamed = 0; // events, by cause
    std::uint64_t streamed_partial = 0; // incomplete lines among `streamed`
    std::uint64_t prefetches_used = 0, prefetches_unused = 0;
};

class Filter final : private Traffic {
public:
    using Sink = void (*)(void* context, const Event* events, std::size_t n);

    Filter(const Config& config, Sink sink, void* context);
    Filter(const Filter&) = delete; // the core holds a reference to it

    // The instruction at `pc` accesses `size` bytes at a virtual address, line by line, in order.
    // Throws std::length_error when the device has no free page left.
    void access(std::uint64_t pc, std::uint64_t address, std::uint64_t size, bool write);
    void stream(std::uint64_t address, std::uint64_t size); // a non-temporal store
    void fence() { core_.fence(); }                         // empties the write-combining buffers
    void call() {
        if (phase_ != Phase::record)
            return;
        totals_.calls++;
        now_ps_ += config_.call_ps * config_.slow_down;
    }
    void idle(std::uint64_t ns) { // in trace time: slow_down does not apply
        if (phase_ == Phase::record)
            now_ps_ += ns * 1000;
    }

    void enter(Phase phase); // phases only go forward
    void flush();            // writes back all dirty lines, as events
    void deliver();          // passes the buffered events to the sink

    Phase phase() const { return phase_; }
    std::uint64_t events() const { return events_; }
    std::uint64_t now_ns() const { return now_ps_ / 1000; }
    double progress() const {
        return phase_ == Phase::done ? 1.0 : double(events_) / double(config_.events);
    }
    std::uint64_t translate(std::uint64_t address) { return pages_.translate(address); }
    const Config& config() const { return config_; }
    std::string json() const; // totals and derived figures, one object

private:
    void stalls() override;
    void moves(std::uint64_t line, Kind kind, bool full) override;
    void prefetched(bool used) override;

    Config config_;
    PageMap pages_;
    Cache cache_;
    Core core_;
    Totals totals_;
    Phase phase_ = Phase::load;
    std::uint64_t now_ps_ = 0, events_ = 0;
    std::vector<Event> buffer_;
    Sink sink_;
    void* context_;
};

} // namespace capture
