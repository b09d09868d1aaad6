/* SPDX-License-Identifier: GPL-2.0 */
/* Expectations on the driver's reasons for a refusal. */
#ifndef ANEMONE_KUNIT_EXPECT_REASON_H
#define ANEMONE_KUNIT_EXPECT_REASON_H

#include <kunit/test.h>
#include <linux/string.h>

#include "../memory.h"

static inline void expect_reason(struct kunit *test, const char *text, const char *words)
{
	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(text, words), "\"%s\" is not \"%s\"", text, words);
}

/* Memory whose address is not known, with these words. */
static inline void expect_unknown(struct kunit *test, const struct anemone_memory *memory,
				  const char *words)
{
	KUNIT_EXPECT_EQ(test, memory->ranges, 0);
	expect_reason(test, memory->unknown, words);
}

#endif
