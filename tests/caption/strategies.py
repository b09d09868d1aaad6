# SPDX-License-Identifier: Apache-2.0
"""Random samples and models."""

from __future__ import annotations

from hypothesis import strategies as st

from anemone.caption.algorithm import Sample, Tuning
from anemone.caption.model import Live, Model

_VALUE = st.one_of(st.sampled_from([0.0, 0.1, 1.0, 100.0]), st.floats(0, 1e4))
SAMPLES = st.lists(
    st.builds(Sample, st.tuples(_VALUE, _VALUE, _VALUE), st.sampled_from([0.0, 1.0, 512.0])),
    min_size=1,
    max_size=40,
)
_WEIGHT = st.floats(-10, 10)
TUNINGS = st.builds(Tuning, st.floats(-60, 60), st.floats(0, 30), st.floats(0, 100))
LIVE_SETTINGS = st.builds(Live, st.floats(0, 0.5), st.floats(0.01, 2), st.integers(1, 4))


def models(live_settings: st.SearchStrategy[Live]) -> st.SearchStrategy[Model]:
    beta = st.tuples(_WEIGHT, _WEIGHT, _WEIGHT, _WEIGHT)
    return st.builds(Model, beta, window=st.integers(1, 8), tuning=TUNINGS, live=live_settings)
