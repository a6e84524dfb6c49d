"""Packing images by the workers of a launcher, as a user starts it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import operad as od
from tests.distributed.conftest import LIMIT_S, SCRIPTS

pytestmark = [pytest.mark.timeout(LIMIT_S + 60), pytest.mark.slow]


def operad(*words: object, **env: str) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in (SCRIPTS / "operad", *words)]
    return subprocess.run(
        command, env={**os.environ, **env}, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def test_workers_pack_parts_and_one_that_fails_leaves_nothing_half(
    cluster: dict[str, str], tmp_path: Path
) -> None:
    photos, prefix = tmp_path / "photos", tmp_path / "all"
    photos.mkdir()
    for number in range(10):
        pixels = np.full((8, 12, 3), 25 * number, np.uint8)
        (photos / f"{number}.jpg").write_bytes(od.image.codec.encode(pixels))
    assert operad("im2rec", "--list", prefix, photos).returncode == 0
    assert operad("im2rec", prefix, photos).returncode == 0
    whole = [(tmp_path / name).read_bytes() for name in ("all.rec", "all.idx")]
    lines = (tmp_path / "all.lst").read_text().splitlines()
    last = photos / lines[-1].rpartition("\t")[2]
    content = last.read_bytes()
    last.write_bytes(b"no image")
    launch = ("launch", "-n", 2, "--grace", 20, "-m", "operad", "im2rec", prefix, photos)
    failed = operad(*launch, **cluster)
    assert failed.returncode != 0, failed.stdout
    assert str(last) in failed.stdout + failed.stderr
    assert operad("im2rec", "--join", prefix, photos).returncode != 0
    assert [(tmp_path / name).read_bytes() for name in ("all.rec", "all.idx")] == whole
    last.write_bytes(content)
    assert operad(*launch, **cluster).returncode == 0
    (tmp_path / "all.rec").unlink()
    assert operad("im2rec", "--join", prefix, photos).returncode == 0
    assert [(tmp_path / name).read_bytes() for name in ("all.rec", "all.idx")] == whole
    assert sorted(path.name for path in tmp_path.glob("all*")) == ["all.idx", "all.lst", "all.rec"]
