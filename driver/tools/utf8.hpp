/* SPDX-License-Identifier: GPL-2.0 */
/* Text as characters, and as one printable line. */
#ifndef ANEMONECTL_UTF8_HPP
#define ANEMONECTL_UTF8_HPP

#include <string>
#include <string_view>

/* Decodes UTF-8 up to the first invalid byte; *good: number of valid bytes. */
std::u32string decode_utf8(std::string_view bytes, size_t* good = nullptr);
std::string encode_utf8(std::u32string_view characters);
/* Whether a character is visible or a blank: not a separator, control, format or private one. */
bool is_printable(char32_t character);
/*
 * Escapes unprintable characters, and cuts the middle of a text with more than `longest`
 * characters.
 */
std::string one_line(std::string_view bytes, size_t longest);

#endif
