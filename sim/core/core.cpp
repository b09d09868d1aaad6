// SPDX-License-Identifier: Apache-2.0
#include "core.hpp"

#include <algorithm>

namespace core {

namespace {

// Meaning of `latency` for a branch (op.hpp).
enum Branch : std::uint8_t { predicted, mispredicted, not_taken, taken };

} // namespace

Core::Core(const Config& config, Shared& shared, std::size_t number)
    : config_(config), memory_(config, shared, number, timeline_), completed_(Recent::kKept),
      retired_(config.rob), load_retired_(config.loads), committed_(config.stores),
      predictor_(std::size_t{1} << config.predictor_log2, 1) {}

void Core::wait_until(Cycle t) {
    if (t <= entry_)
        return;
    waiting_ -= timeline_.issued_in(entry_, t);
    entry_ = t;
    entered_ = 0;
}

void Core::enter(const Op& op) {
    if (entered_ == config_.width)
        wait_until(entry_ + 1);
    wait_until(redirected_);
    if (operations_ >= config_.rob)
        wait_until(retired_[operations_ - config_.rob]);
    while (waiting_ >= config_.scheduler) // until one more has issued
        wait_until(timeline_.next_executed(entry_) + 1);
    if (op.kind == Kind::load && loads_ >= config_.loads)
        wait_until(load_retired_[loads_ - config_.loads]);
    if (op.kind == Kind::store && stores_ >= config_.stores) {
        const Cycle freed = committed_[stores_ - config_.stores];
        if (freed > entry_) {
            timeline_.set(Timeline::stores_full, entry_, freed);
            wait_until(freed);
        }
    }
    entered_++;
}

Cycle Core::inputs_ready(const Op& op) {
    Cycle ready = entry_ + 1;
    for (const std::uint64_t back : op.from)
        if (back != 0 && back <= operations_ && back < Recent::kKept)
            ready = std::max(ready, completed_[operations_ - back]);
    // The timeline ends at kHorizon. After a long chain of misses, entering late loses nothing.
    if (ready > entry_ + kHorizon / 2) {
        wait_until(ready - kHorizon / 2);
        entered_ = 1;
    }
    return ready;
}

Cycle Core::issue(Cycle t, PerCycle* port, std::uint64_t ports) {
    // The bit `executed` marks cycles with issues, so the counts of other cycles are never read.
    while (timeline_.is(Timeline::executed, t)) {
        if (timeline_.issued[t] < config_.ports && (!port || (*port)[t] < ports)) {
            timeline_.issued[t]++;
            if (port)
                (*port)[t]++;
            waiting_++;
            return t;
        }
        t++;
    }
    timeline_.set(Timeline::executed, t);
    timeline_.issued[t] = 1;
    if (port)
        (*port)[t] = 1;
    waiting_++;
    return t;
}

bool Core::mispredicts(const Op& op) {
    if (op.latency < not_taken)
        return op.latency == Branch::mispredicted;
    const bool went = op.latency == taken;
    std::uint8_t& counter = predictor_[(op.pc ^ history_) & (predictor_.size() - 1)];
    const bool wrong = (counter >= 2) != went;
    if (went && counter < 3)
        counter++;
    if (!went && counter > 0)
        counter--;
    history_ = (history_ << 1 | went) & (predictor_.size() - 1);
    return wrong;
}

void Core::execute(const Op& op) {
    enter(op);
    const Cycle ready = inputs_ready(op);
    Forward& forward = forwards_[(op.address >> 3) & (kForwards - 1)];
    const std::uint64_t word = op.address >> 3;
    Cycle done = 0;
    switch (op.kind) {
    case Kind::compute:
        done = issue(ready, nullptr, 0) + op.latency;
        break;
    case Kind::branch:
        done = issue(ready, nullptr, 0) + 1;
        if (mispredicts(op)) {
            redirected_ = done + config_.mispredict;
            mispredicted_++;
        }
        break;
    case Kind::load: {
        const Cycle at = issue(ready, &timeline_.load_ports, config_.load_ports);
        const bool forwarded = forward.word == word && forward.committed > at;
        if (forwarded)
            done = std::max(at, forward.ready) + config_.forward;
        else
            done = memory_.load(op.pc, op.address, at);
        loaded_ = {done - at, forwarded ? Origin::l1 : memory_.origin()};
        break;
    }
    case Kind::store:
        done = issue(ready, &timeline_.store_ports, config_.store_ports) + 1;
        break;
    }
    // Retires in order, `width` per cycle.
    if (done > last_retired_) {
        last_retired_ = done;
        retired_together_ = 1;
    } else if (++retired_together_ > config_.width) {
        last_retired_++;
        retired_together_ = 1;
    }
    completed_[operations_] = done;
    retired_[operations_] = last_retired_;
    operations_++;
    instructions_ += !op.continues;
    if (op.kind == Kind::load)
        load_retired_[loads_++] = last_retired_;
    if (op.kind == Kind::store) {
        // A store requests its line at retirement. Stores commit in order, one per cycle.
        const Cycle owned = memory_.acquire(op.address, last_retired_);
        last_committed_ = std::max(owned, last_committed_ + 1);
        committed_[stores_++] = last_committed_;
        forward = {word, done, last_committed_};
    }
    if ((operations_ & 63) == 0)
        timeline_.settle(entry_);
}

void Core::settle(bool all) {
    timeline_.settle(all ? std::max(last_retired_, last_committed_) + kHorizon / 4 : entry_);
}

} // namespace core
