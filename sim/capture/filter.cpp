// SPDX-License-Identifier: Apache-2.0
#include "filter.hpp"

#include <algorithm>
#include <sstream>

namespace capture {
namespace {
constexpr std::size_t kBuffered = 1 << 16; // events between two deliveries: 1 MiB
}

Filter::Filter(const Config& config, Sink sink, void* context)
    : config_(config), pages_(config), cache_(config), core_(config, cache_, *this), sink_(sink),
      context_(context) {
    buffer_.reserve(kBuffered);
}

void Filter::enter(Phase phase) {
    if (phase <= phase_)
        return;
    phase_ = phase;
    if (phase == Phase::done)
        deliver();
}

void Filter::access(std::uint64_t pc, std::uint64_t address, std::uint64_t size, bool write) {
    if (phase_ == Phase::done || size == 0)
        return;
    if (phase_ == Phase::record)
        (write ? totals_.stores : totals_.loads)++;
    // Translated line by line, because neighbouring lines may lie in different pages.
    const std::uint64_t last = (address + size - 1) / kLineBytes;
    for (std::uint64_t line = address / kLineBytes; line <= last; line++) {
        const std::uint64_t physical = pages_.translate(line * kLineBytes) / kLineBytes;
        if (phase_ == Phase::load)
            continue;
        if (phase_ == Phase::record)
            now_ps_ += config_.access_ps * config_.slow_down;
        core_.access(pc, physical, write);
    }
}

void Filter::stalls() {
    if (phase_ == Phase::record)
        now_ps_ += config_.stall_ps * config_.slow_down;
}

void Filter::prefetched(bool used) {
    if (phase_ == Phase::record)
        (used ? totals_.prefetches_used : totals_.prefetches_unused)++;
}

void Filter::stream(std::uint64_t address, std::uint64_t size) {
    if (phase_ == Phase::done)
        return;
    if (phase_ == Phase::record)
        totals_.stores++;
    while (size > 0) {
        const unsigned first = address % kLineBytes;
        const unsigned n = static_cast<unsigned>(std::min(size, kLineBytes - first));
        const std::uint64_t line = pages_.translate(address) / kLineBytes;
        address += n;
        size -= n;
        if (phase_ == Phase::load)
            continue;
        if (phase_ == Phase::record)
            now_ps_ += config_.access_ps * config_.slow_down;
        core_.stream(line, first, n);
    }
}

void Filter::flush() {
    fence();
    while (const auto out = cache_.clean_next())
        moves(out->line, Kind::writeback, true);
}

void Filter::moves(std::uint64_t line, Kind kind, bool full) {
    if (phase_ != Phase::record)
        return;
    now_ps_ += config_.line_ps * config_.slow_down;
    std::uint64_t flags = 0;
    switch (kind) {
    case Kind::load:
    case Kind::rfo:
        totals_.fills++;
        break;
    case Kind::prefetch:
        totals_.prefetches++;
        flags = Event::kPrefetch;
        break;
    case Kind::writeback:
        totals_.writebacks++;
        flags = Event::kWrite;
        break;
    case Kind::nt:
        totals_.streamed++;
        totals_.streamed_partial += !full;
        flags = Event::kWrite | Event::kNonTemporal;
        break;
    }
    buffer_.push_back({line * kLineBytes | flags, now_ns()});
    if (++events_ == config_.events)
        enter(Phase::done);
    if (buffer_.size() >= kBuffered)
        deliver();
}

void Filter::deliver() {
    if (!buffer_.empty())
        sink_(context_, buffer_.data(), buffer_.size());
    buffer_.clear();
}

std::string Filter::json() const {
    std::ostringstream out;
    const auto& t = totals_;
    out << "{\"events\": " << events_ << ", \"loads\": " << t.loads << ", \"stores\": " << t.stores
        << ", \"calls\": " << t.calls << ", \"fills\": " << t.fills
        << ", \"writebacks\": " << t.writebacks << ", \"prefetches\": " << t.prefetches
        << ", \"streamed\": " << t.streamed << ", \"streamed_partial\": " << t.streamed_partial
        << ", \"prefetches_used\": " << t.prefetches_used
        << ", \"prefetches_unused\": " << t.prefetches_unused
        << ", \"dirty_left\": " << cache_.dirty_lines() << ", \"pages\": " << pages_.used()
        << ", \"time_ns\": " << now_ns() << "}";
    return out.str();
}

} // namespace capture
