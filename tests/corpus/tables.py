"""The tables of the corpus: of which library each is, and what a program needs before its expressions."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

from operad_check.foreign.backend import Backend
from operad_check.foreign.found import backend_named
from operad_check.foreign.function import ForeignFunction, function_of
from operad_sdk.contract import Contract

BACKENDS: Final = {
    "torch": "torch",
    "kornia": "torch",
    "torchvision": "torch",
    "own_torch": "torch",
    "jax": "jax",
    "optax": "jax",
    "flax": "jax",
    "own_jax": "jax",
}
"""Library of arrays by table; the functions of `own_torch` and `own_jax` were written for the corpus."""


def is_installed(name: str) -> bool:
    """Return whether the library of a table is there, and that of its arrays."""
    return all(name.startswith("own") or find_spec(name) is not None for name in (name, BACKENDS[name]))


def table(name: str) -> ModuleType:
    """The module of a table."""
    return import_module(f"tests.corpus.of_{name}")


def function_named(name: str, function: str, backend: Backend | None = None) -> ForeignFunction:
    """One function of a table."""
    module = table(name)
    program: tuple[str, ...] = getattr(module, "PROGRAM", ())
    scope: dict[str, Any] = {}
    for line in program:
        exec(line, scope)  # noqa: S102 - the imports that a table of this folder has
    expression, line, *contract = module.TABLE[function]
    library = backend or backend_named(BACKENDS[name])
    described = {"scope": scope, "program": program, "contract": (contract or [Contract()])[0]}
    return function_of(library, expression, line, name=function, **described)
