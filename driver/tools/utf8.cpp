// SPDX-License-Identifier: GPL-2.0
#include "utf8.hpp"

#include <algorithm>
#include <cstdio>
#include <cwchar>
#include <iterator>
#include <locale>

namespace {

/* The standard library's conversion, which needs no installed locale. */
using Facet = std::codecvt<char32_t, char8_t, std::mbstate_t>;

const Facet& facet() {
    return std::use_facet<Facet>(std::locale::classic());
}

} // namespace

std::u32string decode_utf8(std::string_view bytes, size_t* good) {
    std::u32string characters(bytes.size(), 0);
    const auto* from = reinterpret_cast<const char8_t*>(bytes.data());
    const char8_t* stopped = from;
    char32_t* end = characters.data();
    std::mbstate_t state = {};

    facet().in(state, from, from + bytes.size(), stopped, characters.data(),
               characters.data() + characters.size(), end);
    characters.resize(static_cast<size_t>(end - characters.data()));
    if (good)
        *good = static_cast<size_t>(stopped - from);
    return characters;
}

std::string encode_utf8(std::u32string_view characters) {
    std::u8string bytes(4 * characters.size(), 0);
    const char32_t* stopped = characters.data();
    char8_t* end = bytes.data();
    std::mbstate_t state = {};

    facet().out(state, characters.data(), characters.data() + characters.size(), stopped,
                bytes.data(), bytes.data() + bytes.size(), end);
    return std::string(bytes.data(), end);
}

bool is_printable(char32_t character) {
    /* Unicode's separators, controls, formats and private use characters. */
    static constexpr struct {
        char32_t first, last;
    } hidden[] = {
        {0, 0x1f},          {0x7f, 0xa0},        {0xad, 0xad},       {0x600, 0x605},
        {0x61c, 0x61c},     {0x6dd, 0x6dd},      {0x70f, 0x70f},     {0x890, 0x891},
        {0x8e2, 0x8e2},     {0x1680, 0x1680},    {0x180e, 0x180e},   {0x2000, 0x200f},
        {0x2028, 0x202f},   {0x205f, 0x206f},    {0x3000, 0x3000},   {0xd800, 0xf8ff},
        {0xfeff, 0xfeff},   {0xfff0, 0xfffb},    {0xfffe, 0xffff},   {0x110bd, 0x110bd},
        {0x110cd, 0x110cd}, {0x13430, 0x1343f},  {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe00ff}, {0xe01f0, 0x10ffff},
    };

    return std::none_of(std::begin(hidden), std::end(hidden), [character](const auto& range) {
        return character >= range.first && character <= range.last;
    });
}

std::string one_line(std::string_view bytes, size_t longest) {
    std::u32string characters = decode_utf8(bytes);
    size_t count = characters.size(), tail = longest / 4;
    std::string line;

    for (size_t i = 0; i < count; i++) {
        char32_t c = characters[i];
        char escape[12] = "";

        if (count > longest && i == longest - tail) {
            line += " ... ";
            i = count - tail;
            c = characters[i];
        }
        if (is_printable(c))
            line += encode_utf8({&c, 1});
        else if (c == '\n' || c == '\t' || c == '\r')
            line += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
        else
            std::snprintf(escape, sizeof(escape),
                          c < 0x100     ? "\\x%02x"
                          : c < 0x10000 ? "\\u%04x"
                                        : "\\U%08x",
                          static_cast<unsigned int>(c));
        line += escape;
    }
    return line;
}
