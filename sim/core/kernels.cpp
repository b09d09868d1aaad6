// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

#include "fields.hpp"
#include "random.hpp"

namespace core {

namespace {

struct Settings {
    std::uint64_t bytes = 1 << 28, base = std::uint64_t{1} << 32, work = 1, chains = 1, step = 8;
    std::uint64_t depth = 2, seed = 1, ilp = 1;
    double stores = 0, mispredict = 0, hot = 0;
};

constexpr std::uint64_t kNothing = ~std::uint64_t{0};
constexpr std::uint64_t kLine = std::uint64_t{1} << kLineBits;
constexpr std::uint64_t kHot = 16 << 10; // fits in every L1

// A kernel repeats iteration(). Operations are identified by their numbers.
class Kernel : public Source {
public:
    explicit Kernel(const Settings& s) : s_(s), random_(s.seed) {}
    void more(std::vector<Op>& out) final {
        out_ = &out;
        iteration();
        done_++;
    }
    Past past() const final {
        Past found = parts();
        for (Past::Part& part : found) {
            part.first += s_.base;
            part.done = &done_;
        }
        return found;
    }

protected:
    virtual void iteration() = 0;
    // The access pattern of an iteration, with addresses relative to the base.
    virtual Past parts() const = 0;

    std::uint64_t add(Kind kind, std::uint32_t pc, std::uint64_t address, std::uint8_t latency,
                      std::uint64_t a = kNothing, std::uint64_t b = kNothing) {
        out_->push_back({address, pc, {back(a), back(b)}, kind, latency, 0, 0});
        return n_++;
    }
    std::uint64_t load(std::uint32_t pc, std::uint64_t at, std::uint64_t needs = kNothing) {
        return add(Kind::load, pc, s_.base + at, 0, needs);
    }
    std::uint64_t store(std::uint32_t pc, std::uint64_t at, std::uint64_t data,
                        std::uint64_t needs = kNothing) {
        return add(Kind::store, pc, s_.base + at, 0, data, needs);
    }
    // Adds `s_.work` operations in `s_.ilp` parallel chains that start from the inputs.
    std::uint64_t compute(std::uint64_t needs, std::uint64_t also = kNothing) {
        std::uint64_t last = needs;
        for (std::uint64_t i = 0; i < s_.work; i++) {
            const bool begins = i < s_.ilp;
            last =
                add(Kind::compute, 1, 0, 1, begins ? needs : n_ - s_.ilp, begins ? also : kNothing);
        }
        return last;
    }
    void branch(std::uint64_t needs) {
        const bool wrong = s_.mispredict > 0 && random_.happens(s_.mispredict);
        add(Kind::branch, 2, 0, wrong, needs);
    }
    bool stores() { return s_.stores > 0 && random_.happens(s_.stores); }
    // A random multiple of `unit`; a share of `s_.hot` lies in the first kHot bytes.
    std::uint64_t place(std::uint64_t unit) {
        const bool near = s_.hot > 0 && random_.happens(s_.hot);
        return random_.below((near ? std::min(kHot, s_.bytes) : s_.bytes) / unit) * unit;
    }
    // Returns `at` and advances it by a step, wrapping around at the array's end.
    std::uint64_t walk(std::uint64_t& at) const {
        const std::uint64_t here = at;
        at = at + s_.step < s_.bytes ? at + s_.step : at + s_.step - s_.bytes;
        return here;
    }
    std::uint64_t array(std::uint64_t number) const { return number * (s_.bytes + (1 << 21)); }
    // The access patterns of walk() from the start of an array, and of `lines` calls of place().
    Past::Part walked(std::uint64_t number) const {
        return {array(number), s_.bytes, Past::Order::walk, static_cast<double>(s_.step)};
    }
    Past placed(double lines) const {
        const std::uint64_t hot = std::min(kHot, s_.bytes);
        return {{0, s_.bytes, Past::Order::any, lines * (1 - s_.hot)},
                {0, hot, Past::Order::any, lines * s_.hot}};
    }

