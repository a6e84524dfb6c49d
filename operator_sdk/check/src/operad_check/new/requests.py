"""Requests of an author: a distribution's name, and operators each of some kind."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from operad.errors import OperadError

KINDS: Final = {
    "unary": "one array, element by element",
    "binary": "two arrays of one shape, element by element",
    "broadcast": "two arrays whose axes of length 1 are stretched",
    "reduction": "one array, some axes of which are reduced",
    "row": "a formula of rows, in plain NumPy",
    "property": "a class whose parameters say how many arguments there are, and of what shapes",
    "stateful": "a class with an auxiliary state that training moves",
    "update": "a step of an optimizer, which moves weights and states",
    "random": "a class that draws random numbers in training",
    "loss": "the end of a network, whose gradient is that of a loss",
    "kernel": "a class with a second kernel, chosen by shape",
    "kernel-for": "a kernel, chosen by shape, for an installed operator of another distribution",
    "cpp-port": "a class that a C++ operator of MXNet became",
    "mapper": "a function of one number, compiled, with a derived slope",
    "loop": "what is no formula, such as a scan with branches: a compiled loop",
}
"""The kinds of operators, and what each is for."""

OF_OTHERS: Final = frozenset({"kernel-for"})
"""Kinds whose operator another distribution provides."""

LICENCES: Final = ("Apache-2.0", "MIT", "BSD-3-Clause", "proprietary")

MAX_LENGTH: Final = 40
"""Longest name: with it, no line of what is made is too long for its own linter."""

_WORD_ENDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DISTRIBUTION: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_OWN_TESTS: Final = ("contract", "examples")  # tests/test_contract.py is there already
# The modules made by the template import these; an operator of such a name is spelt with a `_` there.
_IMPORTED: Final = frozenset(
    (
        "annotations", "binary", "candidates", "from_mapper", "gradient", "mapper", "np", "operator",
        "param", "unary", "zip_longest", "Any", "Array", "CompiledLoops", "Contract", "Distribution",
        "InferredShapes", "Iterator", "KernelCall", "LOOPS", "OpContext", "OperatorProperty", "Output",
        "PartialShape", "ResourceRequest", "Scalar", "Sequence", "Shape", "ShapeError",
    )
)  # fmt: skip
_TAKEN: Final = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | _IMPORTED


class ScaffoldError(OperadError, ValueError):
    """A package cannot be made or extended as asked."""


@final
@dataclass(frozen=True, slots=True)
class OperatorRequest:
    """One operator to be made.

    Attributes:
        name: What callers say: `od.nd.<name>`.
        kind: One of `KINDS`.
        module: The file it is declared in, without `.py`.
        symbol: The name of the function or class in that file.
    """

    name: str
    kind: str
    module: str
    symbol: str

    @property
    def modules(self) -> tuple[str, ...]:
        """All files that the operator is in, without `.py`."""
        return (self.module, f"{self.module}_loops") if self.kind == "loop" else (self.module,)


def request(name: str, kind: str) -> OperatorRequest:
    """The operator `name` of that kind, with names for its file and its function or class.

    Raises:
        ScaffoldError: The name is not one that Python can call, or the kind is unknown.
    """
    if kind not in KINDS:
        raise ScaffoldError(f"operator {name!r}: kind is {kind!r}, expected one of {', '.join(KINDS)}")
    plain = name.lstrip("_")
    is_name = plain.isascii() and plain.isidentifier() and not keyword.iskeyword(name)
    if not is_name or name.startswith("__"):  # Python's own, such as __init__
        raise ScaffoldError(
            f"operator {name!r}: expected a Python name, such as smooth_l1 or RowNorm, with no more than "
            "one underscore before it"
        )
    if len(name) > MAX_LENGTH:
        raise ScaffoldError(f"operator {name!r} has {len(name)} characters, expected at most {MAX_LENGTH}")
    module = _WORD_ENDS.sub("_", plain).lower()
    if module in _OWN_TESTS:
        raise ScaffoldError(f"operator {name!r}: tests/test_{module}.py is taken; name it otherwise")
    return OperatorRequest(
        name,
        kind,
        f"{module}_" if keyword.iskeyword(module) else module,
        f"{plain}_" if plain in _TAKEN else plain,
    )


def read_requests(text: str) -> list[OperatorRequest]:
    """The operators of a line such as `smooth_l1:unary FC:property`.

    Raises:
        ScaffoldError: There is none, two would be in one file, or one cannot be made.
    """
    pairs = [word.rpartition(":") for word in text.split()]
    return checked_together(request(name or kind, kind if name else "") for name, _, kind in pairs)


def checked_together(requests: Iterable[OperatorRequest]) -> list[OperatorRequest]:
    """The requests, at least one and each for a file of its own.

    Raises:
        ScaffoldError: Otherwise.
    """
    found = list(requests)
    files: dict[str, OperatorRequest] = {}
    for one in found:
        for module in one.modules:
            other = files.setdefault(module, one)
            if other is not one and other.name == one.name:
                raise ScaffoldError(f"operator {one.name!r} is asked for twice")
            if other is not one:
                raise ScaffoldError(
                    f"operators {other.name!r} and {one.name!r} would both be in {module}.py; rename one"
                )
    if not found:
        raise ScaffoldError("no operator was asked for; expected at least one, such as smooth_l1:unary")
    return found


def write_requests(requests: Iterable[OperatorRequest]) -> str:
    """The line that `read_requests` reads."""
    return " ".join(f"{one.name}:{one.kind}" for one in requests)


def distribution_name(text: str) -> str:
    """The name of a distribution as an index spells it: small letters, digits, single dashes.

    Raises:
        ScaffoldError: It cannot be one, or its package would hide another.
    """
    name = re.sub(r"[-_.]+", "-", text).lower()
    if not _DISTRIBUTION.fullmatch(name) or len(name) > MAX_LENGTH:
        raise ScaffoldError(
            f"name {text!r}: expected at most {MAX_LENGTH} letters, digits and dashes, such as acme-losses"
        )
    package = name.replace("-", "_")
    if package in (
        "operad",
        "operad_sdk",
        "operad_check",
        "numpy",
    ) or package in sys.stdlib_module_names | set(keyword.kwlist):
        raise ScaffoldError(f"name {text!r}: the package {package} would hide another of that name")
    return name


def known_licence(licence: str) -> str:
    """`licence`, which must be one of `LICENCES`.

    Raises:
        ScaffoldError: It is not.
    """
    if licence not in LICENCES:
        raise ScaffoldError(f"licence is {licence!r}, expected one of {', '.join(LICENCES)}")
    return licence


def printable(author: str) -> str:
    """`author`, which must be one line.

    Raises:
        ScaffoldError: It is not.
    """
    if not author.strip() or not author.isprintable():
        raise ScaffoldError(f"author is {author!r}, expected a name on one line")
    return author
