"""Frames of this project that an error shows."""

from __future__ import annotations

import traceback

import pytest

from operad.errors import OperadError


def check_frames(call, file):
    """Assert that `call` raises an error of the tree with at most two frames beside those of `file`."""
    with pytest.raises(OperadError) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    ours = [frame for frame in frames if frame.filename not in (file, __file__)]
    assert len(ours) <= 2, ours
