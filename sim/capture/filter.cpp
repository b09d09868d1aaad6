// SPDX-License-Identifier: Apache-2.0
#include "filter.hpp"

#include <algorithm>
#include <sstream>

namespace capture {
namespace {
constexpr std::size_t kBuffered = 1 << 16; // events between two deliveries: 1 MiB
}

Filter::Filter(const Config& config, Sink sink, void* context)
    : config_(config), pages_(config), cache_(config), prefetcher_(config), combiner_(config),
      sink_(sink), context_(context) {
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
    // Translated line by line: two neighbouring lines may lie in different pages.
    const std::uint64_t last = (address + size - 1) / kLineBytes;
    for (std::uint64_t line = address / kLineBytes; line <= last; line++) {
        const std::uint64_t physical = pages_.translate(line * kLineBytes) / kLineBytes;
        if (phase_ == Phase::load)
            continue;
        if (phase_ == Phase::record)
            now_ps_ += config_.access_ps * config_.slow_down;
        touch(pc, physical, write);
    }
}

void Filter::touch(std::uint64_t pc, std::uint64_t line, bool write) {
    if (!combiner_.empty()) {
        if (const auto drained = combiner_.drain(line))
            streamed(*drained);
    }
    const Cache::Found found = cache_.access(line, write);
    if (!found.hit) {
        if (phase_ == Phase::record)
            now_ps_ += config_.stall_ps * config_.slow_down;
        bring_in(line, write, false);
    } else if (found.prefetched && phase_ == Phase::record) {
        totals_.prefetches_used++;
    }
    if (!config_.prefetch)
        return;
    const unsigned ahead = prefetcher_.observe(pc, line);
    for (unsigned i = 1; i <= ahead; i++) {
        const std::uint64_t next = line + i * prefetcher_.stride();
        if (!cache_.holds(next) && !combiner_.holds(next))
            bring_in(next, false, true);
    }
}

// The fill goes out first; the line it pushes out waits in a buffer until the read is on its way.
void Filter::bring_in(std::uint64_t line, bool dirty, bool prefetched) {
    (prefetched ? totals_.prefetches : totals_.fills) +=
        emit(line, prefetched ? Event::kPrefetch : 0);
    if (const auto out = cache_.fill(line, dirty, prefetched)) {
        if (phase_ == Phase::record)
            totals_.prefetches_unused += out->unused_prefetch;
        if (out->dirty)
            totals_.writebacks += emit(out->line, Event::kWrite);
    }
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
        // The store goes round the cache, so a copy in it must go: written back if it was dirty,
        // since nobody knows yet that the whole line will be overwritten.
        if (const auto held = cache_.remove(line)) {
            if (held->dirty)
                totals_.writebacks += emit(line, Event::kWrite);
        }
        if (const auto drained = combiner_.store(line, first, n))
            streamed(*drained);
    }
}

void Filter::fence() {
    while (const auto drained = combiner_.drain_oldest())
        streamed(*drained);
}

void Filter::streamed(WriteCombiner::Drained out) {
    const bool recorded = emit(out.line, Event::kWrite | Event::kNonTemporal);
    totals_.streamed += recorded;
    totals_.streamed_partial += recorded && !out.full;
}

void Filter::flush() {
    fence();
    while (const auto out = cache_.clean_next()) {
        totals_.writebacks += emit(out->line, Event::kWrite);
    }
}

bool Filter::emit(std::uint64_t line, std::uint64_t flags) {
    if (phase_ != Phase::record)
        return false;
    now_ps_ += config_.line_ps * config_.slow_down;
    buffer_.push_back({line * kLineBytes | flags, now_ns()});
    if (++events_ == config_.events)
        enter(Phase::done);
    if (buffer_.size() >= kBuffered)
        deliver();
    return true;
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
