// SPDX-License-Identifier: Apache-2.0
// One client of the vfio-user socket: whole messages, with their file descriptors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "protocol.h"
#include "sockets.h"

namespace anemone {

struct Message {
    vfio::Header header;
    std::vector<uint8_t> data; // after the header
    std::vector<Descriptor> descriptors;

    // The structure at the start of the data. Throws std::runtime_error if they are shorter.
    template <typename T> T as() const {
        if (data.size() < sizeof(T))
            throw std::runtime_error("a message of command " + std::to_string(header.command) +
                                     " is too short");
        T value;
        std::copy_n(data.data(), sizeof value, reinterpret_cast<uint8_t*>(&value));
        return value;
    }
};

class Connection {
public:
    explicit Connection(Descriptor fd) : fd_(std::move(fd)) {}

    int descriptor() const { return fd_.get(); }

    // Waits for the next message. False: the client has gone. Throws std::runtime_error for an
    // invalid message.
    bool receive(Message& message);
    // Sends nothing if the request asks for no reply.
    void reply(const Message& request, const void* data, std::size_t bytes);
    void refuse(const Message& request, int error);

private:
    bool receiveHeader(Message& message);
    void send(const Message& request, uint32_t error, const void* data, std::size_t bytes);

    Descriptor fd_;
};

} // namespace anemone
