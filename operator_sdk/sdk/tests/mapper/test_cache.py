from __future__ import annotations

import os
import subprocess
import sys

import pytest

from operad_sdk.vector.settings import is_checked
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

MODULES = 1 if is_checked() else 2
"""The kernel, and what calls it with arrays, unless kernels check their addresses."""

AUTHOR = """
import sys
import numpy as np
from operad_sdk.mapper import exp, mapper
from operad_sdk.vector import machine

@mapper
def inner(x):
    return {inner}

@mapper
def outer(x):
    return 2 * inner(x)

value = outer.backend("vector").map(np.ones(3, np.float32))[0]
print(value, machine.statistics.compiled, machine.statistics.loaded)
"""


def run(folder, inner="x + 1", cache=None, form=AUTHOR):
    path = folder / "author.py"
    path.write_text(form.format(inner=inner))
    environment = {**os.environ, "OPERAD_CACHE_DIR": str(cache or folder / "cache")}
    result = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=True, env=environment
    )
    value, compiled, loaded = result.stdout.split()
    return float(value), int(compiled), int(loaded)


def test_second_process_compiles_nothing(tmp_path):
    assert run(tmp_path) == (4.0, MODULES, 0)
    assert run(tmp_path) == (4.0, 0, MODULES)


@pytest.mark.more
def test_change_in_an_inlined_mapper_is_seen(tmp_path):
    assert run(tmp_path) == (4.0, MODULES, 0)
    assert run(tmp_path, inner="x + 2") == (6.0, 1, MODULES - 1)
    assert run(tmp_path) == (4.0, 0, MODULES)


@pytest.mark.more
def test_moved_author_file_finds_the_compiled_code(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    assert run(tmp_path / "first", cache=tmp_path / "cache") == (4.0, MODULES, 0)
    assert run(tmp_path / "second", cache=tmp_path / "cache") == (4.0, 0, MODULES)


def test_unusable_cache_folder_is_no_obstacle(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run(tmp_path, cache=blocked) == (4.0, MODULES, 0)