    const Settings s_;
    Random random_;

private:
    std::uint16_t back(std::uint64_t number) const {
        return number == kNothing || n_ - number > 0xFFFF ? 0
                                                          : static_cast<std::uint16_t>(n_ - number);
    }
    std::vector<Op>* out_ = nullptr;
    std::uint64_t n_ = 0;    // operations so far
    std::uint64_t done_ = 0; // iterations
};

// Pointer chases through all lines of the data, in pseudo-random order: a linear congruential
// generator of full period over a power of two of lines.
class Chase : public Kernel {
public:
    explicit Chase(const Settings& s)
        : Kernel(s), lines_(1), at_(s.chains), last_(s.chains, kNothing) {
        while (lines_ * 2 <= s.bytes / kLine)
            lines_ *= 2;
        half_ = std::max(1, static_cast<int>(std::log2(static_cast<double>(lines_))) / 2);
        for (std::uint64_t c = 0; c < s.chains; c++)
            at_[c] = random_.below(lines_);
    }

private:
    Past parts() const override {
        return {{0, lines_ * kLine, Past::Order::circle, static_cast<double>(s_.chains)}};
    }
    void iteration() override {
        for (std::uint64_t c = 0; c < s_.chains; c++) {
            at_[c] = (at_[c] * 0x5851F42D4C957F2Du + 0x14057B7EF767814Fu) & (lines_ - 1);
            // The generator's low bits have short periods, so the number is scattered.
            const std::uint64_t line = scatter(at_[c]);
            last_[c] = load(static_cast<std::uint32_t>(10 + c), line * kLine, last_[c]);
            const std::uint64_t value = compute(last_[c]);
            if (stores())
                store(static_cast<std::uint32_t>(50 + c), line * kLine + 8, value);
        }
        branch(last_[0]);
    }
    std::uint64_t scatter(std::uint64_t i) const { // a bijection on [0, lines_)
        std::uint64_t x = i * 0x9E3779B97F4A7C15u & (lines_ - 1);
        x ^= x >> half_;
        return x * 0xD1B54A32D192ED03u & (lines_ - 1);
    }
    std::uint64_t lines_;
    int half_; // half of the bits of a line number
    std::vector<std::uint64_t> at_, last_;
};

// Reads `chains` arrays from end to end, and stores to another array.
class Stream : public Kernel {
public:
    explicit Stream(const Settings& s) : Kernel(s) {}

private:
    Past parts() const override {
        Past found;
        for (std::uint64_t a = 0; a < s_.chains + (s_.stores > 0); a++)
            found.push_back(walked(a));
        return found;
    }
    void iteration() override {
        const std::uint64_t at = walk(at_);
        std::uint64_t value = kNothing;
        for (std::uint64_t a = 0; a < s_.chains; a++)
            value = compute(load(static_cast<std::uint32_t>(10 + a), array(a) + at), value);
        if (stores())
            store(50, array(s_.chains) + at, value);
        branch(kNothing);
    }
    std::uint64_t at_ = 0;
};

// Stores from end to end.
class Memset : public Kernel {
public:
    explicit Memset(const Settings& s) : Kernel(s) {}

private:
    Past parts() const override { return {walked(0)}; }
    void iteration() override {
        store(50, walk(at_), kNothing);
        compute(kNothing);
        branch(kNothing);
    }
    std::uint64_t at_ = 0;
};

// Stores at random addresses.
class Scatter : public Kernel {
public:
    explicit Scatter(const Settings& s) : Kernel(s) {}

private:
    Past parts() const override { return placed(1); }
    void iteration() override {
        const std::uint64_t index = compute(kNothing);
        store(50, place(8), index, index);
        branch(kNothing);
    }
};

// Reads an index array from end to end, and the value that each index selects; may store it back.
class Gather : public Kernel {
public:
    explicit Gather(const Settings& s) : Kernel(s) {}

private:
    Past parts() const override {
        Past found = placed(1);
        found.push_back(walked(1));
        return found;
    }
    void iteration() override {
        const std::uint64_t index = load(10, array(1) + walk(at_));
        const std::uint64_t at = place(8);
        const std::uint64_t value = compute(load(11, at, index));
        if (stores())
            store(50, at, value, index);
        branch(value);
    }
    std::uint64_t at_ = 0;
};

// Lookups in a table: a key is hashed, then `depth` nodes of its bucket are compared.
class Hash : public Kernel {
public:
    explicit Hash(const Settings& s) : Kernel(s) {}

private:
    Past parts() const override { return placed(static_cast<double>(s_.depth)); }
    void iteration() override {
        std::uint64_t needs = compute(kNothing);
        std::uint64_t at = 0;
        for (std::uint64_t d = 0; d < s_.depth; d++) {
            at = place(kLine);
            needs = load(static_cast<std::uint32_t>(10 + d), at, needs);
            branch(needs);
        }
        const std::uint64_t value = load(30, at + 8, needs);
        if (stores())
            store(50, at + 16, value);
    }
};

// Searches from the root of a tree that is stored level by level: `depth` levels, or as many as
// fit.
class Tree : public Kernel {
public:
    explicit Tree(const Settings& s) : Kernel(s) {}

private:
    Past parts() const override {
        Past found;
        std::uint64_t first = 0, nodes = 1;
        for (std::uint64_t d = 0; d < s_.depth && (first + 1) * kLine <= s_.bytes; d++) {
            const std::uint64_t count = std::min(nodes, s_.bytes / kLine - first);
            const double asked = static_cast<double>(count) / static_cast<double>(nodes);
            found.push_back({first * kLine, count * kLine, Past::Order::any, asked});
            first = first * 2 + 1;
            nodes *= 2;
        }
        return found;
    }
    void iteration() override {
        std::uint64_t needs = kNothing, first = 0, node = 0;
        for (std::uint64_t d = 0; d < s_.depth && (first + node + 1) * kLine <= s_.bytes; d++) {
            needs = compute(load(10, (first + node) * kLine, needs));
            branch(needs);
            first = first * 2 + 1;
            node = node * 2 + (random_.next() & 1);
        }
        if (stores())
            store(50, (first / 2 + node / 2) * kLine + 8, needs);
    }
};

// A stencil: reads three adjacent rows of a grid, and writes a row of another grid.
class Stencil : public Kernel {
public:
    explicit Stencil(const Settings& s) : Kernel(s) {}

private:
    Past parts() const override { return {walked(0), walked(1)}; }
    void iteration() override {
        const std::uint64_t row = std::uint64_t{1} << 14;
        const std::uint64_t at = walk(at_);
        std::uint64_t value = kNothing;
        for (std::uint64_t r = 0; r < 3; r++)
            value =
                compute(load(static_cast<std::uint32_t>(10 + r), (at + r * row) % s_.bytes), value);
        value = compute(load(13, at ? at - 8 : 0), value);
        store(50, array(1) + at, value);
        branch(kNothing);
    }
    std::uint64_t at_ = 0;
};

// A merge pass: reads two runs, and advances the one with the smaller key.
class Sort : public Kernel {
public:
    explicit Sort(const Settings& s) : Kernel(s), at_{0, s.bytes / 2 & ~std::uint64_t{63}} {}

private:
    Past parts() const override {
        Past::Part run = walked(0), other;
        run.pace /= 2; // each run is read every other time on average
        other = run;
        other.from = at_[1];
        return {run, other, walked(1)};
    }
    void iteration() override {
        const unsigned which = random_.next() & 1;
        const std::uint64_t key = load(10 + which, at_[which]);
        const std::uint64_t kept = compute(key);
        branch(kept);
        store(50, array(1) + walk(out_), kept);
        walk(at_[which]);
    }
    std::uint64_t at_[2], out_ = 0;
};

// Alternates between 2000 iterations of stream and of gather.
class Mixed : public Source {
public:
    explicit Mixed(const Settings& s) : stream_(s), gather_(s) {}
    void more(std::vector<Op>& out) override {
        if (left_-- == 0) {
            left_ = 2000;
            gathers_ = !gathers_;
        }
        gathers_ ? gather_.more(out) : stream_.more(out);
    }
    Past past() const override {
        Past found = stream_.past();
        for (const Past::Part& part : gather_.past())
            found.push_back(part);
        return found;
    }

private:
    Stream stream_;
    Gather gather_;
    unsigned left_ = 0;
    bool gathers_ = true;
};

class Trace : public Source {
public:
    Trace(const Op* ops, std::size_t n, bool again) : ops_(ops), n_(n), again_(again) {}
    void more(std::vector<Op>& out) override {
        if (again_ && at_ == n_)
            at_ = 0;
        const std::size_t some = std::min<std::size_t>(n_ - at_, 4096);
        out.insert(out.end(), ops_ + at_, ops_ + at_ + some);
        at_ += some;
    }

private:
    const Op* ops_;
    std::size_t n_, at_ = 0;
    bool again_;
};

template <class K> std::unique_ptr<Source> make(const Settings& s) {
    return std::make_unique<K>(s);
}

} // namespace

std::unique_ptr<Source> make_kernel(const std::string& settings) {
    static const std::map<std::string, std::function<std::unique_ptr<Source>(const Settings&)>>
        all = {{"chase", make<Chase>},   {"stream", make<Stream>},   {"stride", make<Stream>},
               {"memset", make<Memset>}, {"scatter", make<Scatter>}, {"gather", make<Gather>},
               {"hash", make<Hash>},     {"tree", make<Tree>},       {"stencil", make<Stencil>},
               {"sort", make<Sort>},     {"mixed", make<Mixed>}};
    Fields fields(settings);
    const auto at = all.find(fields.word("kernel"));
    if (at == all.end())
        throw std::invalid_argument("there is no such kernel");
    Settings s;
    fields.may("bytes", s.bytes, 4096, 0x1p40);
    fields.may("base", s.base, 0, 0x1p50);
    fields.may("work", s.work, 0, 1000);
    fields.may("ilp", s.ilp, 1, 16);
    fields.may("chains", s.chains, 1, 32);
    fields.may("step", s.step, 8, 4096);
    fields.may("depth", s.depth, 1, 64);
    fields.may("seed", s.seed, 0, 0x1p53);
    fields.may("stores", s.stores, 0, 1);
    fields.may("mispredict", s.mispredict, 0, 1);
    fields.may("hot", s.hot, 0, 1);
    fields.nothing_left();
    return at->second(s);
}

std::unique_ptr<Source> make_trace(const Op* ops, std::size_t n, bool again) {
    return std::make_unique<Trace>(ops, n, again);
}

} // namespace core
