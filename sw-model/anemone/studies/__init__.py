# SPDX-License-Identifier: Apache-2.0
"""Studies: the papers' experiments on our simulator, each with a table "paper | here"."""

# name -> (module with a `Study`, one-line description)
STUDIES = {
    "loaded-latency": ("anemone.studies.loaded_latency", "Latency over load of each device."),
    "ranking": ("anemone.studies.ranking", "Policies on captured programs, in both timings."),
    "tuning": ("anemone.studies.tuning", "Policies as published, and at their best setting."),
    "hemem": ("anemone.studies.hemem", "HeMem when the hot set shifts (NEMO, Figures 3 and 4)."),
    "hemem-values": (
        "anemone.studies.hemem_values",
        "HeMem by the size of values (NEMO, Figure 5).",
    ),
    "memtis": (
        "anemone.studies.memtis",
        "MEMTIS splitting by what NEMO or samples tell (NEMO, Figures 6 and 7).",
    ),
    "noisy-neighbour": (
        "anemone.studies.noisy_neighbour",
        "A noisy neighbour, found and throttled (NEMO, Figures 8 and 9).",
    ),
    "sweep": ("anemone.studies.sweep", "How long time multiplexing takes (NEMO, §6.1)."),
    "sketches": (
        "anemone.studies.sketches",
        "Count-min sketches, exact counters and samples (NEMO §6.3).",
    ),
    "camp": ("anemone.studies.camp", "Slowdown from counters on DRAM (CAMP, Tables 1, 6)."),
    "camp-interleave": ("anemone.studies.camp_interleave", "Slowdown by ratio (CAMP §5)."),
    "message-free": (
        "anemone.studies.message_free",
        "MPI halos as loads from CXL memory (message-free CXL §V).",
    ),
    "caption": ("anemone.studies.caption", "Caption against static shares (Demystifying CXL §6)."),
    "memo-devices": (
        "anemone.studies.memo_devices",
        "Four devices by our model and by memo (Demystifying CXL §4).",
    ),
    "flat-slowdown": (
        "anemone.studies.flat_slowdown",
        "CXL alone, tiered, a third dedicated (Memstrata, Figure 5).",
    ),
    "flat-interference": (
        "anemone.studies.flat_interference",
        "Machines that share near lines, or the L3 (Memstrata, Figures 6 and 7).",
    ),
    "memstrata": (
        "anemone.studies.memstrata",
        "Six machines, with Memstrata and with miss counters (Memstrata §6.1).",
    ),
    "memstrata-sensitivity": (
        "anemone.studies.memstrata_sensitivity",
        "The allocator's interval, step and moving average (Memstrata, Figure 16).",
    ),
    "flat-tpp": (
        "anemone.studies.flat_tpp",
        "Flat memory and software tiering like TPP's (Memstrata, Figure 11).",
    ),
    "memstrata-check": (
        "anemone.studies.mix_check",
        "Five mixes of machines simulated in full, and on profiles.",
    ),
    "memstrata-pages": (
        "anemone.studies.memstrata_pages",
        "Which pages are dedicated: random, hotness, misses (Memstrata, Figure 14).",
    ),
    "camp-colocate": ("anemone.studies.camp_colocate", "Who gets the DRAM (CAMP §6.3)."),
}
