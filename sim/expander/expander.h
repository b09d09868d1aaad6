// SPDX-License-Identifier: Apache-2.0
// The verilated MemoryExpander: its pins and its clock.
//
// A cycle: set the inputs, settle(), read the outputs, tick(). A valid that is set later may find a
// stopped clock (docs/expander.md).
// The pins depend on the configuration. anemone.backends.rtl.builder generates configuration.h from
// the elaboration's params.json.
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
constexpr unsigned kStates = BUILT_STATES; // 64-bit words per channel of a pipeline
constexpr unsigned kTable = BUILT_TABLE;   // entries of a pipeline's translation table
constexpr unsigned kLines = kStates / kLineWords;
constexpr unsigned kAddressBits = BUILT_ADDRESS_BITS;
constexpr unsigned kRatio = BUILT_RATIO; // far lines per near line; 0: no flat memory mode

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

// A memory's port. In flat memory mode the near port has a sideband with the tags.
struct MemoryPins {
    AxiPins axi;
    const IData* written = nullptr;
    IData* read = nullptr;
};

class Expander {
public:
    Expander();
    ~Expander();

    // Port = channel, or host * channels + channel when several hosts share the device.
    AxiPins& upstream(unsigned port) { return upstream_[port]; }
    // By channel; in flat memory mode each channel has near, then far.
    std::vector<MemoryPins>& memories() { return memories_; }
    ControlPins& control() { return *control_; }

    // Propagates the inputs to the outputs that depend on them within the cycle.
    void settle();
    // Ends the cycle.
    void tick();
    uint64_t cycle() const { return cycle_; }
    // The whole reset. All valid inputs must be zero.
    void reset();
    // The reset in two steps, for a caller that resets its memories in between. The first reset is
    // the power-on reset. The hardware accepts requests kAfterReset cycles after endReset(),
    // because it clears a counter per id.
    void beginReset();
    void endReset() { setReset(false); }
    static constexpr unsigned kAfterReset = 1u << BUILT_ID_BITS;
    void idle(unsigned cycles);

    // After settle: the vector of this cycle's interrupt message, or -1.
    int message() const;
    // Interrupt messages so far, by vector.
    const std::array<uint64_t, kPipelines + 1>& messages() const { return messages_; }

    // Internal signals, after settle: a lane writes a state word; the engine returns a line.
    bool writesState() const { return any(writes_); }
    bool linesCome() const { return any(lines_); }

    // After settle: a telemetry read takes its place in the channel's order.
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
    bool poweredUp_ = false; // the first reset is the power-on reset, however late it comes
};

} // namespace anemone
