// SPDX-License-Identifier: GPL-2.0
#include "device.hpp"

#include <cerrno>
#include <fcntl.h>
#include <glob.h>
#include <sys/ioctl.h>

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
