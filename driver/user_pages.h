/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Table entries for user pages, and the access rules.
 *
 * Telemetry shows accesses to physical memory. Adding one takes CAP_PERFMON, as for other counters,
 * or CAP_SYS_ADMIN. Naming memory by its physical address takes CAP_SYS_ADMIN, as for
 * /proc/pid/pagemap. Other callers name their own pages by virtual address, and the invalidation of
 * a page removes its entry.
 */
#ifndef ANEMONE_USER_PAGES_H
#define ANEMONE_USER_PAGES_H

#include "access.h"
#include "telemetry.h"

/*
 * Maps the caller's memory at `address` to a region. -EINVAL: not with these masks, or the address
 * is not a multiple of a key's reach; -EFAULT: no such memory; -EACCES: it is shared, or is not one
 * page of a key's reach or more; -ERANGE: not this device's memory.
 */
int anemone_user_page_map(struct anemone_telemetry *telemetry, u64 address, u32 region);
int anemone_user_page_unmap(struct anemone_telemetry *telemetry, u64 address);
void anemone_user_pages_init(struct anemone_user_pages *pages);
/* Removes all entries of a telemetry. Not under the controller's lock. */
void anemone_user_pages_remove(struct anemone_telemetry *telemetry);

/*
 * The next lost entry of a file that asked for these; false if there is none. Under file->lock
 * until anemone_lost_done.
 */
bool anemone_lost_next(struct anemone_file *file, struct anemone_record *record);
void anemone_lost_done(struct anemone_file *file, const struct anemone_record *record);

#endif
