// SPDX-License-Identifier: GPL-2.0
#include "names.h"

#include <anemone_regs.h>

/* The device has no code for no op: its first bit is ADD's. */
#define OP_BIT(code) (1ULL << ((code) - ANEMONE_OP_ADD))
#define OP(name, code) { name, code, OP_BIT(code) }
/* A read effect by an op wants that op built, and that such effects are. */
#define EFFECT_BIT(bit) (1ULL << (ANEMONE_FEATURES_EFFECTS_SHIFT + (bit)))
#define EFFECT(name, code) { name, code, EFFECT_BIT(2) | OP_BIT(code) }
#define SOURCE(name, code) { name, code, 1ULL << (ANEMONE_FEATURES_OPERAND_SOURCES_SHIFT + (code)) }
#define PREDICATE(name, code) { name, code, 1ULL << (ANEMONE_FEATURES_PREDICATES_SHIFT + (code)) }
#define WIDTH(name, bits, code) { name, bits, 1ULL << (ANEMONE_FEATURES_WIDTHS_SHIFT + (code)) }

const struct name type_names[] = { { "R", ANEMONE_R, 0 },
				   { "W", ANEMONE_W, 0 },
				   { "RW", ANEMONE_R | ANEMONE_W, 0 },
				   { NULL, 0, 0 } };

const struct name near_names[] = { { "any", ANEMONE_NEAR_ANY, 0 },
				   { "hit", ANEMONE_NEAR_HIT, 0 },
				   { "miss", ANEMONE_NEAR_MISS, 0 },
				   { NULL, 0, 0 } };

const struct name op_names[] = {
	OP("add", ANEMONE_OP_ADD), OP("sub", ANEMONE_OP_SUB),	    OP("shr", ANEMONE_OP_SHR),
	OP("shl", ANEMONE_OP_SHL), OP("xor", ANEMONE_OP_XOR),	    OP("or", ANEMONE_OP_OR),
	OP("max", ANEMONE_OP_MAX), OP("addsat", ANEMONE_OP_ADDSAT), { NULL, 0, 0 }
};

const struct name source_names[] = { SOURCE("imm", ANEMONE_OPERAND_VALUE),
				     SOURCE("line", ANEMONE_OPERAND_LINE),
				     SOURCE("is_write", ANEMONE_OPERAND_IS_WRITE),
				     { NULL, 0, 0 } };

const struct name predicate_names[] = { { "none", ANEMONE_NOTIFY_NONE, 0 },
					PREDICATE("eq", ANEMONE_NOTIFY_EQ),
					PREDICATE("ge", ANEMONE_NOTIFY_GE),
					PREDICATE("gt", ANEMONE_NOTIFY_GT),
					PREDICATE("lt", ANEMONE_NOTIFY_LT),
					PREDICATE("le", ANEMONE_NOTIFY_LE),
					{ NULL, 0, 0 } };

const struct name effect_names[] = { { "none", ANEMONE_OP_NONE, 0 },
				     { "reset", ANEMONE_OP_RESET, EFFECT_BIT(1) },
				     EFFECT("add", ANEMONE_OP_ADD),
				     EFFECT("sub", ANEMONE_OP_SUB),
				     EFFECT("shr", ANEMONE_OP_SHR),
				     EFFECT("shl", ANEMONE_OP_SHL),
				     EFFECT("xor", ANEMONE_OP_XOR),
				     EFFECT("or", ANEMONE_OP_OR),
				     EFFECT("max", ANEMONE_OP_MAX),
				     EFFECT("addsat", ANEMONE_OP_ADDSAT),
				     { NULL, 0, 0 } };

const struct name width_names[] = {
	WIDTH("8", 8, 0), WIDTH("16", 16, 1), WIDTH("32", 32, 2), WIDTH("64", 64, 3), { NULL, 0, 0 }
};

static const char *of_code(const struct name *names, unsigned int code)
{
	for (; names->name; names++)
		if (names->code == code)
			return names->name;
	return NULL;
}

const char *type_name(unsigned int type)
{
	return of_code(type_names, type);
}

const char *near_name(unsigned int near)
{
	return of_code(near_names, near);
}

const char *op_name(unsigned int op)
{
	return of_code(effect_names, op);
}

const char *source_name(unsigned int source)
{
	return of_code(source_names, source);
}

const char *predicate_name(unsigned int op)
{
	return of_code(predicate_names, op);
}
