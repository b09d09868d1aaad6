// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "op.hpp"

namespace core {

namespace {

constexpr std::uint8_t kUnknown = 0xFF; // the tag of a set before its first access
constexpr unsigned kTries = 100;        // limit of a random search that may not succeed

} // namespace

Server::Server(double cycles_a_line)
    : cost_(cycles_a_line), width_(std::max(32.0, cycles_a_line)), slices_(kSlices) {}

Server::Slice& Server::slice(std::uint64_t number) {
    Slice& found = slices_[number & (kSlices - 1)];
    if (found.number != number)
        found = {number, 0.0};
    return found;
}

double Server::serve(double t) {
    auto at = static_cast<std::uint64_t>(t / width_);
    const bool inside = at >= full_from_ && at < full_to_;
    const std::uint64_t first = inside ? full_from_ : at;
    if (inside)
        at = full_to_;
    while (slice(at).used >= width_)
        at++;
    // Remembers the longest run of full slices, so that later requests skip it.
    if (at - first >= full_to_ - full_from_ || first > full_to_) {
        full_from_ = first;
        full_to_ = at;
    }
    const double begins = std::max(t, static_cast<double>(at) * width_ + slice(at).used);
    for (double left = cost_; left > 0; at++) {
        const double taken = std::min(left, width_ - slice(at).used);
        slice(at).used += taken;
        left -= taken;
    }
    return begins;
}

Memory::Memory(const Config& config)
    : config_(config), rest_{config.fast_ns * config.ghz - static_cast<double>(config.l3_latency),
                             config.slow_ns * config.ghz - static_cast<double>(config.l3_latency)},
      servers_{Server(64 / config.fast_gb_per_s * config.ghz),
               Server(64 / config.slow_gb_per_s * config.ghz)},
      near_tag_(config.near_lines, config.filled > 0 ? kUnknown : 0) {
    if (rest_[0] < 0 || rest_[1] < 0)
        throw std::invalid_argument("fast_ns or slow_ns is below the latency of the L3");
    if (config.near_lines && config.filled > 0) {
        order_.resize(pages());
        std::iota(order_.begin(), order_.end(), 0);
        for (std::uint64_t left = order_.size(); left > 1; left--)
            std::swap(order_[left - 1], order_[random_.below(left)]);
    }
}

Memory::Placed* Memory::placed_of(std::uint64_t line) {
    const auto found = std::find_if(placed_.rbegin(), placed_.rend(), [&](const Placed& each) {
        return line >= each.first && line < each.end;
    });
    return found == placed_.rend() ? nullptr : &*found;
}

bool Memory::on_fast(std::uint64_t line) {
    // Multiples of the golden ratio spread evenly: any range of pages, at any stride, has the share
    // on the fast tier to within a page or two, as with weighted interleaving.
    const std::uint64_t page = line >> (config_.page_bits - kLineBits);
    const std::uint64_t spread = page * 0x9E3779B97F4A7C15u;
    const Placed* placed = placed_of(line);
    const double share = placed ? placed->share : config_.fast_share;
    return static_cast<double>(spread >> 11) * 0x1p-53 < share;
}

double Memory::serve(unsigned tier, bool write, double t) {
    (write ? counts_[tier].writes : counts_[tier].reads)++;
    const double begins = servers_[tier].serve(t);
    if (!write)
        counts_[tier].waited += begins - t;
    return begins;
}

void Memory::assign_frames(std::uint64_t first, std::uint64_t end,
                           std::vector<std::uint32_t> frames) {
    for (const std::uint32_t frame : frames)
        if (frame >= pages())
            throw std::invalid_argument("flat memory has no frame " + std::to_string(frame));
    owned_.push_back({first, end, std::move(frames)});
}

std::uint64_t Memory::new_frame(std::uint64_t line) {
    if (owned_.empty()) {
        if (handed_out_ == pages())
            throw std::runtime_error("flat memory has no page left");
        const std::uint64_t next = handed_out_++;
        return order_.empty() ? next : order_[next];
    }
    const std::uint64_t address = line << kLineBits;
    const std::uint64_t of =
        address < kTables ? line : (address - kTables) / 8 << (config_.page_bits - kLineBits);
    const auto owner = std::find_if(owned_.begin(), owned_.end(), [of](const Owned& each) {
        return of >= each.first && of < each.end;
    });
    if (owner == owned_.end() || owner->next == owner->frames.size())
        throw std::runtime_error("flat memory has no page left for its owner");
    return owner->frames[owner->next++];
}

bool Memory::near_has(std::uint64_t line) {
    const std::uint64_t page = line >> (kPageBits - kLineBits);
    const auto [at, fresh] = frames_.try_emplace(page, 0);
    if (fresh)
        at->second = new_frame(line);
    const std::uint64_t place = (at->second << (kPageBits - kLineBits)) | (line & 63);
    const std::uint64_t set = place % config_.near_lines;
    const auto tag = static_cast<std::uint8_t>(place / config_.near_lines);
    if (near_tag_[set] == kUnknown)
        near_tag_[set] = was_last(line) ? tag : kUnknown - 1;
    const bool hit = near_tag_[set] == tag;
    near_tag_[set] = tag;
    (hit ? near_hits_ : near_misses_)++;
    if (Placed* of = hit ? nullptr : placed_of(line))
        of->missed++;
    return hit;
}

bool Memory::was_last(std::uint64_t line) {
    const std::uint64_t address = line << kLineBits;
    const auto past = std::find_if(pasts_.begin(), pasts_.end(),
                                   [&](const Past& each) { return each.has(address); });
    const bool has_past = past != pasts_.end();
    const Placed* placed = placed_of(line);
    const double filled = placed ? placed->filled : config_.filled;
    const double age = has_past ? past->times(address, true, random_).age : random_.share();
    for (std::uint64_t i = 0; i < config_.ratio; i++) {
        // A rival accessed since the start is skipped: this is the first access to the set.
        for (unsigned tries = 0; tries < kTries && random_.happens(filled); tries++) {
            const Past::Times rival = has_past ? past->times(rival_of(*past), false, random_)
                                               : Past::Times{random_.share(), false};
            if (rival.since)
                continue;
            if (rival.age < age)
                return false;
            break;
        }
    }
    return true;
}

std::uint64_t Memory::rival_of(const Past& of) {
    std::uint64_t address = of.anywhere(random_);
    // Dedicated pages are no rivals, so a part with more dedicated pages has fewer rivals.
    for (unsigned tries = 0; tries < kTries && !placed_.empty(); tries++) {
        if (!on_fast(address >> kLineBits))
            break;
        address = of.anywhere(random_);
    }
    return address;
}

bool Memory::tiered(std::uint64_t line) {
    if (!config_.near_lines)
        return false;
    const bool is = !on_fast(line);
    dedicated_ += !is;
    if (Placed* of = placed_of(line))
        of->asked++;
    return is;
}

Cycle Memory::read(std::uint64_t line, Cycle t) {
    const auto now = static_cast<double>(t);
    unsigned tier = 1;
    double begins;
    if (tiered(line)) {
        begins = serve(0, false, now); // near returns the tag, and the line on a hit
        if (near_has(line)) {
            tier = 0;
        } else { // the swap follows the response
            begins = std::max(begins, serve(1, false, begins));
            serve(0, true, begins);
            serve(1, true, begins);
        }
    } else {
        tier = on_fast(line) ? 0 : 1;
        begins = serve(tier, false, now);
    }
    const double arrives = begins + rest_[tier];
    const auto whole = static_cast<Cycle>(arrives);
    return whole + (arrives - static_cast<double>(whole) >= 0.5); // rounds to the nearest
}

void Memory::write(std::uint64_t line, Cycle t) {
    const auto now = static_cast<double>(t);
    if (!tiered(line)) {
        serve(on_fast(line) ? 0 : 1, true, now);
        return;
    }
    serve(0, false, now); // near returns the tag and the victim
    if (!near_has(line))
        serve(1, true, now); // the victim goes to far
    serve(0, true, now);
}

} // namespace core
