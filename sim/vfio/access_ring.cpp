// SPDX-License-Identifier: Apache-2.0
#include "access_ring.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sockets.h"

namespace anemone {

namespace {
constexpr std::size_t kQueueLimit = 4096; // most accesses that may wait in the device
}

AccessRing::AccessRing(const std::string& path) {
    const Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    void* mapped = MAP_FAILED;
    if (file && ftruncate(file.get(), sizeof(anemone_ring)) == 0)
        mapped =
            mmap(nullptr, sizeof(anemone_ring), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (mapped == MAP_FAILED)
        throw std::runtime_error(path + ": " + std::strerror(errno));
    ring_ = static_cast<anemone_ring*>(mapped);
}

AccessRing::~AccessRing() {
    munmap(ring_, sizeof *ring_);
}

bool AccessRing::empty() const {
    return __atomic_load_n(&ring_->head, __ATOMIC_ACQUIRE) == ring_->tail;
}

void AccessRing::moveInto(Device& device) {
    const uint64_t head = __atomic_load_n(&ring_->head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring_->tail;
    for (; tail != head && device.queued() < kQueueLimit; ++tail) {
        const uint64_t row = ring_->rows[tail % RING_ROWS];
        if (row >> 1 >= kDeviceBytes)
            throw std::runtime_error("the ring: an access past the device's end");
        device.access(row >> 1, row & 1);
    }
    __atomic_store_n(&ring_->tail, tail, __ATOMIC_RELEASE);
}

} // namespace anemone
