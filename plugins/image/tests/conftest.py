"""Photographs: the two of scikit-learn, and record files of parts of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od

Pixels = np.ndarray[Any, Any]


@pytest.fixture(scope="session")
def photographs() -> dict[str, bytes]:
    """Files `china.jpg` and `flower.jpg`, of 640x427 pixels."""
    found = find_spec("sklearn")
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent / "datasets" / "images"
    return {name: (folder / name).read_bytes() for name in ("china.jpg", "flower.jpg")}


@pytest.fixture(scope="session")
def part_of(photographs: dict[str, bytes]) -> Callable[[int, int, int], Pixels]:
    """Makes part `number` of a photograph, of some height and width."""
    whole = [od.image.codec.decode(content) for content in photographs.values()]

    def part(number: int, height: int = 48, width: int = 64) -> Pixels:
        pixels = whole[number % 2]
        top, left = 7 * number % (427 - height), 13 * number % (640 - width)
        return np.ascontiguousarray(pixels[top : top + height, left : left + width])

    return part


@pytest.fixture
def records(tmp_path: Path, part_of: Callable[[int], Pixels]) -> Path:
    """Ten photographs of 64x48 pixels with the labels 0 to 9 and an index beside them."""
    path = tmp_path / "photos.rec"
    with od.recordio.MXIndexedRecordIO(tmp_path / "photos.idx", path, "w") as out:
        for number in range(10):
            content = od.image.codec.encode(part_of(number))
            out.write_idx(number, od.recordio.pack(od.recordio.IRHeader(0, number, number, 0), content))
    return path
