// SPDX-License-Identifier: Apache-2.0
// C interface of the filter: tests compare it with a model in Python.
#include <cstdio>
#include <exception>
#include <memory>

#include "filter.hpp"

struct anemone_filter {
    explicit anemone_filter(const capture::Config& config)
        : filter(config, &anemone_filter::collect, this) {}
    static void collect(void* self, const capture::Event* events, std::size_t n) {
        auto& kept = static_cast<anemone_filter*>(self)->events;
        kept.insert(kept.end(), events, events + n);
    }
    capture::Filter filter;
    std::vector<capture::Event> events;
};

extern "C" {

// Returns null when a setting is not allowed, and writes the reason to `error`.
anemone_filter* anemone_filter_new(const char* settings, char* error, std::size_t error_bytes) {
    try {
        return new anemone_filter(capture::Config::parse(settings));
    } catch (const std::exception& e) {
        std::snprintf(error, error_bytes, "%s", e.what());
        return nullptr;
    }
}

void anemone_filter_delete(anemone_filter* f) {
    delete f;
}

// Returns 0, or 1 when the device has no free page left.
int anemone_filter_access(anemone_filter* f, std::uint64_t pc, std::uint64_t address,
                          std::uint64_t size, int write) {
    try {
        f->filter.access(pc, address, size, write != 0);
        return 0;
    } catch (const std::exception&) {
        return 1;
    }
}

void anemone_filter_stream(anemone_filter* f, std::uint64_t address, std::uint64_t size) {
    f->filter.stream(address, size);
}
void anemone_filter_fence(anemone_filter* f) {
    f->filter.fence();
}
void anemone_filter_call(anemone_filter* f) {
    f->filter.call();
}
void anemone_filter_idle(anemone_filter* f, std::uint64_t ns) {
    f->filter.idle(ns);
}
void anemone_filter_phase(anemone_filter* f, int phase) {
    f->filter.enter(static_cast<capture::Phase>(phase));
}
void anemone_filter_flush(anemone_filter* f) {
    f->filter.flush();
}
std::uint64_t anemone_filter_translate(anemone_filter* f, std::uint64_t address) {
    return f->filter.translate(address);
}

// Moves up to `limit` recorded events to the caller, two words each. Returns their number.
std::size_t anemone_filter_take(anemone_filter* f, std::uint64_t* words, std::size_t limit) {
    f->filter.deliver();
    const std::size_t n = f->events.size() < limit ? f->events.size() : limit;
    for (std::size_t i = 0; i < n; i++) {
        words[2 * i] = f->events[i].address_and_flags;
        words[2 * i + 1] = f->events[i].time_ns;
    }
    f->events.erase(f->events.begin(), f->events.begin() + static_cast<std::ptrdiff_t>(n));
    return n;
}

int anemone_filter_totals(anemone_filter* f, char* text, std::size_t bytes) {
    return std::snprintf(text, bytes, "%s", f->filter.json().c_str());
}

} // extern "C"
