// SPDX-License-Identifier: GPL-2.0
#include "link.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.hpp"
#include "holder.hpp"

namespace {

std::string place(const std::string& device, const char* suffix) {
    if (auto path = wire_path(device, suffix))
        return *path;
    fail(device, ": no place for the holder's socket: ", wire_directory(), ": ", error_text(),
         "; set XDG_RUNTIME_DIR to a directory of your own");
}

Descriptor lock_of(const std::string& device) {
    std::string path = place(device, "lock");
    Descriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));

    if (!lock)
        fail(path, ": ", error_text());
    while (flock(lock.get(), LOCK_EX))
        if (errno != EINTR)
            fail(path, ": lock: ", error_text());
    return lock;
}

/* The address of a device's socket for socket calls. */
class Address {
public:
    explicit Address(const std::string& device) {
        std::string path = place(device, "sock");

        address_.sun_family = AF_UNIX;
        path.copy(address_.sun_path, sizeof(address_.sun_path) - 1);
    }
    const char* path() const { return address_.sun_path; }
    bool bind_to(int socket) const { return !bind(socket, get(), sizeof(address_)); }
    bool connect_to(int socket) const { return !connect(socket, get(), sizeof(address_)); }

private:
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }

    sockaddr_un address_ = {};
};

Descriptor new_socket() {
    Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));

    if (!made)
        fail("socket: ", error_text());
    return made;
}

/*
 * Closes inherited descriptors, such as a pipe's end or the command's socket, which would stay open
 * with the holder.
 */
void close_all_but(int one, int other) {
    auto low = static_cast<unsigned int>(std::min(one, other));
    auto high = static_cast<unsigned int>(std::max(one, other));

    if (low > 3)
        close_range(3, low - 1, 0);
    if (high > low + 1)
        close_range(low + 1, high - 1, 0);
    close_range(high + 1, ~0u, 0);
}

/* In the child: detaches from the shell and becomes the holder. */
[[noreturn]] void become_holder(const char* device, int fd, int listening) noexcept {
    setsid();
    /* The grandchild can never get a terminal again. */
    if (fork())
        _exit(0);
    close_all_but(fd, listening);

    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    prctl(PR_SET_NAME, "anemone-holder");
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_DFL);
    for (int i = 0; i < 3; i++)
        dup2(nothing, i);
    if (chdir("/"))
        _exit(1);
    holder_serve(device, fd, listening);
}

void start_holder(const std::string& device, const Address& address) {
    Descriptor fd = device_open(device);

    if (!fd)
        fail(device, ": ", error_text());

    Descriptor listening = new_socket();

    unlink(address.path()); /* left by a holder that was killed */

    mode_t mask = umask(0177);
    bool bound = address.bind_to(listening.get());

    umask(mask);
    if (!bound || listen(listening.get(), 16))
        fail(address.path(), ": ", error_text());

    pid_t child = fork();

    if (child < 0)
        fail("fork: ", error_text());
    if (!child)
        become_holder(device.c_str(), fd.get(), listening.get());
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR)
        ;
}

} // namespace

Session Link::receive_session(const std::string& device) const {
    Session session;
    auto message = wire_receive(socket_.get(), &session.fd);

    session.path = device;
    if (!message || !session.fd)
        fail(device, ": the holder does not answer");
    if (message->version != WIRE_VERSION)
        fail(device, ": the holder is of another version of anemonectl: end it (a process "
                     "anemone-holder), and its telemetries with it");
    while (session.telemetries.size() < message->count) {
        auto telemetry = wire_receive_telemetry(socket_.get());

        if (!telemetry)
            fail(device, ": the holder ended in the middle of its answer");
        session.telemetries.push_back(std::move(*telemetry));
    }

    auto info = device_info(session.fd.get());

    if (!info)
        fail(device, ": ", error_text());
    session.info = *info;
    return session;
}

std::optional<Link> Link::open(const std::string& device, bool start, bool change,
                               Session& session) {
    Link link;

    link.lock_ = lock_of(device);
    link.socket_ = new_socket();

    Address address(device);

    if (!address.connect_to(link.socket_.get())) {
        if (!start)
            return std::nullopt;
        start_holder(device, address);
        if (!address.connect_to(link.socket_.get()))
            fail(address.path(), ": ", error_text());
    }
    session = link.receive_session(device);
    if (!change)
        link.lock_.close();
    return link;
}

void Link::wait_done(const char* what) const {
    auto answer = wire_receive(socket_.get());

    if (!answer || answer->kind != WIRE_DONE)
        fail("the holder ended before it could ", what);
    if (answer->count)
        fail("the holder could not ", what, ": ", error_text(static_cast<int>(answer->count)));
}

void Link::request(WireKind kind, uint32_t id) const {
    /* A failure is noticed when no reply comes. */
    (void)wire_send(socket_.get(), {.kind = kind, .id = id});
}

void Link::put(const Telemetry& telemetry) {
    request(WIRE_PUT, telemetry.id);
    (void)wire_send_telemetry(socket_.get(), telemetry);
    wait_done("take the telemetry");
}

void Link::remove(uint32_t id) {
    request(WIRE_REMOVE, id);
    wait_done("remove the telemetry");
}

void Link::commit() {
    request(WIRE_COMMIT, 0);
    wait_done("keep the telemetries");
}
