// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include "fields.hpp"
#include "op.hpp"
#include "prefetch.hpp"

namespace core {

Config Config::parse(const std::string& text) {
    Config c{};
    Fields fields(text);
    fields.take("ghz", c.ghz, 0.1, 10);
    fields.take("cores", c.cores, 1, 64);
    fields.take("width", c.width, 1, 16);
    fields.take("rob", c.rob, 1, 4096);
    fields.take("scheduler", c.scheduler, 1, 4096);
    fields.take("loads", c.loads, 1, 4096);
    fields.take("stores", c.stores, 1, 4096);
    fields.take("load_ports", c.load_ports, 1, 16);
    fields.take("store_ports", c.store_ports, 1, 16);
    fields.take("ports", c.ports, 1, 32);
    fields.take("mispredict", c.mispredict, 0, 100);
    fields.take("predictor_log2", c.predictor_log2, 1, 24);
    fields.take("forward", c.forward, 0, 100);
    fields.take("l1_kib", c.l1_kib, 1, 1 << 20);
    fields.take("l1_ways", c.l1_ways, 1, 64);
    fields.take("l1_latency", c.l1_latency, 1, 100);
    fields.take("fill_buffers", c.fill_buffers, 1, 200);
    fields.take("l2_kib", c.l2_kib, 1, 1 << 20);
    fields.take("l2_ways", c.l2_ways, 1, 64);
    fields.take("l2_latency", c.l2_latency, 1, 1000);
    fields.take("superqueue", c.superqueue, 1, 200);
    fields.take("superqueue_demand", c.superqueue_demand, 0, 200);
    fields.take("l3_kib", c.l3_kib, 1, 1 << 20);
    fields.take("l3_ways", c.l3_ways, 1, 64);
    fields.take("l3_latency", c.l3_latency, 1, 1000);
    fields.take("l3_split", c.l3_split, 0, 64);
    fields.take("tlb_entries", c.tlb_entries, 1, 1 << 16);
    fields.take("tlb_ways", c.tlb_ways, 1, 64);
    fields.take("stlb_entries", c.stlb_entries, 1, 1 << 20);
    fields.take("stlb_ways", c.stlb_ways, 1, 64);
    fields.take("stlb_latency", c.stlb_latency, 0, 1000);
    fields.take("walkers", c.walkers, 1, 64);
    fields.take("walk", c.walk, 0, 1000);
    fields.take("page_bits", c.page_bits, kPageBits, 30);
    fields.take("stride", c.stride, 0, 1);
    fields.take("next_line", c.next_line, 0, 1);
    fields.take("streamer", c.streamer, 0, 1);
    fields.take("adjacent", c.adjacent, 0, 1);
    fields.take("stride_log2", c.stride_log2, 1, 16);
    fields.take("stride_bytes", c.stride_bytes, 1, 4096);
    fields.take("streams", c.streams, 1, Streamer::kMaxStreams);
    fields.take("streamer_distance", c.streamer_distance, 1, 63);
    fields.take("streamer_degree", c.streamer_degree, 1, 16);
    fields.take("fast_ns", c.fast_ns, 1, 1e5);
    fields.take("fast_gb_per_s", c.fast_gb_per_s, 0.01, 1e5);
    fields.take("slow_ns", c.slow_ns, 1, 1e5);
    fields.take("slow_gb_per_s", c.slow_gb_per_s, 0.01, 1e5);
    fields.take("fast_share", c.fast_share, 0, 1);
    fields.take("near_lines", c.near_lines, 0, 1 << 26);
    fields.take("ratio", c.ratio, 1, 4);
    fields.take("filled", c.filled, 0, 1);
    fields.nothing_left();
    return c;
}

} // namespace core
