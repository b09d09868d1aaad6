// SPDX-License-Identifier: Apache-2.0
// One client of the vfio-user socket: whole messages, with the descriptors that come with them.
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
    std::vector<uint8_t> data; // behind the header
    std::vector<Descriptor> descriptors;

    // The structure the data begin with. Throws std::runtime_error when they are shorter.
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

    // The next message, waited for. False: the client is gone. Throws std::runtime_error for one
    // that is none.
    bool receive(Message& message);
    // Nothing, when the request wants none.
    void reply(const Message& request, const void* data, std::size_t bytes);
    void refuse(const Message& request, int error);

private:
    bool receiveHeader(Message& message);
    void send(const Message& request, uint32_t error, const void* data, std::size_t bytes);

    Descriptor fd_;
};

} // namespace anemone
