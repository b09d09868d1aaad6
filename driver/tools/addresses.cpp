// SPDX-License-Identifier: GPL-2.0
#include "addresses.hpp"

#include <algorithm>
#include <bit>

namespace {

unsigned int address_bits(const Session& session, const anemone_spec& spec) {
    return spec.flags & ANEMONE_SPEC_HOST ? 64 : session.info.address_bits;
}

/* The addresses that give a value of a field, and whether they are one range. */
struct Reversed {
    Span span;
    bool one;
};

/* `top`: number of address bits. */
Reversed reverse(const anemone_field& field, uint64_t value, unsigned int top) {
    uint64_t all = top < 64 ? (1ULL << top) - 1 : UINT64_MAX;
    /* Bits below the shift and bits that no address has do not count. */
    uint64_t mask = field.mask >> field.shift << field.shift & all;
    uint64_t low = mask ? (mask & -mask) - 1 : all;
    uint64_t first = value << field.shift;

    /* One range only if the mask has every bit from its lowest one on. */
    return {{first, first + low}, (mask | low) == all && (first & ~mask) == 0};
}

Addresses clipped(Span span, const anemone_spec& spec) {
    if (!spec.filter.start && !spec.filter.end)
        return span;
    if (span.first >= spec.filter.end || span.last < spec.filter.start)
        return std::nullopt;
    return Span{std::max<uint64_t>(span.first, spec.filter.start),
                std::min<uint64_t>(span.last, spec.filter.end - 1)};
}

} // namespace

std::vector<RegionKeys> keys_of_regions(const Telemetry& telemetry) {
    std::vector<RegionKeys> keys(telemetry.regions);

    for (const auto& [key, entry] : telemetry.map) {
        /* Only its process knows the physical address of the caller's own memory. */
        if (entry.region >= telemetry.regions || entry.flags & ANEMONE_ENTRY_VIRTUAL)
            continue;
        if (!keys[entry.region].count++)
            keys[entry.region].key = key;
    }
    return keys;
}

Addresses key_addresses(const Session& session, const anemone_spec& spec, uint64_t key) {
    Reversed whole = reverse(spec.translation.primary, key, address_bits(session, spec));

    return whole.one ? clipped(whole.span, spec) : std::nullopt;
}

Addresses counter_addresses(const Session& session, const anemone_spec& spec, uint64_t key,
                            uint64_t offset) {
    Reversed whole = reverse(spec.translation.primary, key, address_bits(session, spec));
    uint64_t reach = whole.span.last - whole.span.first;
    Reversed part =
        reverse(spec.translation.sub, offset, static_cast<unsigned int>(std::bit_width(reach)));

    /* Offset bits that are also key bits are not free. */
    if (!whole.one || !part.one || part.span.last > reach || spec.translation.sub.mask & ~reach)
        return std::nullopt;
    return clipped({whole.span.first + part.span.first, whole.span.first + part.span.last}, spec);
}

std::string addresses_text(const Addresses& addresses, uint32_t keys) {
    std::string shown = "-";

    if (addresses)
        shown = text(Hex{addresses->first}, '-', Hex{addresses->last});
    if (keys > 1)
        shown += text(" +", keys - 1, " key", plural(keys - 1));
    return shown;
}

Json addresses_json(const Addresses& addresses) {
    return addresses ? Json{addresses->first, addresses->last} : Json(nullptr);
}
