// SPDX-License-Identifier: Apache-2.0
// Alternates breadth-first search and PageRank on a Kronecker graph, generated as in Graph500.
//
// scale=17 edgefactor=10 seed=1
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "anemone_capture.h"
#include "arguments.hpp"
#include "random.hpp"

namespace {

using Vertex = std::int64_t;
constexpr Vertex kNone = -1;

struct Graph { // compressed sparse rows: the neighbours of v are to[from[v]] .. to[from[v + 1] - 1]
    std::vector<Vertex> from, to;
    Vertex size() const { return static_cast<Vertex>(from.size()) - 1; }
};

// Graph500's initiator: A, B, C = 0.57, 0.19, 0.19, as thresholds on 32 random bits. Vertices are
// renumbered at random, so that a vertex's address does not depend on its degree.
Graph kronecker(unsigned scale, std::uint64_t edges, std::uint64_t seed) {
    const std::uint64_t a = 57 * (1ull << 32) / 100, ab = 76 * (1ull << 32) / 100,
                        abc = 95 * (1ull << 32) / 100;
    workload::Random random(seed);
    const Vertex n = Vertex{1} << scale;
    std::vector<Vertex> name(n);
    std::iota(name.begin(), name.end(), 0);
    for (Vertex i = n - 1; i > 0; i--)
        std::swap(name[i], name[random.below(i + 1)]);

    std::vector<std::pair<Vertex, Vertex>> list;
    list.reserve(edges);
    while (list.size() < edges) {
        Vertex u = 0, v = 0;
        for (unsigned bit = 0; bit < scale; bit++) {
            const std::uint64_t draw = random.next() >> 32;
            u = u << 1 | (draw >= ab);
            v = v << 1 | ((draw >= a && draw < ab) || draw >= abc);
        }
        if (u != v)
            list.push_back({name[u], name[v]});
    }

    Graph g;
    g.from.assign(n + 1, 0);
    for (const auto& [u, v] : list) {
        g.from[u + 1]++;
        g.from[v + 1]++;
    }
    std::partial_sum(g.from.begin(), g.from.end(), g.from.begin());
    g.to.resize(2 * edges);
    std::vector<Vertex> next(g.from.begin(), g.from.end() - 1);
    for (const auto& [u, v] : list) {
        g.to[next[u]++] = v;
        g.to[next[v]++] = u;
    }
    return g;
}

bool finished() {
    return anemone_capture_progress() >= 1.0;
}

void search(const Graph& g, Vertex root, std::vector<Vertex>& parent, std::vector<Vertex>& queue) {
    std::fill(parent.begin(), parent.end(), kNone);
    queue.clear();
    parent[root] = root;
    queue.push_back(root);
    for (std::size_t head = 0; head < queue.size(); head++) {
        const Vertex u = queue[head];
        for (Vertex e = g.from[u]; e < g.from[u + 1]; e++) {
            const Vertex v = g.to[e];
            if (parent[v] != kNone)
                continue;
            parent[v] = u;
            queue.push_back(v);
        }
    }
}

// One pull step. The scores of vertices without neighbours are spread over all vertices.
void rank(const Graph& g, std::vector<double>& score, std::vector<double>& share) {
    constexpr double kDamping = 0.85;
    const Vertex n = g.size();
    double dangling = 0;
    for (Vertex v = 0; v < n; v++) {
        const Vertex degree = g.from[v + 1] - g.from[v];
        share[v] = degree ? score[v] / static_cast<double>(degree) : 0;
        if (!degree)
            dangling += score[v];
    }
    const double base = (1 - kDamping + kDamping * dangling) / static_cast<double>(n);
    for (Vertex v = 0; v < n; v++) {
        double sum = 0;
        for (Vertex e = g.from[v]; e < g.from[v + 1]; e++)
            sum += share[g.to[e]];
        score[v] = base + kDamping * sum;
    }
}

// Graph500's checks of a search tree: every parent is a neighbour, and every edge joins two reached
// or two unreached vertices.
void validate(const Graph& g, Vertex root, const std::vector<Vertex>& parent) {
    workload::check(parent[root] == root, "bfs: the root is its own parent");
    for (Vertex v = 0; v < g.size(); v++) {
        bool among = parent[v] == kNone || v == root;
        for (Vertex e = g.from[v]; e < g.from[v + 1]; e++) {
            const Vertex u = g.to[e];
            among = among || u == parent[v];
            workload::check((parent[u] == kNone) == (parent[v] == kNone), "bfs: an edge left out");
        }
        workload::check(among, "bfs: a parent that is no neighbour");
    }
}

} // namespace

int main(int argc, char** argv) {
    workload::Arguments args(argc, argv);
    const unsigned scale = static_cast<unsigned>(args.get("scale", 17, 4, 28));
    const std::uint64_t edges = args.get("edgefactor", 10, 1, 256) << scale;
    const std::uint64_t seed = args.get("seed", 1, 0, UINT64_MAX);
    args.end();
    const Graph g = kronecker(scale, edges, seed);
    const Vertex n = g.size();

    std::vector<Vertex> parent(n, kNone), queue;
    queue.reserve(n);
    std::vector<double> score(n, 1.0 / static_cast<double>(n)), share(n, 0.0);
    workload::Random random(seed + 1);
    anemone_capture_warm();
    bool recording = false;
    Vertex root = 0;
    do {
        do
            root = static_cast<Vertex>(random.below(n));
        while (g.from[root] == g.from[root + 1]);
        // The first search fills the cache; the recording starts with the second.
        if (recording) {
            search(g, root, parent, queue);
            if (!finished())
                rank(g, score, share);
        } else {
            search(g, root, parent, queue);
            anemone_capture_record();
            recording = true;
        }
    } while (!finished());

    validate(g, root, parent);
    const double total = std::accumulate(score.begin(), score.end(), 0.0);
    workload::check(std::fabs(total - 1.0) < 1e-6, "pagerank: scores do not add up to 1");
    std::printf("graph: %lld vertices, %zu edges, last search found %zu\n", (long long)n,
                g.to.size() / 2, queue.size());
    return 0;
}
