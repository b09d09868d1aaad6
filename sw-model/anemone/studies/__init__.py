# SPDX-License-Identifier: Apache-2.0
"""Studies: experiments of papers, run on our simulator, each into a table "paper | here"."""

# name -> (module with a `Study`, what it asks)
STUDIES = {
    "loaded-latency": ("anemone.studies.loaded_latency", "Latency over load of each device."),
    "ranking": ("anemone.studies.ranking", "Policies on captured programs, in both timings."),
    "hemem": ("anemone.studies.hemem", "HeMem when the hot set shifts (NEMO, Figures 3 and 4)."),
    "sweep": ("anemone.studies.sweep", "How long time multiplexing takes (NEMO, §6.1)."),
}
