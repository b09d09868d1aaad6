// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <stdexcept>
#include <utility>

namespace anemone {

namespace {

constexpr uint64_t kQueue = 16;       // the ready signals are low when this many accesses wait
constexpr uint64_t kWriteLatency = 8; // cycles; a memory controller answers once it has the data
constexpr std::size_t kAhead = 16;    // responses among which the next one is chosen

// Takes the first response that is due and does not overtake one of its own id. inOrder: it
// overtakes none at all.
template <class Pending>
std::optional<Pending> takeDue(std::deque<Pending>& all, uint64_t cycle, bool inOrder) {
    for (std::size_t i = 0; i < std::min(all.size(), inOrder ? 1 : kAhead); ++i) {
        bool waits = all[i].due > cycle;
        for (std::size_t k = 0; k < i && !waits; ++k)
            waits = all[k].id == all[i].id;
        if (waits)
            continue;
        std::optional<Pending> found = std::move(all[i]);
        all.erase(all.begin() + std::ptrdiff_t(i));
        return found;
    }
    return std::nullopt;
}

} // namespace

Memory::Memory(std::string name, AxiPins& pins, const Timing& timing, const Job& job,
               std::function<Line(uint64_t)> first)
    : name_(std::move(name)), pins_(pins), timing_(timing), jitter_(job.jitter),
      first_(std::move(first)), random_(job.seed + name_.size()) {
    pins_.r.last = 1;
}

void Memory::fail(const std::string& what) const {
    throw std::runtime_error(name_ + " memory: " + what);
}

uint64_t Memory::chance(uint64_t below) {
    return below > 1 ? random_() % below : 0;
}

uint64_t Memory::due(uint64_t cycle, uint64_t latency) {
    const uint64_t start = std::max(cycle, next_);
    next_ = start + timing_.interval;
    return start + latency + chance(jitter_ + 1);
}

bool Memory::ready(uint64_t cycle) const {
    return next_ <= cycle + kQueue * timing_.interval;
}

Line Memory::at(uint64_t line) const {
    const auto found = lines_.find(line);
    return found == lines_.end() ? first_(line) : found->second;
}

void Memory::offer(uint64_t cycle) {
    pins_.ar.ready = ready(cycle);
    pins_.aw.ready = ready(cycle) && addressed_.size() < kQueue;
    pins_.w.ready = ready(cycle) && beats_.size() < kQueue;
    if (!answer_)
        if (auto read = takeDue(asked_, cycle, !jitter_)) {
            answer_ = Answer{read->id, read->late ? at(read->line) : read->content};
            pins_.r.id = read->id;
            for (unsigned w = 0; w < kLineWords; ++w)
                setWord(pins_.r.data, w, answer_->line.words[w]);
        }
    pins_.r.valid = answer_.has_value();
    if (!written_)
        if (auto write = takeDue(writing_, cycle, !jitter_)) {
            if (!write->early)
                perform(*write);
            written_ = write->id;
            pins_.b.id = write->id;
        }
    pins_.b.valid = written_.has_value();
}

Memory::Address Memory::address(const AddressPins& pins) const {
    if (pins.len || pins.size != kLineSize || pins.addr & 63)
        fail("an access of something else than a line");
    return {pins.addr >> kLineSize, pins.id};
}

void Memory::take(uint64_t cycle, uint64_t sideband) {
    if (pins_.r.valid && pins_.r.ready)
        answer_.reset();
    if (pins_.b.valid && pins_.b.ready)
        written_.reset();
    if (pins_.ar.valid && pins_.ar.ready) {
        const Address asked = address(pins_.ar);
        const bool late = jitter_ && chance(2);
        asked_.push_back({due(cycle, timing_.latency), asked.line, asked.id, late, {}});
        if (!late)
            asked_.back().content = at(asked.line);
        ++reads_;
    }
    if (pins_.aw.valid && pins_.aw.ready)
        addressed_.push_back(address(pins_.aw));
    if (pins_.w.valid && pins_.w.ready) {
        if (!pins_.w.last || pins_.w.user)
            fail("data that are poisoned, or not the last of a write");
        Beat beat{{}, pins_.w.strb};
        for (unsigned w = 0; w < kLineWords; ++w)
            beat.content.words[w] = word(pins_.w.data, w);
        beat.content.sideband = sideband;
        beats_.push_back(beat);
    }
    while (!addressed_.empty() && !beats_.empty()) {
        const bool early = jitter_ && chance(2);
        writing_.push_back({due(cycle, kWriteLatency), addressed_.front().line,
                            addressed_.front().id, early, beats_.front().content,
                            beats_.front().strobe});
        addressed_.pop_front();
        beats_.pop_front();
        if (early)
            perform(writing_.back());
        ++writes_;
    }
}

void Memory::perform(const Write& write) {
    Line line = write.content;
    if (write.strobe != ~uint64_t(0)) {
        const Line before = at(write.line);
        for (unsigned byte = 0; byte < 64; ++byte)
            if (!(write.strobe >> byte & 1)) {
                const uint64_t mask = uint64_t(0xFF) << byte % 8 * 8;
                uint64_t& word = line.words[byte / 8];
                word = (word & ~mask) | (before.words[byte / 8] & mask);
            }
    }
    lines_[write.line] = line;
}

bool Memory::idle() const {
    return asked_.empty() && !answer_ && addressed_.empty() && beats_.empty() && writing_.empty() &&
           !written_;
}

void Memory::forget(std::function<Line(uint64_t)> first) {
    lines_.clear();
    first_ = std::move(first);
    reads_ = writes_ = 0;
}

} // namespace anemone
