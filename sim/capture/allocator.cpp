// SPDX-License-Identifier: Apache-2.0
// malloc for the captured program: the same calls return the same addresses in every run.
//
// There are four size classes for each power of two, and a freed block serves the next request of
// its class. The allocator is not instrumented, so a trace holds only the program's own accesses.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime.hpp"

namespace capture {
namespace {

struct Header { // the 16 bytes before the caller's bytes
    std::uint32_t size_class;
    std::uint32_t offset; // from the start of the block to the caller's bytes
    std::uint64_t bytes;  // requested size
};
static_assert(sizeof(Header) == 16, "blocks are 16-byte aligned");

constexpr unsigned kClasses = 4 * 40;
constexpr std::size_t kMaxBytes = std::size_t{1} << 36;

unsigned class_of(std::size_t bytes) {
    if (bytes < 64)
        bytes = 64;
    const unsigned top = 63 - static_cast<unsigned>(__builtin_clzll(bytes - 1));
    const unsigned quarter = static_cast<unsigned>((bytes - 1) >> (top - 2)) & 3;
    return (top - 5) * 4 + quarter;
}

std::size_t bytes_of(unsigned size_class) {
    return std::size_t(size_class % 4 + 5) << (size_class / 4 + 3);
}

class Heap {
public:
    constexpr explicit Heap(const Region& region) : region_(region) {}

    void* take(std::size_t bytes, std::size_t alignment) {
        if (bytes > kMaxBytes || alignment > kMaxBytes >> 5)
            return nullptr;
        if (next_ == 0) {
            reserve(region_);
            next_ = region_.base;
        }
        // Space to align the caller's bytes within the block.
        const std::size_t spare = alignment > 16 ? alignment : 0;
        const unsigned size_class = class_of(bytes + sizeof(Header) + spare);
        std::uint64_t block = pop(size_class);
        if (block == 0) {
            block = next_;
            const std::size_t size = bytes_of(size_class); // a multiple of 16
            if (size > region_.base + region_.bytes - next_)
                return nullptr;
            next_ += size;
        }
        std::uint64_t at = block + sizeof(Header);
        if (spare != 0)
            at = (at + alignment - 1) & ~(alignment - 1);
        *header(at) = {size_class, static_cast<std::uint32_t>(at - block), bytes};
        return reinterpret_cast<void*>(at);
    }

    void give(void* pointer) {
        const auto at = reinterpret_cast<std::uint64_t>(pointer);
        const Header freed = *header(at);
        const std::uint64_t block = at - freed.offset;
        *reinterpret_cast<std::uint64_t*>(block) = free_[freed.size_class];
        free_[freed.size_class] = block;
    }

    static Header* header(std::uint64_t at) {
        return reinterpret_cast<Header*>(at - sizeof(Header));
    }

private:
    std::uint64_t pop(unsigned size_class) {
        const std::uint64_t block = free_[size_class];
        if (block != 0)
            free_[size_class] = *reinterpret_cast<std::uint64_t*>(block);
        return block;
    }
    Region region_;
    std::uint64_t next_ = 0;
    std::uint64_t free_[kClasses] = {};
};

// Constant-initialised, because malloc is called before any constructor runs.
Heap program_heap{kProgramHeap};
Heap runtime_heap{kRuntimeHeap};

} // namespace

void* allocate(std::size_t bytes, std::size_t alignment) {
    void* got = (program_runs ? program_heap : runtime_heap).take(bytes, alignment);
    if (got == nullptr)
        errno = ENOMEM;
    return got;
}

} // namespace capture

using capture::allocate;

extern "C" {

void* malloc(size_t bytes) {
    return allocate(bytes, 16);
}

void free(void* pointer) {
    if (pointer == nullptr)
        return;
    const auto at = reinterpret_cast<std::uint64_t>(pointer);
    (capture::kProgramHeap.holds(at) ? capture::program_heap : capture::runtime_heap).give(pointer);
}

void* calloc(size_t count, size_t bytes) {
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        errno = ENOMEM;
        return nullptr;
    }
    void* got = allocate(total, 16);
    // A reused block is not zero.
    return got == nullptr ? nullptr : std::memset(got, 0, total);
}

void* realloc(void* pointer, size_t bytes) {
    if (pointer == nullptr)
        return allocate(bytes, 16);
    const auto at = reinterpret_cast<std::uint64_t>(pointer);
    const capture::Header old = *capture::Heap::header(at);
    if (bytes + old.offset <= capture::bytes_of(old.size_class) && bytes >= old.bytes / 2) {
        capture::Heap::header(at)->bytes = bytes;
        return pointer;
    }
    void* got = allocate(bytes, 16);
    if (got == nullptr)
        return nullptr;
    std::memcpy(got, pointer, old.bytes < bytes ? old.bytes : bytes);
    free(pointer);
    return got;
}

void* aligned_alloc(size_t alignment, size_t bytes) {
    return allocate(bytes, alignment);
}
void* memalign(size_t alignment, size_t bytes) {
    return allocate(bytes, alignment);
}

int posix_memalign(void** pointer, size_t alignment, size_t bytes) {
    void* got = allocate(bytes, alignment);
    if (got == nullptr)
        return ENOMEM;
    *pointer = got;
    return 0;
}

size_t malloc_usable_size(void* pointer) {
    if (pointer == nullptr)
        return 0;
    return capture::Heap::header(reinterpret_cast<std::uint64_t>(pointer))->bytes;
}
}
