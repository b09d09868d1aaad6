// SPDX-License-Identifier: Apache-2.0
#include "sockets.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace anemone {

void Descriptor::reset(int fd) {
    if (fd_ >= 0)
        close(fd_);
    fd_ = fd;
}

Descriptor listenAt(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        throw std::runtime_error(path + ": longer than a socket's path can be, " +
                                 std::to_string(sizeof address.sun_path - 1) + " bytes");
    path.copy(address.sun_path, path.size());
    unlink(path.c_str());
    Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd || bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(fd.get(), 8) != 0)
        throw std::runtime_error(path + ": " + std::strerror(errno));
    return fd;
}

Descriptor acceptFrom(const Descriptor& listener) {
    return Descriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

bool readAll(int fd, void* data, std::size_t bytes) {
    for (char* at = static_cast<char*>(data); bytes;) {
        const ssize_t n = read(fd, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= std::size_t(n);
    }
    return true;
}

bool writeAll(int fd, const void* data, std::size_t bytes) {
    for (const char* at = static_cast<const char*>(data); bytes;) {
        const ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= std::size_t(n);
    }
    return true;
}

} // namespace anemone
