/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may look at what.
 *
 * Telemetry tells who touches which physical memory. To add one takes CAP_PERFMON, as other
 * counters do, or CAP_SYS_ADMIN. To name memory by its physical address takes CAP_SYS_ADMIN, as in
 * /proc/pid/pagemap; everybody else names memory of their own by its virtual address, and the
 * entry goes, in the invalidation itself, when the page is not theirs any more.
 */
#ifndef ANEMONE_USER_PAGES_H
#define ANEMONE_USER_PAGES_H

#include "access.h"
#include "telemetry.h"

/*
 * Maps the caller's memory at `address` to a region. -EINVAL: not with these masks, or the address
 * is not a multiple of a key's reach; -EFAULT: no such memory; -EACCES: it is shared, or part of a
 * larger page than a key's reach covers is not the caller's; -ERANGE: not this device's memory.
 */
int anemone_user_page_map(struct anemone_telemetry *telemetry, u64 address, u32 region);
int anemone_user_page_unmap(struct anemone_telemetry *telemetry, u64 address);
void anemone_user_pages_init(struct anemone_user_pages *pages);
/* All of a telemetry. Not under the controller's lock. */
void anemone_user_pages_remove(struct anemone_telemetry *telemetry);

/*
 * The next entry that was lost with its page, for who has asked for these; false: there is none.
 * Under file->lock until it is done.
 */
bool anemone_lost_next(struct anemone_file *file, struct anemone_record *record);
void anemone_lost_done(struct anemone_file *file, const struct anemone_record *record);

#endif
