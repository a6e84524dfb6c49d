"""The record on disk: `record.json`, what can be read, and `record.npz`, the arrays and MXNet's files.

Needs NumPy alone, of any version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from tests.conformance.models.model import Array
from tests.conformance.models.summary import Distance, Results, Summary, num_kept

HERE: Final = Path(__file__).parent
TEXT, ARRAYS = HERE / "record.json", HERE / "record.npz"
_KINDS: Final = ("predicted", "trained", "states")


@dataclass(frozen=True)
class Verdict:
    """Results of MXNet with the files that operad wrote.

    Attributes:
        digest: Of the files it was given.
        distance: From what it computes with its own.
    """

    digest: str
    distance: Distance


@dataclass(frozen=True)
class ModelRecord:
    """MXNet's record of one model.

    Attributes:
        arguments: Their shapes, by name, in order; `auxiliary` those of the auxiliary states.
        symbol: The text of its `-symbol.json`.
        params: SHA-256 of its `.params`.
        results: Its results.
        verdict: On operad's files.
    """

    arguments: dict[str, tuple[int, ...]]
    auxiliary: dict[str, tuple[int, ...]]
    symbol: str
    params: str
    results: Results
    verdict: Verdict


def load() -> dict[str, ModelRecord]:
    """The record by the model's name; empty where nothing is recorded yet."""
    if not TEXT.exists():
        return {}
    told = json.loads(TEXT.read_text(encoding="utf-8"))
    with np.load(ARRAYS) as arrays:
        return {name: _read(name, one, arrays) for name, one in told.items()}


def save(record: Mapping[str, ModelRecord]) -> None:
    """Write both files."""
    arrays: dict[str, Any] = {}
    told = {name: _told(name, one, arrays) for name, one in record.items()}
    rows = []
    for name, entry in told.items():
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in entry.items())
        rows.append(f"{json.dumps(name)}: {{\n{lines}\n}}")
    TEXT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    np.savez_compressed(ARRAYS, **arrays)


def _told(name: str, one: ModelRecord, arrays: dict[str, Any]) -> dict[str, Any]:
    arrays[f"{name}/symbol"] = np.frombuffer(one.symbol.encode(), np.uint8)
    found: dict[str, Any] = {"arguments": one.arguments, "auxiliary": one.auxiliary, "params": one.params}
    for kind in _KINDS:
        summaries: dict[str, Summary] = getattr(one.results, kind)
        found[kind] = {key: [value.shape, value.norm] for key, value in summaries.items()}
        arrays[f"{name}/{kind}"] = np.concatenate(
            [
                np.empty(0, np.float32),
                *(value.sample for value in summaries.values()),
            ]
        )
    found["gradients"] = one.results.gradients
    found["verdict"] = asdict(one.verdict)
    return found


def _read(name: str, told: Mapping[str, Any], arrays: Mapping[str, Array]) -> ModelRecord:
    kinds = {kind: _summaries(told[kind], arrays[f"{name}/{kind}"]) for kind in _KINDS}
    verdict = told["verdict"]
    return ModelRecord(
        {key: tuple(shape) for key, shape in told["arguments"].items()},
        {key: tuple(shape) for key, shape in told["auxiliary"].items()},
        arrays[f"{name}/symbol"].tobytes().decode(),
        told["params"],
        Results(gradients=told["gradients"], **kinds),
        Verdict(verdict["digest"], Distance(**verdict["distance"])),
    )


def _summaries(told: Mapping[str, Any], run: Array) -> dict[str, Summary]:
    found, at = {}, 0
    for key, (shape, norm) in told.items():
        count = num_kept(int(np.prod(shape)))
        found[key] = Summary(tuple(shape), norm, run[at : at + count])
        at += count
    return found
