// SPDX-License-Identifier: Apache-2.0
// The verilated MemoryExpander: its pins, and a clock cycle at a time.
//
// A cycle: set inputs, settle(), look at what is ready and what came out, tick().
// Which pins there are depends on the configuration; configuration.h is generated from the
// params.json of the elaboration (anemone.backends.rtl.builder) and lists the channels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "axi.h"
#include "configuration.h"

class VMemoryExpander;

namespace anemone {

constexpr unsigned kPipelines = BUILT_PIPELINES;
constexpr unsigned kChannels = BUILT_CHANNELS;
constexpr unsigned kStates = BUILT_STATES; // words of 64 bits a channel of a pipeline
constexpr unsigned kTable = BUILT_TABLE;   // entries of a pipeline's translation table
constexpr unsigned kLines = kStates / kLineWords;
constexpr unsigned kAddressBits = BUILT_ADDRESS_BITS;
constexpr unsigned kRatio = BUILT_RATIO; // far lines a near line; 0: no flat memory mode

struct ControlPins {
    IData& awaddr;
    CData &awvalid, &awready;
    QData& wdata;
    CData &wstrb, &wvalid, &wready;
    CData &bresp, &bvalid, &bready;
    IData& araddr;
    CData &arvalid, &arready;
    QData& rdata;
    CData &rresp, &rvalid, &rready;
};

// A memory's port. Beside near memory's data go the tags of flat memory mode.
struct MemoryPins {
    AxiPins axi;
    const IData* written = nullptr;
    IData* read = nullptr;
};

class Expander {
public:
    Expander();
    ~Expander();

    // A channel; where hosts share them, by host and of each by channel.
    AxiPins& upstream(unsigned port) { return upstream_[port]; }
    // By channel; near and far, where there are two.
    std::vector<MemoryPins>& memories() { return memories_; }
    ControlPins& control() { return *control_; }

    // Propagates the inputs to the outputs that depend on them within the cycle.
    void settle();
    // Ends the cycle.
    void tick();
    uint64_t cycle() const { return cycle_; }
    // All of it, for who has nothing of its own to do meanwhile. All inputs that ask for something
    // are zero.
    void reset();
    // Or: the first one is that of power-up; the memories are to be reset between the two; then it
    // takes kAfterReset cycles until requests are taken, as the counts by id are zeroed.
    void beginReset();
    void endReset() { setReset(false); }
    static constexpr unsigned kAfterReset = 1u << BUILT_ID_BITS;
    void idle(unsigned cycles);

    // After settle: the vector of the interrupt message that goes out in this cycle; -1: none does.
    int message() const;
    // Interrupt messages taken so far, by vector.
    const std::array<uint64_t, kPipelines + 1>& messages() const { return messages_; }

    // Inside, after settle: a lane writes a state word; the engine's line comes to a channel.
    bool writesState() const { return any(writes_); }
    bool linesCome() const { return any(lines_); }

    // After settle: a telemetry read of a channel has its turn in the channel's order.
    bool takesLine(unsigned channel) const { return *beats_[channel]; }

private:
    void setReset(bool on);
    static bool any(const std::vector<const CData*>& signals);
    std::vector<const CData*> find(const char* name, std::size_t count) const;

    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<VMemoryExpander> top_;
    std::vector<AxiPins> upstream_;
    std::vector<MemoryPins> memories_;
    std::unique_ptr<ControlPins> control_;
    std::array<uint64_t, kPipelines + 1> messages_{};
    std::vector<const CData*> writes_, lines_, beats_;
    uint64_t cycle_ = 0;
    bool poweredUp_ = false; // the first reset, however late, is that of power-up
};

} // namespace anemone
