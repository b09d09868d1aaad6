// SPDX-License-Identifier: Apache-2.0
#include "connection.h"

#include <cstring>

#include <sys/socket.h>

namespace anemone {

namespace {
constexpr std::size_t kMostDescriptors = 64, kMostBytes = 2 << 20;
}

bool Connection::receiveHeader(Message& message) {
    alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
    iovec part{&message.header, sizeof message.header};
    msghdr all{};
    all.msg_iov = &part;
    all.msg_iovlen = 1;
    all.msg_control = control;
    all.msg_controllen = sizeof control;
    const ssize_t n = recvmsg(fd_.get(), &all, MSG_CMSG_CLOEXEC);
    if (n <= 0)
        return false;
    message.descriptors.clear();
    for (cmsghdr* c = CMSG_FIRSTHDR(&all); c; c = CMSG_NXTHDR(&all, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (std::size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
            int fd;
            std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            message.descriptors.emplace_back(fd);
        }
    }
    return readAll(fd_.get(), reinterpret_cast<char*>(&message.header) + n,
                   sizeof message.header - std::size_t(n));
}

bool Connection::receive(Message& message) {
    if (!receiveHeader(message))
        return false;
    if (message.header.size < sizeof message.header || message.header.size > kMostBytes)
        throw std::runtime_error("vfio-user: a message of " + std::to_string(message.header.size) +
                                 " bytes");
    message.data.resize(message.header.size - sizeof message.header);
    return readAll(fd_.get(), message.data.data(), message.data.size());
}

void Connection::reply(const Message& request, const void* data, std::size_t bytes) {
    send(request, 0, data, bytes);
}

void Connection::refuse(const Message& request, int error) {
    send(request, uint32_t(error), nullptr, 0);
}

void Connection::send(const Message& request, uint32_t error, const void* data, std::size_t bytes) {
    if (request.header.flags & vfio::kNoReply)
        return;
    const vfio::Header header{request.header.id, request.header.command,
                              uint32_t(sizeof header + bytes),
                              vfio::kIsReply | (error ? vfio::kIsError : 0), error};
    std::vector<uint8_t> message(sizeof header + bytes);
    std::memcpy(message.data(), &header, sizeof header);
    if (bytes)
        std::memcpy(message.data() + sizeof header, data, bytes);
    // A client that has gone is noticed by the next receive.
    writeAll(fd_.get(), message.data(), message.size());
}

} // namespace anemone
