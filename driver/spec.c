// SPDX-License-Identifier: GPL-2.0
/* Checks telemetries, and encodes their rules for the registers. */
#include <linux/bitops.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "fold.h"
#include "spec.h"

int anemone_refuse(struct anemone_reason *reason, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason->text, sizeof(reason->text), format, arguments);
	va_end(arguments);
	return error;
}

/* Whether a code is built in: a field of `features` has a bit for each code. */
#define SUPPORTED(shape, field, code)                                                              \
	(ANEMONE_GET(FEATURES_##field, (shape)->features) >> (code) & 1)

static bool anemone_op_is_update(unsigned int op)
{
	return op >= ANEMONE_OP_ADD && op <= ANEMONE_OP_EWMA8 && op != ANEMONE_OP_RESET;
}

/* The hardware has no code for "none" and "reset". */
static unsigned int anemone_op_code(unsigned int op)
{
	return op < ANEMONE_OP_RESET ? op - ANEMONE_OP_ADD
				     : op - ANEMONE_OP_MIN + ANEMONE_UPDATE_OP_MIN;
}

static int anemone_check_name(const struct anemone_spec *spec, struct anemone_reason *reason)
{
	size_t length = strnlen(spec->name, sizeof(spec->name));
	size_t i;

	if (!length || length == sizeof(spec->name))
		return anemone_refuse(reason, -EINVAL, "name has %zu characters; allowed: 1 to %zu",
				      length, sizeof(spec->name) - 1);
	for (i = 0; i < length; i++)
		if (!isascii(spec->name[i]) || !isprint(spec->name[i]))
			return anemone_refuse(reason, -EINVAL,
					      "name: character %zu is not printable", i);
	return 0;
}

static int anemone_check_field(const char *name, const struct anemone_field *field,
			       struct anemone_reason *reason)
{
	if (field->shift > 63)
		return anemone_refuse(reason, -EINVAL, "%s.shift is %u; allowed: 0 to 63", name,
				      field->shift);
	if (field->pad)
		return anemone_refuse(reason, -EINVAL, "%s.pad is not 0", name);
	return 0;
}

static int anemone_check_padding(const char *name, const struct anemone_operation *operation,
				 bool source, struct anemone_reason *reason)
{
	if (memchr_inv(operation->pad, 0, sizeof(operation->pad)))
		return anemone_refuse(reason, -EINVAL, "%s.pad is not 0", name);
	if (operation->source && !source)
		return anemone_refuse(reason, -EINVAL, "%s.source is %u; allowed: 0", name,
				      operation->source);
	return 0;
}

static int anemone_check_update(const struct anemone_spec *spec, const struct anemone_shape *shape,
				struct anemone_reason *reason)
{
	const struct anemone_operation *update = &spec->update;

	if (!anemone_op_is_update(update->op))
		return anemone_refuse(reason, -EINVAL, "update.op is %u; allowed: %u to %u but %u",
				      update->op, ANEMONE_OP_ADD, ANEMONE_OP_EWMA8,
				      ANEMONE_OP_RESET);
	if (update->source > ANEMONE_OPERAND_IS_WRITE)
		return anemone_refuse(reason, -EINVAL, "update.source is %u; allowed: 0 to %u",
				      update->source, ANEMONE_OPERAND_IS_WRITE);
	if (!SUPPORTED(shape, OPS, anemone_op_code(update->op)))
		return anemone_refuse(reason, -EOPNOTSUPP, "update.op %u is not built in",
				      update->op);
	if (!SUPPORTED(shape, OPERAND_SOURCES, update->source))
		return anemone_refuse(reason, -EOPNOTSUPP, "update.source %u is not built in",
				      update->source);
	return anemone_check_padding("update", update, true, reason);
}

static int anemone_check_notify(const struct anemone_spec *spec, const struct anemone_shape *shape,
				struct anemone_reason *reason)
{
	const struct anemone_operation *notify = &spec->notify;

	if (notify->op > ANEMONE_NOTIFY_LE)
		return anemone_refuse(reason, -EINVAL, "notify.op is %u; allowed: 0 to %u",
				      notify->op, ANEMONE_NOTIFY_LE);
	if (!SUPPORTED(shape, PREDICATES, notify->op))
		return anemone_refuse(reason, -EOPNOTSUPP, "notify.op %u is not built in",
				      notify->op);
	return anemone_check_padding("notify", notify, false, reason);
}

static unsigned int anemone_effect_kind(const struct anemone_operation *effect)
{
	switch (effect->op) {
	case ANEMONE_OP_NONE:
		return ANEMONE_READ_EFFECT_NONE;
	case ANEMONE_OP_RESET:
		return ANEMONE_READ_EFFECT_RESET;
	default:
		return ANEMONE_READ_EFFECT_OP;
	}
}

static int anemone_check_effect(const struct anemone_spec *spec, const struct anemone_shape *shape,
				struct anemone_reason *reason)
{
	const struct anemone_operation *effect = &spec->read_effect;
	unsigned int kind = anemone_effect_kind(effect);

	if (effect->op > ANEMONE_OP_EWMA8)
		return anemone_refuse(reason, -EINVAL, "read_effect.op is %u; allowed: 0 to %u",
				      effect->op, ANEMONE_OP_EWMA8);
	if (!SUPPORTED(shape, EFFECTS, kind) ||
	    (kind == ANEMONE_READ_EFFECT_OP && !SUPPORTED(shape, OPS, anemone_op_code(effect->op))))
		return anemone_refuse(reason, -EOPNOTSUPP, "read_effect.op %u is not built in",
				      effect->op);
	return anemone_check_padding("read_effect", effect, false, reason);
}

static int anemone_check_match(const struct anemone_spec *spec, const struct anemone_shape *shape,
			       struct anemone_reason *reason)
{
	if (!spec->filter.type || spec->filter.type & ~(ANEMONE_R | ANEMONE_W))
		return anemone_refuse(reason, -EINVAL, "type is %u; allowed: 1 R, 2 W, 3 both",
				      spec->filter.type);
	if (spec->filter.near > ANEMONE_NEAR_MISS)
		return anemone_refuse(reason, -EINVAL, "near is %u; allowed: 0 to %u",
				      spec->filter.near, ANEMONE_NEAR_MISS);
	if (spec->filter.near && !shape->flat)
		return anemone_refuse(reason, -EOPNOTSUPP,
				      "near is %u, and flat memory mode is not built in",
				      spec->filter.near);
	if (spec->filter.start > spec->filter.end ||
	    (spec->filter.start == spec->filter.end && spec->filter.start))
		return anemone_refuse(reason, -EINVAL, "start %#llx is not below end %#llx",
				      spec->filter.start, spec->filter.end);
	if (spec->flags & ~ANEMONE_SPEC_HOST || memchr_inv(spec->pad, 0, sizeof(spec->pad)) ||
	    memchr_inv(spec->reserved, 0, sizeof(spec->reserved)) ||
	    memchr_inv(spec->filter.pad, 0, sizeof(spec->filter.pad)))
		return anemone_refuse(reason, -EINVAL, "flags or padding not known are set");
	return 0;
}

static int anemone_check_hash(const struct anemone_spec *spec, const struct anemone_shape *shape,
			      const struct anemone_plan *plan, struct anemone_reason *reason)
{
	const struct anemone_hash *hash = &spec->hash;

	if (!hash->size) {
		if (hash->multiplier)
			return anemone_refuse(reason, -EINVAL,
					      "hash.size is 0, but a multiplier is set");
		return 0;
	}
	if (!(hash->multiplier & 1) || hash->multiplier >> ANEMONE_HASH_BITS)
		return anemone_refuse(reason, -EINVAL,
				      "hash.multiplier is %#x; allowed: odd numbers below 2^%u",
				      hash->multiplier, ANEMONE_HASH_BITS);
	if (!ANEMONE_GET(FEATURES_HASH, shape->features))
		return anemone_refuse(reason, -EOPNOTSUPP, "hash is not built in");
	if (hash->size > plan->counters)
		return anemone_refuse(reason, -ENOSPC,
				      "hash.size is %u; a pipeline has %u counters of %u bits",
				      hash->size, plan->counters, plan->width);
	return 0;
}

static int anemone_check_width(const struct anemone_spec *spec, const struct anemone_shape *shape,
			       struct anemone_plan *plan, struct anemone_reason *reason)
{
	plan->width = spec->width ?: 64;
	if (plan->width < 8 || plan->width > 64 || !is_power_of_2(plan->width))
		return anemone_refuse(reason, -EINVAL, "width is %u; allowed: 8, 16, 32, 64",
				      spec->width);
	if (!SUPPORTED(shape, WIDTHS, ilog2(plan->width) - 3))
		return anemone_refuse(reason, -EOPNOTSUPP, "width %u is not built in", plan->width);
	plan->counters = shape->states * (64 / plan->width);
	plan->granule = ANEMONE_LINE_WORDS * (64 / plan->width);
	return 0;
}

static void anemone_spec_encode(const struct anemone_spec *spec, struct anemone_plan *plan)
{
	struct anemone_rule *rule = &plan->rule;
	unsigned int kind = anemone_effect_kind(&spec->read_effect);

	rule->control = ANEMONE_PUT(RULE_CONTROL_ENABLE, 1) |
			ANEMONE_PUT(RULE_CONTROL_READS, !!(spec->filter.type & ANEMONE_R)) |
			ANEMONE_PUT(RULE_CONTROL_WRITES, !!(spec->filter.type & ANEMONE_W)) |
			ANEMONE_PUT(RULE_CONTROL_NEAR, spec->filter.near) |
			ANEMONE_PUT(RULE_CONTROL_HASH, !!spec->hash.size) |
			ANEMONE_PUT(RULE_CONTROL_COUNTER_WIDTH, ilog2(plan->width) - 3) |
			ANEMONE_PUT(RULE_CONTROL_OPERAND_SOURCE, spec->update.source) |
			ANEMONE_PUT(RULE_CONTROL_OP, anemone_op_code(spec->update.op)) |
			ANEMONE_PUT(RULE_CONTROL_NOTIFY_OP, spec->notify.op) |
			ANEMONE_PUT(RULE_CONTROL_EFFECT_KIND, kind);
	if (kind == ANEMONE_READ_EFFECT_OP)
		rule->control |=
			ANEMONE_PUT(RULE_CONTROL_EFFECT_OP, anemone_op_code(spec->read_effect.op));
	rule->primary_mask = plan->translation.primary.mask;
	rule->sub_mask = plan->translation.sub.mask;
	rule->shifts = ANEMONE_PUT(RULE_SHIFTS_PRIMARY, plan->translation.primary.shift) |
		       ANEMONE_PUT(RULE_SHIFTS_SUB, plan->translation.sub.shift);
	rule->hash = ANEMONE_PUT(RULE_HASH_MULTIPLIER, spec->hash.multiplier) |
		     ANEMONE_PUT(RULE_HASH_SIZE, spec->hash.size);
	rule->operand = spec->update.operand;
	rule->notify_operand = spec->notify.operand;
	rule->effect_operand = spec->read_effect.operand;
	plan->op = spec->update.op;
	if (kind == ANEMONE_READ_EFFECT_RESET)
		plan->start = anemone_truncate(spec->read_effect.operand, plan->width);
}

int anemone_spec_plan(const struct anemone_spec *spec, const struct anemone_shape *shape,
		      const struct anemone_memory *memory, struct anemone_plan *plan,
		      struct anemone_reason *reason)
{
	u64 offsets;
	int err;

	*plan = (struct anemone_plan){ .regions = spec->regions, .translation = spec->translation };
	err = anemone_check_name(spec, reason) ?:
	      anemone_check_match(spec, shape, reason) ?:
	      anemone_check_width(spec, shape, plan, reason) ?:
	      anemone_check_hash(spec, shape, plan, reason) ?:
	      anemone_check_field("primary", &spec->translation.primary, reason) ?:
	      anemone_check_field("sub", &spec->translation.sub, reason) ?:
	      anemone_check_update(spec, shape, reason) ?:
	      anemone_check_notify(spec, shape, reason) ?:
	      anemone_check_effect(spec, shape, reason) ?:
	      anemone_resolve_addresses(spec, shape, memory, plan, reason);
	if (err)
		return err;
	offsets = spec->translation.sub.mask >> spec->translation.sub.shift;
	/* Address bits that the device does not have are zero, so they need no counters. */
	offsets = min(offsets, ((1ULL << shape->address_bits) - 1) >> spec->translation.sub.shift);
	if (spec->hash.size)
		offsets = spec->hash.size - 1;
	if (offsets >= plan->counters)
		return anemone_refuse(reason, -ENOSPC,
				      "a region has %llu counters of %u bits, a pipeline %u",
				      offsets + 1, plan->width, plan->counters);
	plan->region_counters = roundup_pow_of_two(offsets + 1);
	anemone_spec_encode(spec, plan);
	return 0;
}
