// SPDX-License-Identifier: GPL-2.0
#include "wire.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

/* More keys than any table has, and the bytes of the longest name. */
constexpr uint32_t MAX_KEYS = 1u << 22;
constexpr uint32_t LONGEST_NAME = 400;

/* The fixed start of a telemetry on the wire; name, entries and keys follow. */
struct Head {
    uint32_t id, regions, region_counters, pipelines, granule, period_ms;
    uint32_t name, entries, turns; /* numbers of what follows */
    uint32_t pad;
    anemone_spec spec;
};

bool send_all(int socket, const void* data, size_t size) {
    const auto* at = static_cast<const char*>(data);

    while (size) {
        ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        size -= static_cast<size_t>(sent);
    }
    return true;
}

bool receive_all(int socket, void* data, size_t size) {
    auto* at = static_cast<char*>(data);

    while (size) {
        ssize_t got = recv(socket, at, size, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        size -= static_cast<size_t>(got);
    }
    return true;
}

/* Space for one file descriptor. */
union Control {
    cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

} // namespace

bool wire_send(int socket, const WireMessage& message, int fd) {
    WireMessage copy = message;
    iovec data = {&copy, sizeof(copy)};
    Control control = {};
    msghdr header = {};
    ssize_t sent;

    if (fd < 0)
        return send_all(socket, &message, sizeof(message));
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof(control.bytes);

    cmsghdr* passed = CMSG_FIRSTHDR(&header);

    passed->cmsg_level = SOL_SOCKET;
    passed->cmsg_type = SCM_RIGHTS;
    passed->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(passed), &fd, sizeof(fd));
    do
        sent = sendmsg(socket, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(sizeof(message));
}

std::optional<WireMessage> wire_receive(int socket, Descriptor* fd) {
    WireMessage message;
    iovec data = {&message, sizeof(message)};
    Control control = {};
    msghdr header = {};
    ssize_t got;

    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof(control.bytes);
    do
        got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return std::nullopt;
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            int number;

            std::memcpy(&number, CMSG_DATA(c), sizeof(number));

            /* An unexpected descriptor is closed here. */
            Descriptor passed(number);

            if (fd)
                *fd = std::move(passed);
        }
    }
    if (!receive_all(socket, reinterpret_cast<char*>(&message) + got,
                     sizeof(message) - static_cast<size_t>(got)))
        return std::nullopt;
    return message;
}

bool wire_send_telemetry(int socket, const Telemetry& telemetry) {
    std::vector<anemone_entry> entries;
    Head head = {};

    for (const auto& [key, entry] : telemetry.map)
        entries.push_back(entry);
    head.id = telemetry.id;
    head.regions = telemetry.regions;
    head.region_counters = telemetry.region_counters;
    head.pipelines = telemetry.pipelines;
    head.granule = telemetry.granule;
    head.period_ms = telemetry.period_ms;
    head.name = static_cast<uint32_t>(telemetry.name.size());
    head.entries = telemetry.mapped();
    head.turns = static_cast<uint32_t>(telemetry.turns.size());
    head.spec = telemetry.spec;
    return send_all(socket, &head, sizeof(head)) &&
           send_all(socket, telemetry.name.data(), telemetry.name.size()) &&
           send_all(socket, entries.data(), entries.size() * sizeof(entries[0])) &&
           send_all(socket, telemetry.turns.data(),
                    telemetry.turns.size() * sizeof(telemetry.turns[0]));
}

std::optional<Telemetry> wire_receive_telemetry(int socket) {
    Telemetry telemetry;
    Head head = {};

    if (!receive_all(socket, &head, sizeof(head)) || head.name > LONGEST_NAME ||
        head.entries > MAX_KEYS || head.turns > MAX_KEYS)
        return std::nullopt;

    std::vector<anemone_entry> entries(head.entries);

    telemetry.id = head.id;
    telemetry.regions = head.regions;
    telemetry.region_counters = head.region_counters;
    telemetry.pipelines = head.pipelines;
    telemetry.granule = head.granule;
    telemetry.period_ms = head.period_ms;
    telemetry.spec = head.spec;
    telemetry.name.resize(head.name);
    telemetry.turns.resize(head.turns);
    if (!receive_all(socket, telemetry.name.data(), head.name) ||
        !receive_all(socket, entries.data(), entries.size() * sizeof(entries[0])) ||
        !receive_all(socket, telemetry.turns.data(),
                     telemetry.turns.size() * sizeof(telemetry.turns[0])))
        return std::nullopt;
    for (const anemone_entry& entry : entries)
        telemetry.map.emplace_hint(telemetry.map.end(), entry.key, entry);
    return telemetry;
}

/* --- Paths ------------------------------------------------------------------------------------ */

std::string wire_directory() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    struct stat info;

    /* Another user's directory (su, sudo -E) is neither written nor trusted. */
    if (runtime && *runtime == '/' && !stat(runtime, &info) && info.st_uid == geteuid())
        return std::string(runtime) + "/anemone";
    return "/run/anemone-" + std::to_string(geteuid());
}

bool wire_directory_is_ours(const std::string& directory) {
    struct stat info;

    if (mkdir(directory.c_str(), 0700) && errno != EEXIST)
        return false;
    if (lstat(directory.c_str(), &info))
        return false;
    if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || info.st_mode & 077) {
        errno = EPERM;
        return false;
    }
    return true;
}

std::optional<std::string> wire_path(const std::string& device, const std::string& suffix) {
    std::string directory = wire_directory();
    std::string path = directory + "/" + device.substr(device.rfind('/') + 1) + "." + suffix;

    if (!wire_directory_is_ours(directory))
        return std::nullopt;
    if (path.size() >= sizeof(sockaddr_un::sun_path)) {
        errno = ENAMETOOLONG;
        return std::nullopt;
    }
    return path;
}
