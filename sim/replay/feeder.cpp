// SPDX-License-Identifier: Apache-2.0
#include "feeder.h"

#include <algorithm>

namespace anemone {

Feeder::Feeder(const Trace& trace, const std::vector<JobRule>& rules, unsigned channel)
    : trace_(trace), rules_(rules), channel_(channel) {
    readDue(); // no read is due before the first event; this finds the first one that will be
    find();
}

// Returns whether reads are due now, and finds the event after which the next ones are due.
bool Feeder::readDue() {
    reading_.clear();
    due_ = UINT64_MAX;
    for (unsigned r = unsigned(rules_.size()); r-- > 0;) {
        const uint64_t every = rules_[r].readEvery;
        if (!every)
            continue;
        if (events_ && events_ % every == 0)
            reading_.push_back(r);
        due_ = std::min(due_, (events_ / every + 1) * every);
    }
    return !reading_.empty();
}

void Feeder::advance() {
    if (item_.kind == Item::kRead && item_.periodic) {
        if (++item_.line < kLines)
            return;
        item_.line = 0;
        reading_.pop_back();
        if (!reading_.empty()) {
            item_.pipeline = reading_.back();
            return;
        }
        ++readouts_;
    } else {
        events_ += item_.kind == Item::kEvent;
        ++at_;
    }
    find();
}

void Feeder::find() {
    for (;;) {
        if (events_ == due_ && readDue()) {
            item_ = Item{Item::kRead, {}, reading_.back(), 0, true, true, events_};
            return;
        }
        if (at_ == trace_.size()) {
            item_ = Item{};
            return;
        }
        const Row row = trace_[at_];
        if (row.channel() == channel_) {
            if (row.isRead())
                item_ =
                    Item{Item::kRead, row, row.pipeline(), row.line(), row.effect(), false, at_};
            else
                item_ = Item{Item::kEvent, row, 0, 0, false, false, at_};
            return;
        }
        events_ += !row.isRead();
        ++at_;
    }
}

} // namespace anemone
