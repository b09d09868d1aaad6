// SPDX-License-Identifier: GPL-2.0
/* The mock's telemetry region. */
#include "mock_counter.h"

static void apply_effect(struct mock_pipeline *pipeline, u64 *word)
{
	const struct anemone_rule *rule = &pipeline->rule;
	unsigned int kind = ANEMONE_GET(RULE_CONTROL_EFFECT_KIND, rule->control);
	unsigned int width = width_of(rule), i;

	for (i = 0; i < 64 / width && kind != ANEMONE_READ_EFFECT_NONE; i++) {
		u64 value = anemone_truncate(rule->effect_operand, width);

		if (kind == ANEMONE_READ_EFFECT_OP)
			value = update(ANEMONE_GET(RULE_CONTROL_EFFECT_OP, rule->control), width,
				       get_counter(*word, width, i), rule->effect_operand);
		*word = put_counter(*word, width, i, value);
	}
}

/* Returns the words of a window's line, and its pipeline. */
static u64 *states_of(struct mock *mock, u64 at, struct mock_pipeline **pipeline)
{
	u64 line = (at & (mock->window - 1)) / ANEMONE_LINE_BYTES;
	unsigned int channel = line % MOCK_CHANNELS, in_pipeline = line / MOCK_CHANNELS;
	unsigned int lines = MOCK_STATES / ANEMONE_LINE_WORDS;

	*pipeline = &mock->pipeline[in_pipeline / lines];
	return &(*pipeline)->states[channel][in_pipeline % lines * ANEMONE_LINE_WORDS];
}

static bool in_window(const struct mock *mock, u64 at, u64 window)
{
	return window & 1 && (at & ~(mock->window - 1)) == (window & ~1ULL);
}

static void read_line(struct mock *mock, u64 at, u64 *words)
{
	struct mock_pipeline *pipeline;
	u64 *states = states_of(mock, at, &pipeline);
	unsigned int word;

	for (word = 0; word < ANEMONE_LINE_WORDS; word++) {
		words[word] = mock->dead || mock->lines_dead ? ~0ULL : states[word];
		if (in_window(mock, at, mock->effect_window))
			apply_effect(pipeline, &states[word]);
	}
}

void mock_read_lines(struct anemone_hw *hw, u64 where, unsigned int lines, u64 *words)
{
	struct mock *mock = mock_of(hw);
	u64 at = hw->region + where;

	mock->posted = false;
	for (; lines--; at += ANEMONE_LINE_BYTES, words += ANEMONE_LINE_WORDS) {
		if (mock->repeats)
			read_line(mock, at, words);
		read_line(mock, at, words);
	}
}

/* The counter after an acknowledge of `written`. */
static u64 without(const struct anemone_rule *rule, unsigned int width, u64 counter, u64 written)
{
	bool resets = ANEMONE_GET(RULE_CONTROL_EFFECT_KIND, rule->control) ==
		      ANEMONE_READ_EFFECT_RESET;
	u64 start = resets ? rule->effect_operand : 0;

	switch (ANEMONE_GET(RULE_CONTROL_OP, rule->control)) {
	case ANEMONE_UPDATE_OP_SHR:
	case ANEMONE_UPDATE_OP_SHL:
	case ANEMONE_UPDATE_OP_EWMA2:
	case ANEMONE_UPDATE_OP_EWMA4:
	case ANEMONE_UPDATE_OP_EWMA8:
		return counter;
	case ANEMONE_UPDATE_OP_XOR:
		return anemone_truncate(counter ^ written ^ start, width);
	case ANEMONE_UPDATE_OP_OR:
		return anemone_truncate((counter & ~written) | start, width);
	case ANEMONE_UPDATE_OP_MAX:
	case ANEMONE_UPDATE_OP_MIN:
	case ANEMONE_UPDATE_OP_LAST:
		return counter == written ? anemone_truncate(start, width) : counter;
	default:
		return anemone_truncate(counter - written + start, width);
	}
}

void mock_write_lines(struct anemone_hw *hw, u64 where, unsigned int lines, const u64 *words)
{
	struct mock *mock = mock_of(hw);
	u64 at = hw->region + where;
	struct mock_pipeline *pipeline;
	unsigned int width, word, i;

	mock->posted = true;
	for (; lines--; at += ANEMONE_LINE_BYTES, words += ANEMONE_LINE_WORDS) {
		u64 *states = states_of(mock, at, &pipeline);

		if (mock->dead || !in_window(mock, at, mock->acknowledge_window))
			continue;
		width = width_of(&pipeline->rule);
		for (word = 0; word < ANEMONE_LINE_WORDS; word++)
			for (i = 0; i < 64 / width; i++)
				states[word] =
					put_counter(states[word], width, i,
						    without(&pipeline->rule, width,
							    get_counter(states[word], width, i),
							    get_counter(words[word], width, i)));
	}
}
