// SPDX-License-Identifier: Apache-2.0
// Synthetic programs: each generates an endless stream of operations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "op.hpp"
#include "past.hpp"

namespace core {

class Source {
public:
    virtual ~Source() = default;
    // Appends some operations. Appends none at the program's end.
    virtual void more(std::vector<Op>& out) = 0;
    // The accesses before the first operation, as if the program had run for ever; empty: unknown.
    virtual Past past() const { return {}; }
};

// Makes a kernel from settings (fields.hpp): kernel=NAME and, each with a default:
//   bytes     size of the data (of each array)
//   base      address of the data
//   work      compute operations on a loaded value
//   ilp       parallel chains of these operations
//   chains    chains followed at once (chase), arrays (stream)
//   step      bytes from one access to the next (stream, stride, memset)
//   stores    share of the accesses that also store
//   hot       share of the random accesses within 16 KiB of the data (gather, hash, scatter)
//   mispredict  share of mispredicted branches
//   depth     dependent loads of a lookup (hash, tree)
//   seed
// Throws std::invalid_argument.
std::unique_ptr<Source> make_kernel(const std::string& settings);

// Replays operations without copying them. again: repeats them for ever.
std::unique_ptr<Source> make_trace(const Op* ops, std::size_t n, bool again);

} // namespace core
