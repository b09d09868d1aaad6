// SPDX-License-Identifier: Apache-2.0
#include "pages.hpp"

#include <stdexcept>

namespace capture {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): expands a seed into constants.
std::uint64_t next(std::uint64_t& state) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

unsigned bits_for(std::uint64_t n) {
    unsigned bits = 1;
    while ((1ull << bits) < n)
        bits++;
    return bits;
}

} // namespace

Permutation::Permutation(std::uint64_t n, std::uint64_t seed) : n_(n) {
    const unsigned bits = bits_for(n);
    mask_ = (1ull << bits) - 1;
    shift_ = bits / 2 + 1;
    for (int i = 0; i < kRounds; i++) {
        multiply_[i] = next(seed) | 1; // odd, so that it has an inverse
        add_[i] = next(seed);
    }
}

std::uint64_t Permutation::operator()(std::uint64_t x) const {
    do {
        for (int i = 0; i < kRounds; i++) {
            x = (x * multiply_[i] + add_[i]) & mask_;
            x ^= x >> shift_;
        }
    } while (x >= n_);
    return x;
}

PageMap::PageMap(const Config& config)
    : config_(config), scatter_(config.frames(), config.seed),
      shift_(config.pages == Pages::huge ? 21 : 12), frame_count_(config.frames()),
      first_frame_((config.base_gib << 30) >> shift_) {}

std::uint64_t PageMap::first_touch(std::uint64_t page) {
    const std::uint64_t place = frames_.size() * config_.tenants + config_.tenant;
    if (place >= frame_count_)
        throw std::length_error("the device is full: every page is in use");
    const std::uint64_t frame = config_.placement == Placement::scattered ? scatter_(place) : place;
    return frames_[page] = first_frame_ + frame;
}

std::uint64_t PageMap::translate(std::uint64_t virtual_address) {
    const std::uint64_t page = virtual_address >> shift_;
    Recent& recent = recent_[page % kRecent];
    if (recent.page != page) {
        const auto found = frames_.find(page);
        recent.frame = found != frames_.end() ? found->second : first_touch(page);
        recent.page = page;
    }
    return recent.frame << shift_ | (virtual_address & ((1ull << shift_) - 1));
}

} // namespace capture
