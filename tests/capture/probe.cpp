// SPDX-License-Identifier: Apache-2.0
// Accesses memory in every way that the capture must see, each on its own line of memory. Writes
// "line name r" or "line name w" to standard output, in the order of the first access.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "anemone_capture.h"

namespace {

struct Big { // recorded as a range, not as a single access
    char bytes[48];
};
struct Odd {
    char pad;
    std::uint64_t value;
} __attribute__((packed));
struct Base {
    virtual ~Base() = default;
    virtual int number() const { return 1; }
};
struct Derived : Base {
    int number() const override { return 2; }
};

char* lines; // whole pages, so no other data are on these lines
int used = 0;

ANEMONE_UNSEEN void* next(const char* name, char how) {
    std::printf("%d %s %c\n", used, name, how);
    return lines + 64 * used++;
}
template <class T> T* at(const char* name, char how) {
    return static_cast<T*>(next(name, how));
}

template <class T> [[gnu::noipa]] T load(const T* p) {
    return *p;
}
template <class T> [[gnu::noipa]] void store(T* p, T value) {
    *p = value;
}
[[gnu::noipa]] int call(const Base* object) {
    return object->number();
}

template <class T> void atomics(const char* name) {
    char text[40];
    const auto operation = [&](const char* what) {
        std::snprintf(text, sizeof text, "%s-%s", name, what);
        return text;
    };
    auto* a = at<std::atomic<T>>(operation("load"), 'r');
    (void)a->load();
    a = at<std::atomic<T>>(operation("store"), 'w');
    a->store(1);
    a = at<std::atomic<T>>(operation("add"), 'w');
    a->fetch_add(3);
    a = at<std::atomic<T>>(operation("exchange"), 'w');
    a->exchange(4);
    T expected = 0;
    a = at<std::atomic<T>>(operation("swapped"), 'w');
    if (!a->compare_exchange_strong(expected, 9) || a->load() != 9)
        std::abort();
    expected = 5;
    a = at<std::atomic<T>>(operation("not-swapped"), 'r');
    if (a->compare_exchange_strong(expected, 9) || expected != 0)
        std::abort();
}

} // namespace

int main() {
    constexpr std::size_t kBytes = 64 * 1024;
    lines = static_cast<char*>(std::aligned_alloc(4096, kBytes));
    std::memset(lines, 0, kBytes);
    Derived* object = nullptr;
    anemone_capture_warm();
    anemone_capture_record();

    load(at<char>("read1", 'r'));
    load(at<std::uint16_t>("read2", 'r'));
    load(at<std::uint32_t>("read4", 'r'));
    load(at<std::uint64_t>("read8", 'r'));
    (void)load(at<__m128d>("read16", 'r'));
    store(at<char>("write1", 'w'), 'x');
    store<std::uint16_t>(at<std::uint16_t>("write2", 'w'), 1);
    store<std::uint32_t>(at<std::uint32_t>("write4", 'w'), 1);
    store<std::uint64_t>(at<std::uint64_t>("write8", 'w'), 1);
    store(at<__m128d>("write16", 'w'), _mm_set1_pd(1.0));
    at<Odd>("unaligned-write", 'w')->value = load(at<std::uint64_t>("for-unaligned", 'r'));
    store<std::uint64_t>(at<std::uint64_t>("of-unaligned", 'w'),
                         at<Odd>("unaligned-read", 'r')->value);
    *at<volatile int>("volatile", 'w') = 3;
    {
        Big* from = at<Big>("range-read", 'r');
        Big* to = at<Big>("range-write", 'w');
        *to = *from;
    }
    object = new (next("object", 'w')) Derived;
    if (call(object) != 2)
        std::abort();
    object->~Derived();

    {
        char* from = at<char>("memcpy-from", 'r');
        char* to = at<char>("memcpy-to", 'w');
        std::memcpy(to, from, 40);
        from = at<char>("memmove-from", 'r');
        to = at<char>("memmove-to", 'w');
        std::memmove(to, from, 64);
    }
    std::memset(next("memset", 'w'), 7, 64);
    {
        const char* a = at<char>("memcmp-a", 'r');
        const char* b = at<char>("memcmp-b", 'r');
        if (std::memcmp(a, b, 64) != 0)
            std::abort();
    }
    if (std::strlen(at<char>("strlen", 'r')) != 0)
        std::abort();
    atomics<std::uint8_t>("atomic1");
    atomics<std::uint16_t>("atomic2");
    atomics<std::uint32_t>("atomic4");
    atomics<std::uint64_t>("atomic8");

    // Non-temporal stores to a line by intrinsics of both types must be recorded once, not twice.
    auto* whole = at<double>("stream", 'n');
    for (int i = 0; i < 4; i += 2)
        anemone_stream_pd(whole + i, _mm_set1_pd(2.0));
    for (int i = 2; i < 4; i++)
        anemone_stream_si128(reinterpret_cast<__m128i*>(whole) + i, _mm_set1_epi8(1));
    anemone_stream_fence();

    // Evict all dirty lines: 1 KiB of other lines for each set of a 1 KiB cache.
    const char* other = lines + 64 * 512;
    for (int i = 0; i < 16; i++)
        load(other + 64 * i);
    return 0;
}
