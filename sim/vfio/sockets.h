// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace anemone {

// A file descriptor that is closed with its owner.
class Descriptor {
public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        reset(other.release());
        return *this;
    }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    void reset(int fd = -1);

private:
    int release() {
        const int fd = fd_;
        fd_ = -1;
        return fd;
    }
    int fd_;
};

// Creates a listening UNIX stream socket at a path. Throws std::runtime_error.
Descriptor listenAt(const std::string& path);
// Waits for the next client.
Descriptor acceptFrom(const Descriptor& listener);

// All bytes; false: the other end has gone.
bool readAll(int fd, void* data, std::size_t bytes);
bool writeAll(int fd, const void* data, std::size_t bytes);

} // namespace anemone
