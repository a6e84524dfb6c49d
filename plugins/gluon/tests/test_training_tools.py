from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from operad.gluon import utils

import operad as od
from operad import nd


def test_a_batch_is_split_over_contexts() -> None:
    places = [od.cpu(0), od.cpu(1)]
    found = utils.split_and_load(np.arange(6).reshape(2, 3), places, batch_axis=1, even_split=False)
    assert [(x.context, x.shape) for x in found] == [(od.cpu(0), (2, 2)), (od.cpu(1), (2, 1))]
    assert utils.split_and_load(nd.ones((3, 1)), [od.cpu(1)])[0].context == od.cpu(1)
    with pytest.raises(
        ValueError, match=r"cannot be evenly split into 2 slices along axis 0. Use a batch size"
    ):
        utils.split_and_load(nd.ones((3, 1)), places)


def test_norms_are_clipped_together() -> None:
    arrays = [nd.full((2, 2), 3), nd.full((1,), 8, ctx=od.cpu(1))]
    assert utils.clip_global_norm(arrays, 5) == 10
    assert [x.asnumpy().ravel()[0] for x in arrays] == [1.5, 4]
    assert utils.clip_global_norm(arrays, 50, check_isfinite=False).asscalar() == 5
    assert arrays[1].asscalar() == 4
    half = [nd.full((1,), 4, dtype="float16")]
    utils.clip_global_norm(half, 2)
    assert half[0].dtype == np.float16
    assert half[0].asscalar() == 2
    with pytest.warns(UserWarning, match="nan or inf is detected"):
        utils.clip_global_norm([nd.array([np.inf])], 1)
    with pytest.raises(AssertionError, match="no array"):
        utils.clip_global_norm([], 1)


def test_files_are_looked_for_and_not_downloaded(tmp_path: Path) -> None:
    address, place = "https://example.org/data/a.bin", tmp_path / "a.bin"
    with pytest.raises(NotImplementedError, match=f"fetch {address} yourself, and put it at {place}"):
        utils.download(address, path=str(place))
    place.write_bytes(b"abc")
    digest = hashlib.sha1(b"abc", usedforsecurity=False).hexdigest()
    assert utils.download(address, path=str(tmp_path), sha1_hash=digest) == str(place)
    assert utils.check_sha1(str(place), digest[:8])
    with pytest.raises(NotImplementedError, match="has not the digest"):
        utils.download(address, path=str(place), sha1_hash="0" * 40)
    with pytest.raises(ValueError, match="names no file"):
        utils.download("https://example.org/")


def test_a_file_takes_the_place_of_another(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(name)
    utils.replace_file(str(tmp_path / "a"), str(tmp_path / "b"))
    assert [one.name for one in tmp_path.iterdir()] == ["b"]
    assert (tmp_path / "b").read_text() == "a"
