/* SPDX-License-Identifier: GPL-2.0 */
/* A process that uses a mock as /dev/anemoneN: calls, memory and credentials. */
#ifndef ANEMONE_KUNIT_PROCESS_H
#define ANEMONE_KUNIT_PROCESS_H

#include "../file.h"
#include "mock.h"

/* Opens the device; it is closed with the test. */
struct file *process_open(struct kunit *test, struct mock *mock);
static inline struct anemone_file *process_file(struct file *filp)
{
	return filp->private_data;
}

/* Makes a call with a kernel structure, which is copied to the process's memory and back. */
long process_call(struct kunit *test, struct file *filp, unsigned int command, void *argument,
		  size_t size);
/* Allocates pages of the process, written or not faulted in yet. */
unsigned long process_pages(struct kunit *test, unsigned int pages);
void process_put(struct kunit *test, unsigned long to, const void *from, size_t size);
void process_get(struct kunit *test, void *to, unsigned long from, size_t size);
u64 process_pfn(struct kunit *test, unsigned long address);
/* Sets the caller to this user, with all capabilities but these; and restores it. */
const struct cred *process_set_cred(struct kunit *test, unsigned int user, const int *without,
				    unsigned int count);
void process_restore_cred(const struct cred *old);

#endif
