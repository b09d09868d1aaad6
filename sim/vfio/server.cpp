// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <poll.h>

namespace anemone {

namespace {
// Cycles between polls of the sockets: few, because the guest waits for replies. Fewer after a
// message, which itself runs cycles, so that programs' accesses proceed between many messages.
constexpr unsigned kCyclesPerPoll = 64, kCyclesBetweenMessages = 16;
// Time to wait for the guest's next message without accesses to make, in milliseconds.
constexpr int kIdleWaitMs = 1;
} // namespace

Server::Server(Function& function, const std::string& socket, const std::string& control,
               const std::string& ring)
    : function_(function), listener_(listenAt(socket)), commands_(function, control) {
    if (!ring.empty())
        ring_.emplace(ring);
}

void Server::run() {
    Device& device = function_.device();
    for (bool quiet = false;;) {
        if (ring_)
            ring_->moveInto(device);
        // A ring does not wake anybody, so it is polled.
        const int idle = ring_ ? kIdleWaitMs : -1;
        const int timeout = !device.busy() ? idle : quiet || device.injecting() ? 0 : kIdleWaitMs;
        quiet = !wait(timeout);
        if (quiet ? device.busy() : device.injecting())
            device.run(quiet ? kCyclesPerPoll : kCyclesBetweenMessages);
        if (!ring_ || ring_->empty())
            commands_.answerWaiting();
    }
}

bool Server::wait(int timeout) {
    std::vector<pollfd> all;
    const auto add = [&](int fd) { all.push_back({fd, POLLIN, 0}); };
    add(session_ ? session_->descriptor() : listener_.get());
    commands_.eachDescriptor(add);
    const int ready = poll(all.data(), all.size(), timeout);
    if (ready < 0 && errno != EINTR)
        throw std::runtime_error(std::string("poll: ") + std::strerror(errno));
    if (ready <= 0)
        return false;
    for (const pollfd& one : all)
        if (one.revents)
            serve(one.fd);
    return true;
}

void Server::serve(int descriptor) {
    if (session_ && descriptor == session_->descriptor()) {
        if (!session_->serve()) {
            session_.reset();
            function_.reset();
        }
    } else if (descriptor == listener_.get()) {
        if (Descriptor fd = acceptFrom(listener_))
            session_.emplace(function_, std::move(fd));
    } else {
        commands_.serve(descriptor);
    }
}

} // namespace anemone
