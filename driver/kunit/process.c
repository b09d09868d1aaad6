// SPDX-License-Identifier: GPL-2.0
#include <linux/anon_inodes.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "process.h"

static void close(void *filp)
{
	__fput_sync(filp);
}

struct file *process_open(struct kunit *test, struct mock *mock)
{
	struct anemone_file *file = anemone_file_new(mock->ctl);
	struct file *filp;

	KUNIT_ASSERT_NOT_NULL(test, file);
	filp = anon_inode_getfile("anemone", &anemone_fops, file, O_RDWR | O_NONBLOCK);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close, filp), 0);
	return filp;
}

unsigned long process_pages(struct kunit *test, unsigned int pages)
{
	unsigned long at = kunit_vm_mmap(test, NULL, 0, pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
					 MAP_ANONYMOUS | MAP_PRIVATE, 0);
	unsigned int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	for (i = 0; i < pages; i++)
		process_put(test, at + i * PAGE_SIZE, &i, sizeof(i));
	return at;
}

void process_put(struct kunit *test, unsigned long to, const void *from, size_t size)
{
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)to, from, size), 0);
}

void process_get(struct kunit *test, void *to, unsigned long from, size_t size)
{
	KUNIT_ASSERT_EQ(test, copy_from_user(to, (void __user *)from, size), 0);
}

u64 process_pfn(struct kunit *test, unsigned long address)
{
	struct page *page;
	u64 pfn;

	KUNIT_ASSERT_EQ(test, get_user_pages_fast(address, 1, FOLL_WRITE, &page), 1);
	pfn = page_to_pfn(page);
	put_page(page);
	return pfn;
}

long process_call(struct kunit *test, struct file *filp, unsigned int command, void *argument,
		  size_t size)
{
	unsigned long at = process_pages(test, 1);
	long result;

	process_put(test, at, argument, size);
	result = filp->f_op->unlocked_ioctl(filp, command, at);
	process_get(test, argument, at, size);
	return result;
}

const struct cred *process_set_cred(struct kunit *test, unsigned int user, const int *without,
				    unsigned int count)
{
	struct cred *cred = prepare_creds();
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cred->uid = KUIDT_INIT(user);
	cred->euid = KUIDT_INIT(user);
	for (i = 0; i < count; i++)
		cap_lower(cred->cap_effective, without[i]);
	return override_creds(cred);
}

void process_restore_cred(const struct cred *old)
{
	const struct cred *other = current_cred();

	revert_creds(old);
	put_cred(other);
}
