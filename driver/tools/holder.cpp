// SPDX-License-Identifier: GPL-2.0
#include "holder.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device.hpp"
#include "wire.hpp"

namespace {

constexpr size_t MAX_CLIENTS = 64;
/* A holder without telemetries polls whether it may end. */
constexpr int LOOK_MS = 200;
/* A holder without any client ends after this many polls. */
constexpr unsigned int UNUSED_LOOKS = 50;
/* The owner of a telemetry that was committed. */
constexpr int NOBODY = -1;

struct Held {
    Telemetry telemetry;
    int owner; /* socket of the client that has not committed it, or NOBODY */
};

class Holder {
public:
    Holder(const char* device, int fd, int listening)
        : device_(device), fd_(fd), listening_(listening) {}
    [[noreturn]] void serve();

private:
    std::vector<Held>::iterator by_id(uint32_t id) {
        return std::ranges::find(held_, id, [](const Held& held) { return held.telemetry.id; });
    }
    int drop(std::vector<Held>::iterator held);
    void put(int client, Telemetry telemetry);
    bool welcome(int client);
    bool answer(int client);
    void leave(size_t index);
    void end_unless_wanted() const;

    const char* device_;
    int fd_, listening_;
    std::vector<Held> held_;
    std::vector<Descriptor> clients_;
};

int Holder::drop(std::vector<Held>::iterator held) {
    anemone_id call = {sizeof(call), held->telemetry.id};
    int error = device_ioctl(fd_, ANEMONE_REMOVE, &call) ? errno : 0;

    held_.erase(held);
    return error;
}

void Holder::put(int client, Telemetry telemetry) {
    auto held = by_id(telemetry.id);

    if (held != held_.end())
        held->telemetry = std::move(telemetry);
    else
        held_.push_back({std::move(telemetry), client});
}

/* --- Clients ---------------------------------------------------------------------------------- */

bool Holder::welcome(int client) {
    WireMessage message = {.kind = WIRE_WELCOME, .count = static_cast<uint32_t>(held_.size())};
    timeval slow = {10, 0};
    ucred peer = {};
    socklen_t size = sizeof(peer);

    if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
        (peer.uid != geteuid() && peer.uid != 0))
        return false;
    /* A client that stops in the middle of a message must not block the others. */
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &slow, sizeof(slow));
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &slow, sizeof(slow));
    return wire_send(client, message, fd_) && std::ranges::all_of(held_, [&](const Held& held) {
               return wire_send_telemetry(client, held.telemetry);
           });
}

/* Serves one message; false: the client has gone or is not ours. */
bool Holder::answer(int client) {
    auto message = wire_receive(client);
    WireMessage done = {.kind = WIRE_DONE};

    if (!message || message->version != WIRE_VERSION)
        return false;
    if (message->kind == WIRE_PUT) {
        auto telemetry = wire_receive_telemetry(client);

        if (!telemetry)
            return false;
        put(client, std::move(*telemetry));
    } else if (message->kind == WIRE_REMOVE) {
        auto held = by_id(message->id);

        done.count = static_cast<uint32_t>(held != held_.end() ? drop(held) : ENOENT);
    } else if (message->kind == WIRE_COMMIT) {
        for (Held& held : held_)
            if (held.owner == client)
                held.owner = NOBODY;
    } else {
        return false;
    }
    return wire_send(client, done);
}

void Holder::leave(size_t index) {
    int client = clients_[index].get();

    for (size_t i = held_.size(); i-- > 0;)
        if (held_[i].owner == client)
            drop(held_.begin() + static_cast<std::ptrdiff_t>(i));
    clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(index));
}

/* --- The end ---------------------------------------------------------------------------------- */

/* A command that is about to connect holds the lock, so the holder stays. */
void Holder::end_unless_wanted() const {
    auto lock_path = wire_path(device_, "lock"), socket_path = wire_path(device_, "sock");

    if (!lock_path || !socket_path)
        _exit(0);

    Descriptor lock(open(lock_path->c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));

    if (lock && flock(lock.get(), LOCK_EX | LOCK_NB))
        return;
    unlink(socket_path->c_str());
    _exit(0);
}

void Holder::serve() {
    unsigned int looks = 0;
    bool used = false;

    for (;;) {
        bool idle = held_.empty() && clients_.empty();
        size_t clients = clients_.size();
        std::vector<pollfd> polled = {{clients < MAX_CLIENTS ? listening_ : -1, POLLIN, 0}};

        if (idle && (used || ++looks > UNUSED_LOOKS))
            end_unless_wanted();
        for (const Descriptor& client : clients_)
            polled.push_back({client.get(), POLLIN, 0});
        if (poll(polled.data(), polled.size(), idle ? LOOK_MS : -1) < 0)
            continue;
        /* Backwards, because removing a client moves only those that were already served. */
        for (size_t i = clients; i-- > 0;)
            if (polled[1 + i].revents && !answer(clients_[i].get()))
                leave(i);
        if (polled[0].revents & POLLIN) {
            Descriptor client(accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC));

            if (client) {
                clients_.push_back(std::move(client));
                used = true;
                if (!welcome(clients_.back().get()))
                    leave(clients_.size() - 1);
            }
        }
    }
}

} // namespace

void holder_serve(const char* device, int device_fd, int listening) {
    Holder(device, device_fd, listening).serve();
}
