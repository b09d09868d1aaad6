// SPDX-License-Identifier: Apache-2.0
#include "readout.h"

#include <stdexcept>

namespace anemone {

Snapshots::Snapshots(const std::string& path, unsigned counterWidth)
    : records_(path), bits_(8u << counterWidth) {}

Snapshot* Snapshots::at(uint64_t event) {
    for (const auto& snapshot : open_)
        if (snapshot->event == event)
            return snapshot.get();
    open_.push_back(std::make_unique<Snapshot>(Snapshot{
        event, kLines * kChannels, std::vector<uint64_t>(std::size_t(kStates) * kChannels)}));
    return open_.back().get();
}

void Snapshots::put(Snapshot* snapshot, unsigned channel, unsigned line, const Line& data) {
    for (unsigned w = 0; w < kLineWords; ++w)
        snapshot->words[(std::size_t(line) * kLineWords + w) * kChannels + channel] = data[w];
    --snapshot->missing;
    while (!open_.empty() && open_.front()->missing == 0) {
        write(*open_.front());
        open_.pop_front();
    }
}

void Snapshots::write(const Snapshot& snapshot) {
    struct {
        uint64_t event, value;
        uint32_t index, channel;
    } record{snapshot.event, 0, 0, 0};
    static_assert(sizeof record == 24, "records have no holes");
    const unsigned perWord = 64 / bits_;
    const uint64_t mask = ~uint64_t(0) >> (64 - bits_);
    for (std::size_t word = 0; word < kStates; ++word) {
        const uint64_t* values = &snapshot.words[word * kChannels];
        uint64_t any = 0;
        for (unsigned c = 0; c < kChannels; ++c)
            any |= values[c];
        if (!any)
            continue;
        for (unsigned sub = 0; sub < perWord; ++sub) {
            for (unsigned c = 0; c < kChannels; ++c) {
                record.value = values[c] >> (sub * bits_) & mask;
                record.index = uint32_t(word * perWord + sub);
                record.channel = c;
                if (record.value)
                    records_.put(&record, sizeof record);
            }
        }
    }
}

void Snapshots::finish() {
    if (!open_.empty())
        throw std::runtime_error("a telemetry read has lines missing");
    records_.finish();
}

} // namespace anemone
