/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ANEMONE_MMIO_H
#define ANEMONE_MMIO_H

#include "hw.h"

/* Access by loads and stores, and what this processor's can; false: it has no streaming loads. */
bool anemone_mmio(struct anemone_hw *hw);

#endif
