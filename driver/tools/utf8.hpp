/* SPDX-License-Identifier: GPL-2.0 */
/* Text as characters, and as one printable line. */
#ifndef ANEMONECTL_UTF8_HPP
#define ANEMONECTL_UTF8_HPP

#include <string>
#include <string_view>

/* The characters of UTF-8 text, up to the first byte that is not UTF-8; *good: bytes until there.
 */
std::u32string decode_utf8(std::string_view bytes, size_t* good = nullptr);
std::string encode_utf8(std::u32string_view characters);
/* Whether a character shows: not a separator, control, format or private one. A blank is. */
bool is_printable(char32_t character);
/* Escapes what does not print, and cuts the middle of text with more than `longest` characters. */
std::string one_line(std::string_view bytes, size_t longest);

#endif
