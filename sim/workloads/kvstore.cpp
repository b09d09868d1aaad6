// SPDX-License-Identifier: Apache-2.0
// An in-memory key-value store under a skewed load with a moving hot set, like FlexKVS in NEMO
// §5.1: 32 B keys, 1024 B values, and 20 % of the keys take 90 % of the accesses. Half-way through,
// a disjoint 20 % becomes hot.
//
// keys=150000 sets=10 hot=20 share=90 shift=1 think_ns=0 seed=1
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "anemone_capture.h"
#include "arguments.hpp"
#include "random.hpp"

namespace {

constexpr std::size_t kKeyBytes = 32, kValueBytes = 1024;

struct Key {
    char text[kKeyBytes];
};

struct Item {
    Item* next;
    std::uint64_t hash;
    std::uint32_t key_bytes, value_bytes;
    std::uint64_t version;
    Key key;
    char value[kValueBytes];
};
static_assert(sizeof(Item) == 1088, "17 lines");

// FNV-1a over the key's words, then a mix, so that keys that differ only in their last digits do
// not share chains.
std::uint64_t hash_of(const Key& key) {
    std::uint64_t h = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < kKeyBytes; i += 8) {
        std::uint64_t word;
        std::memcpy(&word, key.text + i, 8);
        h = (h ^ word) * 0x100000001b3;
        h ^= h >> 29;
    }
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
    return h ^ h >> 32;
}

// A chained hash table. As in FlexKVS, items are appended to log segments, and a set of an existing
// key writes in place.
class Store {
public:
    explicit Store(unsigned bits)
        : buckets_(std::size_t{1} << bits, nullptr), mask_(buckets_.size() - 1) {}

    bool get(const Key& key, char* value) const {
        const Item* item = find(key, hash_of(key));
        if (item == nullptr)
            return false;
        std::memcpy(value, item->value, kValueBytes);
        return true;
    }

    void set(const Key& key, const char* value) {
        const std::uint64_t hash = hash_of(key);
        Item* item = find(key, hash);
        if (item == nullptr) {
            item = append();
            item->hash = hash;
            item->key_bytes = kKeyBytes;
            item->value_bytes = kValueBytes;
            item->version = 0;
            std::memcpy(&item->key, &key, kKeyBytes);
            item->next = buckets_[hash & mask_];
            buckets_[hash & mask_] = item;
        }
        item->version++;
        std::memcpy(item->value, value, kValueBytes);
    }

private:
    static constexpr std::size_t kSegmentItems = 3840; // just under 4 MiB

    Item* find(const Key& key, std::uint64_t hash) const {
        Item* item = buckets_[hash & mask_];
        while (item && (item->hash != hash || std::memcmp(&item->key, &key, kKeyBytes) != 0)) {
            item = item->next;
        }
        return item;
    }

    Item* append() {
        if (used_ == kSegmentItems) {
            segments_.push_back(
                std::unique_ptr<Item[]>(new (std::align_val_t{64}) Item[kSegmentItems]));
            used_ = 0;
        }
        return &segments_.back()[used_++];
    }

    std::vector<Item*> buckets_;
    std::uint64_t mask_;
    std::vector<std::unique_ptr<Item[]>> segments_;
    std::size_t used_ = kSegmentItems;
};

// The client models another machine, so its own accesses are not in the trace. Requests and answers
// lie in buffers that the store reads and writes, like those of a network card.
struct Client {
    workload::Random random;
    std::uint64_t keys, hot_keys;
    unsigned share, sets;
    std::uint64_t hot_from = 0;

    ANEMONE_UNSEEN static void name(std::uint64_t id, Key& key) {
        std::memset(key.text, 0, kKeyBytes);
        std::snprintf(key.text, kKeyBytes, "user%027llu", (unsigned long long)id);
    }
    ANEMONE_UNSEEN static void fill(std::uint64_t id, char* value) {
        for (std::size_t i = 0; i < kValueBytes; i += 8)
            std::memcpy(value + i, &id, 8);
    }
    ANEMONE_UNSEEN bool draw(Key& key, std::uint64_t& id) {
        const bool hot = random.percent(share);
        id = hot ? hot_from + random.below(hot_keys) : random.below(keys - hot_keys);
        if (!hot && id >= hot_from)
            id += hot_keys;
        name(id, key);
        return random.percent(sets);
    }
    ANEMONE_UNSEEN static void verify(std::uint64_t id, const char* value) {
        std::uint64_t first, last;
        std::memcpy(&first, value, 8);
        std::memcpy(&last, value + kValueBytes - 8, 8);
        workload::check(first == id && last == id, "kvstore: a value that is not its key's");
    }
};

} // namespace

int main(int argc, char** argv) {
    workload::Arguments args(argc, argv);
    const std::uint64_t keys = args.get("keys", 150000, 100, 10000000);
    const std::uint64_t hot_keys = keys * args.get("hot", 20, 1, 50) / 100;
    const auto share = static_cast<unsigned>(args.get("share", 90, 0, 100));
    const auto sets_percent = static_cast<unsigned>(args.get("sets", 10, 0, 100));
    const std::uint64_t think_ns = args.get("think_ns", 0, 0, 1000000000000);
    const bool shift = args.get("shift", 1, 0, 1) != 0;
    const workload::Random random(args.get("seed", 1, 0, UINT64_MAX));
    args.end();
    Client client{random, keys, hot_keys, share, sets_percent};

    unsigned bits = 1;
    while ((1ull << bits) < keys)
        bits++;
    Store store(bits);
    const auto request = std::make_unique<Key>();
    const auto buffer = std::make_unique<char[]>(kValueBytes);
    for (std::uint64_t id = 0; id < keys; id++) {
        Client::name(id, *request);
        Client::fill(id, buffer.get());
        store.set(*request, buffer.get());
    }

    std::uint64_t gets = 0, sets = 0;
    const auto serve = [&] {
        std::uint64_t id = 0;
        if (client.draw(*request, id)) {
            Client::fill(id, buffer.get());
            store.set(*request, buffer.get());
            sets++;
        } else {
            workload::check(store.get(*request, buffer.get()), "kvstore: a key got lost");
            Client::verify(id, buffer.get());
            gets++;
        }
    };

    anemone_capture_warm();
    for (std::uint64_t i = 0; i < 20000; i++)
        serve();
    anemone_capture_record();
    for (double done = 0; done < 1; done = anemone_capture_progress()) {
        if (shift && done >= 0.5)
            client.hot_from = keys / 2;
        serve();
        if (think_ns)
            anemone_capture_idle_ns(think_ns);
    }
    std::printf("kvstore: %llu keys, %llu gets, %llu sets\n", (unsigned long long)keys,
                (unsigned long long)gets, (unsigned long long)sets);
    return 0;
}
