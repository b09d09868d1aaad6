/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ANEMONE_MMIO_H
#define ANEMONE_MMIO_H

#include "hw.h"

/* Sets hw->io and how this processor accesses lines; false if it has no streaming loads. */
bool anemone_mmio(struct anemone_hw *hw);

#endif
