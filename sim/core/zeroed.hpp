// SPDX-License-Identifier: Apache-2.0
// A large zeroed array. The kernel allocates its pages at their first use.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>

namespace core {

template <class T> class Zeroed {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    explicit Zeroed(std::size_t n) : bytes_(n * sizeof(T)) {
        void* made =
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED)
            throw std::bad_alloc();
        at_ = static_cast<T*>(made);
    }
    ~Zeroed() { munmap(at_, bytes_); }
    Zeroed(const Zeroed&) = delete;
    Zeroed& operator=(const Zeroed&) = delete;

    T& operator[](std::size_t i) { return at_[i]; }
    T* data() { return at_; }
    void expect(std::size_t i) const { __builtin_prefetch(&at_[i]); }

private:
    std::size_t bytes_;
    T* at_;
};

} // namespace core
