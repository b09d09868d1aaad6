/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything that calls the kernel's driver. device.cpp is the real one. The tests link
 * test/device_fake.cpp, which keeps devices in files and follows the same contract, anemone(4).
 */
#ifndef ANEMONECTL_DEVICE_HPP
#define ANEMONECTL_DEVICE_HPP

#include <linux/anemone.h>
#include <poll.h>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "common.hpp"

/* Paths of the devices, in order. */
std::vector<std::string> device_paths();
/* Like open(2) and ioctl(2); on failure an empty descriptor or -1, and errno. */
Descriptor device_open(const std::string& path);
int device_ioctl(int fd, unsigned long request, void* argument);

/*
 * Makes events readable as records, including lost entries, by reads that do not wait. On failure
 * returns false and sets errno. It applies to everybody who shares the open file.
 */
bool device_listen(int fd);
/* Like poll(2) and read(2): the number of records, or -1 and errno. */
int device_poll(std::span<pollfd> polled, int milliseconds);
ssize_t device_read(int fd, std::span<anemone_record> records);

/* The folder of a process in /proc. */
std::string device_proc(uint32_t pid);

#endif
