// SPDX-License-Identifier: GPL-2.0
#include "utf8.h"

size_t utf8_decode(const char *text, size_t size, uint32_t *code)
{
	const uint8_t *byte = (const uint8_t *)text;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = !size		     ? 0
			: byte[0] < 0x80     ? 1
			: byte[0] >> 5 == 6  ? 2
			: byte[0] >> 4 == 14 ? 3
			: byte[0] >> 3 == 30 ? 4
					     : 0;

	if (!length || length > size)
		return 0;
	*code = length == 1 ? byte[0] : byte[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (byte[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (byte[i] & 0x3f);
	}
	/* Longer than need be, half of a pair, or past the end. */
	if (*code < least[length] || *code >> 11 == 0x1b || *code > 0x10ffff)
		return 0;
	return length;
}

size_t utf8_encode(uint32_t code, char *bytes)
{
	size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = length; i-- > 1; code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(length == 1 ? code : (0xf00u >> length & 0xff) | code);
	return length;
}

bool utf8_printable(uint32_t code)
{
	/* Unicode's separators, controls, formats and private use. */
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{ 0, 0x1f },	      { 0x7f, 0xa0 },	     { 0xad, 0xad },
		{ 0x600, 0x605 },     { 0x61c, 0x61c },	     { 0x6dd, 0x6dd },
		{ 0x70f, 0x70f },     { 0x890, 0x891 },	     { 0x8e2, 0x8e2 },
		{ 0x1680, 0x1680 },   { 0x180e, 0x180e },    { 0x2000, 0x200f },
		{ 0x2028, 0x202f },   { 0x205f, 0x206f },    { 0x3000, 0x3000 },
		{ 0xd800, 0xf8ff },   { 0xfeff, 0xfeff },    { 0xfff0, 0xfffb },
		{ 0xfffe, 0xffff },   { 0x110bd, 0x110bd },  { 0x110cd, 0x110cd },
		{ 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 },  { 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe00ff }, { 0xe01f0, 0x10ffff },
	};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return false;
	return true;
}
