// SPDX-License-Identifier: Apache-2.0
// Programs that are generated: an endless stream of operations each.
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
    // Appends some operations; none: the program has ended.
    virtual void more(std::vector<Op>& out) = 0;
    // What it did before its first operation, had it run for ever; nothing: that is not known.
    virtual Past past() const { return {}; }
};

// By settings as text (fields.hpp): kernel=NAME and, each with a default:
//   bytes     of its data (of each of its arrays)
//   base      where they begin
//   work      computing operations on what was loaded
//   ilp       chains that they are in, side by side
//   chains    chains that are followed at once (chase), parts of an array (stream)
//   step      bytes from one access to the next (stream, stride, memset)
//   stores    share of the accesses that also store
//   hot       share of the places without a pattern that are in 16 KiB of the data (gather, hash,
//             scatter)
//   mispredict  share of the branches that are mispredicted
//   depth     loads of a lookup, each of which waits for the one before (hash, tree)
//   seed
// Throws std::invalid_argument.
std::unique_ptr<Source> make_kernel(const std::string& settings);

// Operations that are there already; they are not copied. again: from the first one on, for ever.
std::unique_ptr<Source> make_trace(const Op* ops, std::size_t n, bool again);

} // namespace core
