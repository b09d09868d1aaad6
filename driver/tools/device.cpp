// SPDX-License-Identifier: GPL-2.0
#include "device.hpp"

#include <cerrno>
#include <fcntl.h>
#include <glob.h>
#include <sys/ioctl.h>
#include <unistd.h>

std::vector<std::string> device_paths() {
    std::vector<std::string> paths;
    glob_t found = {};

    if (!glob("/dev/anemone[0-9]*", 0, nullptr, &found))
        paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    return paths;
}

Descriptor device_open(const std::string& path) {
    return Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
}

int device_ioctl(int fd, unsigned long request, void* argument) {
    int result;

    do
        result = ioctl(fd, request, argument);
    while (result < 0 && errno == EINTR);
    return result;
}

bool device_listen(int fd) {
    anemone_events call = {sizeof(call), sizeof(anemone_record), ANEMONE_EVENTS_LOST, 0};
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && !fcntl(fd, F_SETFL, flags | O_NONBLOCK) &&
           !device_ioctl(fd, ANEMONE_EVENTS, &call);
}

int device_poll(std::span<pollfd> polled, int milliseconds) {
    return poll(polled.data(), polled.size(), milliseconds);
}

ssize_t device_read(int fd, std::span<anemone_record> records) {
    ssize_t got = read(fd, records.data(), records.size_bytes());

    return got < 0 ? got : got / static_cast<ssize_t>(sizeof(anemone_record));
}

std::string device_proc(uint32_t pid) {
    return "/proc/" + std::to_string(pid);
}
