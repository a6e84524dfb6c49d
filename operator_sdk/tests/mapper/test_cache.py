from __future__ import annotations

import os
import subprocess
import sys

import pytest

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
    assert run(tmp_path) == (4.0, 2, 0)
    assert run(tmp_path) == (4.0, 0, 2)


@pytest.mark.more
def test_change_in_an_inlined_mapper_is_seen(tmp_path):
    assert run(tmp_path) == (4.0, 2, 0)
    assert run(tmp_path, inner="x + 2") == (6.0, 1, 1)
    assert run(tmp_path) == (4.0, 0, 2)


@pytest.mark.more
def test_moved_author_file_finds_the_compiled_code(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    assert run(tmp_path / "first", cache=tmp_path / "cache") == (4.0, 2, 0)
    assert run(tmp_path / "second", cache=tmp_path / "cache") == (4.0, 0, 2)


LOOPS = """
import math
from helper import FACTOR, helped
from operad_sdk import loop

double, triple = loop(lambda x: x * 2.0), loop(lambda x: x * 3.0)
sine, cosine = loop(lambda x: math.sin(x)), loop(lambda x: math.cos(x))
scaled = loop(lambda x: x * FACTOR)
through = loop(lambda x: helped(x))


def power(is_square):
    if is_square:
        @loop
        def f(x):
            return x**2.0
    else:
        @loop
        def f(x):
            return x**3.0
    return f


def factorial():
    @loop
    def own(n):
        return 1 if n < 2 else n * own(n - 1)
    return own


def late(given):
    @loop
    def shifted(x):
        return x + behind
    behind = given
    return shifted


print(double(1.0), triple(1.0), sine(0.0), cosine(0.0), power(True)(2.0), power(False)(2.0), factorial()(5),
      late(float(FACTOR))(0.0), scaled(1.0), through(1.0))
"""


@pytest.mark.more
def test_functions_that_differ_in_a_number_a_name_or_what_is_around_them_have_code_of_their_own(tmp_path):
    (tmp_path / "loops.py").write_text(LOOPS)
    environment = {**os.environ, "OPERAD_CACHE_DIR": str(tmp_path / "cache")}
    helper = "from operad_sdk import loop\nFACTOR = {0}\n@loop\ndef helped(x):\n    return x + {0}\n"
    for factor in (5.0, 7.0, 5.0):
        (tmp_path / "helper.py").write_text(helper.format(factor))
        words = [sys.executable, "-B", str(tmp_path / "loops.py")]
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
        expected = [2.0, 3.0, 0.0, 1.0, 4.0, 8.0, 120, factor, factor, 1 + factor]
        assert list(map(float, done.stdout.split())) == expected


def test_a_program_that_was_typed_has_no_obstacle(tmp_path):
    """numba's own cache knows only functions of files."""
    source = "import numpy\nfrom operad_sdk import loop\n@loop\ndef one():\n    return 1\nprint(one())"
    environment = {**os.environ, "OPERAD_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, env=environment
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_unusable_cache_folder_is_no_obstacle(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run(tmp_path, cache=blocked) == (4.0, 2, 0)
