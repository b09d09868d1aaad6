/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ANEMONE_MMIO_H
#define ANEMONE_MMIO_H

#include "hw.h"

/* Access by loads and stores; NULL: this processor cannot read a line by one access. */
const struct anemone_io *anemone_mmio(void);

#endif
