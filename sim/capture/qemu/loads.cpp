// SPDX-License-Identifier: Apache-2.0
#include "loads.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "output.hpp"

namespace capture {
namespace {

constexpr std::size_t kHeaderBytes = 4096, kSamples = 4096;

// The ranks of a host share its L3 and its memory bandwidth equally.
core::Config share_of(const LoadSettings& settings) {
    core::Config config = core::Config::parse(settings.core);
    const std::uint64_t share = config.l3_kib / settings.ranks_on_host;
    config.l3_kib = std::max(share - share % config.l3_ways, config.l3_ways);
    config.fast_gb_per_s /= static_cast<double>(settings.ranks_on_host);
    return config;
}

} // namespace

Rank::Rank(const LoadSettings& settings)
    : period(settings.period), config(share_of(settings)), shared(config),
      folder_(settings.folder) {}

void Rank::begin(std::uint64_t rank) {
    char name[32];
    std::snprintf(name, sizeof name, "/%06llu.loads", static_cast<unsigned long long>(rank));
    header_ = static_cast<LoadsHeader*>(map_file(folder_ + name, kHeaderBytes));
    file_ = open((folder_ + name).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file_ < 0)
        throw std::runtime_error("cannot write the file " + folder_ + name);
    std::memcpy(header_->magic, "ANELDS1\n", sizeof header_->magic);
    header_->rank = rank;
    header_->period = period;
    header_->ghz = config.ghz;
}

void Rank::sample(const LoadSample& sample) {
    samples_.push_back(sample);
    if (samples_.size() == kSamples)
        flush();
}

void Rank::flush() {
    const std::size_t bytes = samples_.size() * sizeof(LoadSample);
    if (bytes != 0 && write(file_, samples_.data(), bytes) == static_cast<ssize_t>(bytes))
        header_->samples += samples_.size();
    samples_.clear();
}

Sampler::Sampler(Rank& rank, std::uint64_t seed)
    : rank_(rank), core_(rank.config, rank.shared, 0), random_(seed * 0x9E3779B97F4A7C15u + 1),
      left_(draw()) {}

// Random, from half a period to one and a half, so that no loop runs in step with the samples.
std::uint64_t Sampler::draw() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    const std::uint64_t period = rank_.period;
    return period - period / 2 + random_ % (period / 2 * 2 + 1);
}

void Sampler::access(std::uint64_t address, std::uint64_t bytes, bool store) {
    if (!pending_)
        return;
    touched_.push_back({address, store});
    if (!store)
        bytes_ += bytes;
}

void Sampler::execute(const Instruction& insn) {
    if (pending_)
        commit(insn.pc);
    pending_ = done_ ? nullptr : &insn;
}

void Sampler::commit(std::uint64_t next_pc) {
    const Instruction& insn = *pending_;
    pending_ = nullptr;
    ops_.resize(touched_.size() + 1);
    const bool went = next_pc != insn.pc + insn.bytes;
    const core::Op* const end =
        translator_.add({insn.pc, insn.address, insn.reads, insn.writes, insn.branch, went},
                        touched_.data(), touched_.size(), ops_.data());
    touched_.clear();
    const std::lock_guard hold(rank_.lock);
    const bool counts = depth_ == 0;
    const auto& memory = rank_.shared.memory.counts(0);
    const std::uint64_t lines = memory.reads;
    for (const core::Op* op = ops_.data(); op != end; op++) {
        core_.execute(*op);
        if (op->kind != core::Kind::load || !counts || --left_ != 0)
            continue;
        left_ = draw();
        const auto& loaded = core_.loaded();
        const double ns = static_cast<double>(loaded.cycles) / rank_.config.ghz;
        if (const std::uint64_t received = rank_.received; received != 0)
            rank_.sample({received, op->address, static_cast<float>(ns),
                          static_cast<std::uint32_t>(loaded.origin)});
    }
    if (counts) {
        auto& header = rank_.header();
        header.instructions++;
        header.load_bytes += bytes_;
        header.lines_read += memory.reads - lines;
        cycles_ += core_.now() - now_;
        header.cycles = std::max<std::uint64_t>(header.cycles, cycles_);
    }
    now_ = core_.now();
    bytes_ = 0;
}

void Sampler::count() {
    const core::Requests& now = core_.requests();
    const std::lock_guard hold(rank_.lock);
    auto& header = rank_.header();
    header.loads += now.loads - base_.loads;
    header.l1_miss += now.l1_miss - base_.l1_miss;
    header.l3_miss += now.l3_miss - base_.l3_miss;
    base_ = now;
}

void Sampler::enter() {
    if (depth_++ == 0)
        count();
}

void Sampler::leave(std::uint64_t received) {
    std::uint64_t before = rank_.received;
    if (received > before) {
        const std::lock_guard hold(rank_.lock);
        auto& header = rank_.header();
        if (before == 0)
            header.cycles_first = cycles_;
        header.cycles_last = std::max(header.cycles_last, cycles_);
    }
    while (before < received && !rank_.received.compare_exchange_weak(before, received))
        ;
    if (depth_ > 0 && --depth_ == 0)
        base_ = core_.requests();
}

void Sampler::finish() {
    if (done_)
        return;
    if (depth_ == 0)
        count();
    done_ = true;
    const std::lock_guard hold(rank_.lock);
    rank_.flush();
}

} // namespace capture
