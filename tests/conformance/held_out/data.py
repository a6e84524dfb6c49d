"""Data of the programs: what scikit-learn and Python bring along, in one file.

python -m tests.conformance.held_out.data FILE.npz
"""

from __future__ import annotations

import argparse
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn import datasets

CHARACTERS: Final = " abcdefghijklmnopqrstuvwxyz"
DIGITS: Final = 800


def write(path: str | Path) -> None:
    """Write the file."""
    found: dict[str, Any] = {}
    order = np.random.RandomState(5)
    for name in ("iris", "wine", "breast_cancer", "diabetes"):
        bunch = getattr(datasets, f"load_{name}")()
        rows = order.permutation(len(bunch.data))
        values = (bunch.data - bunch.data.mean(0)) / bunch.data.std(0)
        target = bunch.target if name != "diabetes" else (bunch.target - 152.0) / 77.0
        found |= {name: values[rows], f"{name}_target": target[rows]}
    digits = datasets.load_digits()
    rows = order.permutation(len(digits.data))[:DIGITS]
    found |= {"digits": digits.data[rows] / 16.0, "digits_target": digits.target[rows]}
    photograph = datasets.load_sample_image("china.jpg")[100:356:4, 200:456:4].transpose(2, 0, 1)
    found |= {"photograph": photograph / 255.0, "other": _other()}
    found["text"] = [CHARACTERS.index(one) for one in _zen()]
    np.savez(path, **{name: np.asarray(value, np.float32) for name, value in found.items()})


def _other() -> Any:
    return datasets.load_sample_image("flower.jpg")[100:356:4, 200:456:4].transpose(2, 0, 1) / 255.0


def _zen() -> str:
    """The Zen of Python in small letters; the module prints it and keeps it in another alphabet."""
    with redirect_stdout(StringIO()) as printed:
        import_module("this")
    text = printed.getvalue() or _decoded(import_module("this"))
    return " ".join("".join(one if one in CHARACTERS else " " for one in text.lower()).split())


def _decoded(module: Any) -> str:
    return "".join(module.d.get(one, one) for one in module.s)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    write(parser.parse_args().file)
