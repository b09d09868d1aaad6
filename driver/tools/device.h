/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All that reaches the kernel. device.c is the real one; the tests link one that holds devices in
 * files (test/device_fake.c), with the same contract: anemone(4).
 */
#ifndef ANEMONECTL_DEVICE_H
#define ANEMONECTL_DEVICE_H

/* Paths of the devices, in order; their number. Free each, and the list. */
unsigned int device_paths(char ***paths);
/* Like open(2) and ioctl(2): a descriptor or 0, else -1 and errno. */
int device_open(const char *path);
int device_ioctl(int fd, unsigned long request, void *argument);

#endif
