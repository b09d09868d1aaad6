# SPDX-License-Identifier: Apache-2.0
"""Run by the Python that has scikit-learn and onnxruntime: forests are trained, and asked as ONNX.

JSON objects on standard input, one a line: {"trees", "seed", "train": [{"out", "rows", "outlier"}],
"ask": [{"model", "rows"}]}; on standard output a line with a list for each to ask: the share of the
trees that take a row for an outlier. What is trained is there when it is asked.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np


def train(out: str, rows: list, outlier: list, trees: int, seed: int) -> None:
    from skl2onnx import to_onnx
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_estimators=trees, random_state=seed)
    given = np.array(rows, np.float32)
    forest.fit(given, np.array(outlier, np.int64))
    model = to_onnx(forest, given[:1], options={"zipmap": False})
    Path(out).write_bytes(model.SerializeToString())


def ask(model: str, rows: list) -> list[float]:
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    _, shares = session.run(None, {name: np.array(rows, np.float32)})
    return shares[:, 1].tolist()


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        for each in asked["train"]:
            train(**each, trees=asked["trees"], seed=asked["seed"])
        print(json.dumps([ask(**each) for each in asked["ask"]]), flush=True)


if __name__ == "__main__":
    main()
