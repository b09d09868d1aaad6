/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ANEMONE_SYSFS_H
#define ANEMONE_SYSFS_H

#include <linux/device.h>

#include "controller.h"

/* sysfs attributes of the PCI device: identity, counts, and flat memory mode by channel. */
extern const struct attribute_group *anemone_groups[];

/* The groups flat0 to flat3 (flat.c), one for each channel with flat memory mode. */
extern const struct attribute_group anemone_flat_groups[ANEMONE_CHANNELS_MAX];

struct anemone_controller *anemone_of_device(struct device *dev);
/* Reads one register; returns 0 or an error. */
int anemone_sysfs_read(struct device *dev, u32 offset, u64 *value);

#endif
