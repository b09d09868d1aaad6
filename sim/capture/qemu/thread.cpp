// SPDX-License-Identifier: Apache-2.0
#include "thread.hpp"

#include <algorithm>
#include <exception>

namespace capture {
namespace {
constexpr std::uint64_t kReportEvery = 4096; // instructions between a thread's reports
constexpr std::size_t kMostSpilled = 16;     // stored words that are tracked
constexpr std::size_t kMostLines = 4;        // loaded lines that are tracked
// A load counts as complete after 8192 instructions (2 us at 0.25 ns each), or after 64 further
// loads, which is more than a core has in flight.
constexpr std::uint64_t kArrived = 8192, kInFlight = 64;
// At most a sixteenth of the cache, so that the skipped accesses hardly change the LRU order.
std::uint64_t fresh(const Config& config) {
    return std::min<std::uint64_t>(64, config.llc_kib * 1024 / kLineBytes / 16);
}
} // namespace

Thread::Thread(Machine& machine, std::uint16_t number)
    : machine_(machine), core_(machine.config, machine.cache, *this), number_(number),
      recording_(machine.phase() == Phase::record), fresh_(fresh(machine.config)), asked_(fresh_) {
    const std::lock_guard hold(machine_.lock);
    machine_.totals->threads++;
}

void Thread::enter(const Block& block) {
    const bool step = &block == block_ && block.repeated;
    if (flows() && block_ != nullptr) {
        for (const Instruction* insn = block_->instructions.data() + next_;
             next_ < block_->instructions.size(); next_++, insn++)
            pass(*insn);
    }
    if (waited_ != load_ && executed_ - loaded_at_ > kArrived)
        wait(load_);
    block_ = &block;
    next_ = 0;
    current_ = nullptr;
    depends_ = returns_ = 0;
    before_ = executed_;
    // All steps of a repeated string instruction count as one instruction.
    if (!step)
        executed_ += block.instructions.size();
    if (executed_ - reported_ >= kReportEvery)
        settle();
}

void Thread::settle() {
    if (reported_all_)
        return;
    const std::lock_guard hold(machine_.lock);
    reported_all_ = machine_.phase() == Phase::done;
    machine_.totals->loads += loads_;
    machine_.totals->stores += stores_;
    loads_ = stores_ = 0;
    machine_.count(executed_ - reported_);
    reported_ = executed_;
    if (machine_.phase() == Phase::record && !recording_) {
        // The gap before the first row starts here.
        recording_ = true;
        row_at_ = clocked_ = executed_;
    }
}

void Thread::finish() {
    settle();
    if (is_pending_)
        commit();
}

// --- The flow of loaded values ------------------------------------------------------------------

// `insn` accesses memory now, so all instructions before it have been executed.
void Thread::reach(const Instruction& insn) {
    if (current_ == &insn)
        return;
    if (flows()) {
        for (; next_ < insn.index; next_++)
            pass(block_->instructions[next_]);
    }
    next_ = insn.index;
    current_ = &insn;
    depends_ = returns_ = 0;
}

std::uint64_t Thread::newest(std::uint64_t registers) const {
    std::uint64_t load = 0;
    for (std::uint64_t left = registers & holds_; left != 0; left &= left - 1)
        load = std::max(load, of_load_[static_cast<unsigned>(__builtin_ctzll(left))]);
    return load;
}

// `insn` has been executed: decides whether the registers that it wrote hold a loaded value.
void Thread::pass(const Instruction& insn) {
    const std::uint64_t from = insn.flows_from() | (insn.loads ? insn.address : 0);
    const std::uint64_t load = std::max(newest(from), &insn == current_ ? returns_ : 0);
    const std::uint64_t to = insn.flows_to();
    if (load <= waited_) {
        holds_ &= ~to;
        return;
    }
    holds_ |= to;
    for (std::uint64_t left = to; left != 0; left &= left - 1)
        of_load_[static_cast<unsigned>(__builtin_ctzll(left))] = load;
}

void Thread::look(const Instruction& insn, std::uint64_t address, bool store) {
    depends_ = std::max(depends_, newest(insn.address));
    const auto word = std::find_if(spilled_.begin(), spilled_.end(),
                                   [&](const Tracked& t) { return t.unit == address / 8; });
    if (!store) {
        if (word != spilled_.end())
            returns_ = std::max(returns_, word->load);
        for (const Tracked& line : lines_) {
            if (line.unit == address / kLineBytes)
                returns_ = std::max(returns_, line.load);
        }
        return;
    }
    if (word != spilled_.end())
        spilled_.erase(word);
    const std::uint64_t load = newest(insn.flows_from());
    if (load <= waited_)
        return;
    if (spilled_.size() == kMostSpilled)
        spilled_.erase(spilled_.begin());
    spilled_.push_back({address / 8, load});
}

void Thread::wait(std::uint64_t load) {
    waited_ = load;
    for (std::uint64_t left = holds_; left != 0; left &= left - 1) {
        if (of_load_[static_cast<unsigned>(__builtin_ctzll(left))] <= load)
            holds_ &= ~(left & -left);
    }
    const auto complete = [&](const Tracked& t) { return t.load <= load; };
    spilled_.erase(std::remove_if(spilled_.begin(), spilled_.end(), complete), spilled_.end());
    lines_.erase(std::remove_if(lines_.begin(), lines_.end(), complete), lines_.end());
}

// --- Accesses -----------------------------------------------------------------------------------

void Thread::access(const Block& block, const Instruction& insn, std::uint64_t address,
                    std::uint64_t bytes, bool store) {
    const Phase phase = machine_.phase();
    if (phase == Phase::done || block_ != &block)
        return;
    if (is_pending_)
        operations_.push_back({address, static_cast<std::uint32_t>(bytes), store});
    if (store)
        last_store_ = address;
    const std::uint64_t line = address / kLineBytes;
    if (phase == Phase::load) {
        // Only pages are touched.
        const std::uint64_t page = address / kBasePage;
        if (page == last_page_ && (address + bytes - 1) / kBasePage == page)
            return;
        last_page_ = page;
        to_cache(insn, address, bytes, store);
        return;
    }
    reach(insn);
    if (waited_ != load_)
        look(insn, address, store);
    (store ? stores_ : loads_) += recording_;
    Recent& recent = recent_[line % kRecent];
    const bool fresh = recent.line == line && asked_ - recent.asked < fresh_;
    const bool whole = (address + bytes - 1) / kLineBytes == line;
    if (fresh && whole && (!store || recent.written) && !insn.fence)
        return;
    asked_++;
    to_cache(insn, address, bytes, store);
    if (store && insn.non_temporal)
        recent.line = ~0ull;
    else
        recent = {line, asked_, store || (fresh && recent.written)};
}

void Thread::to_cache(const Instruction& insn, std::uint64_t address, std::uint64_t bytes,
                      bool store) {
    const std::lock_guard hold(machine_.lock);
    try {
        catch_up(insn);
        if (insn.fence)
            core_.fence();
        while (bytes > 0) {
            const unsigned first = address % kLineBytes;
            const auto n = static_cast<unsigned>(std::min(bytes, kLineBytes - first));
            const std::uint64_t line = machine_.pages.translate(address) / kLineBytes;
            line_ = address / kLineBytes;
            address += n;
            bytes -= n;
            if (machine_.phase() == Phase::load)
                continue;
            if (store && insn.non_temporal)
                core_.stream(line, first, n);
            else
                core_.access(insn.pc, line, store);
        }
    } catch (const std::exception& e) {
        machine_.fail(e.what());
    }
}

void Thread::fence() {
    const std::lock_guard hold(machine_.lock);
    core_.fence();
}

// --- Clock and rows -----------------------------------------------------------------------------

void Thread::catch_up(const Instruction& insn) {
    if (!recording_)
        return;
    const std::uint64_t here = before_ + insn.index;
    if (here <= clocked_)
        return; // a step of a repeated instruction
    now_ps_ += (here - clocked_) * machine_.run.instruction_ps * machine_.config.slow_down;
    clocked_ = here;
}

void Thread::stalls() {
    if (recording_)
        now_ps_ += machine_.config.stall_ps * machine_.config.slow_down;
}

void Thread::moves(std::uint64_t line, Kind kind, bool full) {
    const bool demand = kind == Kind::load || kind == Kind::rfo;
    const bool waits = demand && depends_ > waited_;
    if (recording_ && machine_.phase() == Phase::record) {
        now_ps_ += machine_.config.line_ps * machine_.config.slow_down;
        // A thread that slept or was not scheduled catches up with the time of the others.
        machine_.now_ps = now_ps_ = std::max(now_ps_, machine_.now_ps);
        const std::uint64_t gap = (clocked_ - row_at_) * machine_.run.instruction_ps;
        row_at_ = clocked_;
        machine_.totals->streamed_partial += !full;
        machine_.move({line * kLineBytes, now_ps_ / 1000, static_cast<double>(gap) / 1000, op_,
                       number_, static_cast<std::uint8_t>(kind), waits, 0});
    }
    if (waits)
        wait(load_);
    if (kind != Kind::load)
        return;
    returns_ = ++load_;
    loaded_at_ = executed_;
    if (load_ % kInFlight == 0 && load_ - waited_ > kInFlight)
        wait(load_ - kInFlight);
    if (lines_.size() == kMostLines)
        lines_.erase(lines_.begin());
    lines_.push_back({line_, load_});
}

void Thread::prefetched(bool used) {
    if (recording_) {
        auto& totals = *machine_.totals;
        (used ? totals.prefetches_used : totals.prefetches_unused)++;
    }
}

// --- Instructions, one by one -------------------------------------------------------------------

void Thread::execute(const Block&, const Instruction& insn) {
    if (is_pending_)
        commit();
    if (!machine_.writes_instructions())
        return;
    is_pending_ = true;
    pending_ = {insn.pc, insn.address, insn.reads, insn.writes, 0,
                0,       number_,      insn.bytes, insn.branch};
}

void Thread::commit() {
    const std::lock_guard hold(machine_.lock);
    pending_.n = static_cast<std::uint32_t>(operations_.size());
    machine_.write(pending_, operations_.data());
    operations_.clear();
    is_pending_ = false;
}

} // namespace capture
