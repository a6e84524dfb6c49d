"""The stand-in for CuPy has nothing that CuPy lacks: the comparison, and what it finds in CuPy's wheels."""

from __future__ import annotations

import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from core.tests.devices import names, stand_in
from core.tests.devices.arrays import Array
from core.tests.devices.functions import DRAWS, FUNCTIONS, METHODS
from core.tests.devices.names import differences, parameters_of, used
from tools import cupy_wheels


def with_arguments(parameters: tuple[str, ...]) -> Any:
    """Something whose documentation begins as that of a function in Cython does."""
    listed = ", ".join(f"{word}=None" for word in parameters)
    return SimpleNamespace(__doc__=f"_base.f(self, {listed}) -> _base\nText.", __signature__=0)


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A CuPy that has all that the stand-in and the sources need, by name and argument."""
    made: Any = stand_in.module()
    made.__version__ = "13.6.0"
    made.ElementwiseKernel, made.from_dlpack = object, object
    made.random.Generator = type("Generator", (), {name: with_arguments(row) for name, row in DRAWS.items()})
    made.ndarray = type(
        "ndarray", (), {name: with_arguments(METHODS.get(name, ())) for name in vars(Array) if name[0] != "_"}
    )
    for name, row in FUNCTIONS.items():
        folder, _, own = name.rpartition(".")
        where = made
        for part in filter(None, folder.split(".")):
            where = getattr(where, part)
        monkeypatch.setattr(where, own, with_arguments(row))
    return made  # type: ignore[no-any-return]


def test_nothing_is_found_where_all_is_alike(cupy: ModuleType) -> None:
    assert differences(cupy) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda cupy: delattr(cupy, "tanh"), ["no tanh"]),
        (lambda cupy: delattr(cupy, "ElementwiseKernel"), ["no ElementwiseKernel"]),
        (lambda cupy: delattr(cupy.ndarray, "T"), ["no ndarray.T"]),
        (lambda cupy: delattr(cupy.cuda, "alloc_pinned_memory"), ["no cuda.alloc_pinned_memory"]),
        (lambda cupy: delattr(cupy.random.Generator, "uniform"), ["no Generator.uniform"]),
        (
            lambda cupy: setattr(cupy.ndarray, "argsort", with_arguments(("axis", "kind"))),
            ["ndarray.argsort(axis, kind), not (axis)"],
        ),
        (
            lambda cupy: setattr(cupy.random.Generator, "poisson", with_arguments(("lam",))),
            ["Generator.poisson(lam), not (lam, size)"],
        ),
    ],
)
def test_what_is_missing_or_takes_other_arguments_is_named(
    cupy: ModuleType, change: Any, expected: list[str]
) -> None:
    change(cupy)
    assert differences(cupy) == expected


def test_a_later_version_may_have_more_arguments_behind(cupy: ModuleType) -> None:
    cupy.ndarray.argsort = with_arguments(("axis", "kind"))
    cupy.__version__ = "14.0.0"
    assert differences(cupy) == []
    cupy.ndarray.argsort = with_arguments(("kind", "axis"))
    assert differences(cupy) == ["ndarray.argsort(kind, axis), not (axis)"]


def test_names_that_the_sources_use_are_found() -> None:
    assert {"add.at", "cuda.Stream", "random.Philox4x3210", "asnumpy", "ElementwiseKernel"} <= used()


def test_arguments_are_read_from_a_signature_or_from_documentation() -> None:
    assert parameters_of(names.differences) == ("cupy",)
    assert parameters_of(with_arguments(("a", "out"))) == ("a", "out")
    assert parameters_of(SimpleNamespace(__doc__="A text.")) is None


@pytest.mark.gpu
def test_the_stand_in_offers_what_cupy_does() -> None:
    import cupy

    assert differences(cupy) == []


@pytest.mark.slow
@pytest.mark.parametrize("version", cupy_wheels.WHEELS)
def test_the_stand_in_offers_what_cupys_wheels_do(version: str) -> None:
    if version in cupy_wheels.missing():
        pytest.skip(f"no wheel of CuPy {version} here; make test-cupy fetches it")
    folder = cupy_wheels.FOLDER / version
    program = [sys.executable, "-m", names.__name__]
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(names.ROOT)])}
    done = subprocess.run(program, env=settings, cwd=names.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"CuPy {version}" in done.stdout
