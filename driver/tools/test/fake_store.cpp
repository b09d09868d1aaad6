// SPDX-License-Identifier: GPL-2.0
#include "fake_store.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A lock of one byte. */
static struct flock first_byte(short type) {
    struct flock lock = {};

    lock.l_type = type;
    lock.l_len = 1;
    return lock;
}

/* Removes the telemetries of closed files, which no longer hold their locks. */
static void remove_orphans(int fd, FakeDevice* device) {
    uint64_t self = static_cast<uint64_t>(lseek(fd, 0, SEEK_CUR));

    for (uint32_t i = 0; i < FAKE_TELEMETRIES; i++) {
        FakeTelemetry* t = &device->telemetry[i];
        struct flock probe = first_byte(F_WRLCK);

        if (!t->owner || t->owner == self)
            continue;
        probe.l_start = static_cast<off_t>(t->owner);
        if (!fcntl(fd, F_OFD_GETLK, &probe) && probe.l_type == F_UNLCK)
            *t = {};
    }
}

bool fake_enter(int fd, FakeDevice** device) {
    struct stat info;

    /* Not flock(): its lock belongs to the open file, which several processes may share. */
    struct flock whole = first_byte(F_WRLCK);

    while (fcntl(fd, F_SETLKW, &whole))
        if (errno != EINTR)
            return false;
    if (fstat(fd, &info))
        return false;
    if (static_cast<size_t>(info.st_size) < sizeof(**device)) {
        errno = ENODEV;
        return false;
    }

    void* mapped = mmap(nullptr, sizeof(**device), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (mapped == MAP_FAILED)
        return false;
    *device = static_cast<FakeDevice*>(mapped);
    remove_orphans(fd, *device);
    return true;
}

void fake_leave(int fd, FakeDevice* device) {
    struct flock whole = first_byte(F_UNLCK);
    int error = errno;

    munmap(device, sizeof(*device));
    fcntl(fd, F_SETLK, &whole);
    errno = error;
}

uint64_t fake_index(const FakeTelemetry* t, uint64_t key) {
    bool host = t->spec.flags & ANEMONE_SPEC_HOST;

    return key - (host ? FAKE_HOST_BASE >> t->spec.translation.primary.shift : 0);
}
