/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ANEMONE_DEBUGFS_H
#define ANEMONE_DEBUGFS_H

#include "controller.h"

void anemone_debugfs_init(void);
void anemone_debugfs_exit(void);
/* Adds the folder anemone/anemoneN with `registers`, `memory` and `telemetries`. */
void anemone_debugfs_add(struct anemone_controller *ctl);
void anemone_debugfs_remove(struct anemone_controller *ctl);

#endif
