"""Tables of functions in a file, one row for each function.

library = "torch"

[functions]
median = ["torch.median(x, -1).values", "x:(N, D) -> y:(N); D >= 1"]

[functions.scan]
function = "my_kernels:scan"
line = "x:(N, D) -> y:(N, D)"
known = { B312 = "its gradient has no gradient yet" }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import msgspec

from operad.errors import ArgumentError
from operad.files import read_bytes
from operad_check.foreign.checking import checks_of
from operad_check.foreign.found import backend_with
from operad_check.foreign.function import function_of, named
from operad_check.foreign.subject import subject_of_function
from operad_check.plan.profile import Profile, profile_of
from operad_check.running.register import CheckFunction
from operad_check.trials.subject import Subject
from operad_sdk import domains
from operad_sdk.contract import Contract, ResultTypes, Tolerance


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One function of a table.

    Attributes:
        function: An expression of the line's arguments; or a module, or a file beside the table, and a name.
        line: Its shape line.
        library: Its library; left out: the table's.
        gradient: Module and name of a gradient that is written by hand, for NumPy.
        keywords: Further arguments of a call.
        without_gradient: Arguments that no gradient is asked for.
        inputs: Domains of arguments, in the words of `operad_sdk`: `positive()`.
        reference: Module and name of a function of NumPy that gives what is right.
        tolerances: By element type.
        result_types: By the element type of the arguments, another one that results have.
        checks: Ids to run; left out: the table's, or all.
        known: Checks that fail, by id, each with the reason.
    """

    function: str
    line: str
    library: str = ""
    gradient: str = ""
    keywords: dict[str, Any] = {}
    without_gradient: list[str] = []
    inputs: dict[str, str] = {}
    reference: str = ""
    tolerances: dict[str, Tolerance] = {}
    result_types: dict[str, str] = {}
    checks: list[str] | None = None
    known: dict[str, str] = {}


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    functions: dict[str, tuple[str, str] | Row]
    library: str = "numpy"
    profile: str | None = None
    checks: list[str] | None = None


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """One function of a table's file, not yet looked up.

    Attributes:
        name: In the table.
        row: What the table says of it.
        profile: How much to try.
        path: The file.
    """

    name: str
    row: Row
    profile: Profile
    path: Path

    def checked(self) -> tuple[Subject, Sequence[CheckFunction]]:
        """The function as a subject, and the checks that the table wants of it.

        Raises:
            ArgumentError: There is no such library, function, domain or check.
            SpecError: The line cannot be read.
        """
        row = self.row
        backend = backend_with(row.library, self._beside(row.gradient))
        checks = {each.id: each for each in checks_of(backend)}
        wanted = list(checks) if row.checks is None else row.checks
        for id in [*wanted, *row.known]:
            if id not in checks:
                raise self._error(f"names check {id!r}; expected one of {', '.join(checks)}")
        for id, reason in row.known.items():
            if not reason.strip():
                raise self._error(f"gives no reason why {id} is known to fail; say what is wrong")
        function = function_of(
            backend,
            self._beside(row.function),
            row.line,
            name=self.name,
            keywords=row.keywords,
            without_gradient=row.without_gradient,
            contract=Contract(
                inputs={name: self._domain(text) for name, text in row.inputs.items()},
                reference=named(self._beside(row.reference)) if row.reference else None,
                tolerances=row.tolerances,
                result_types=[ResultTypes(row.result_types)] if row.result_types else (),
                expected_failures=row.known,
            ),
        )
        for name in [*row.inputs, *row.without_gradient]:
            if name not in function.arguments:
                raise self._error(f"names {name!r}, which is no argument of {row.line!r}")
        return subject_of_function(function), [checks[id] for id in wanted]

    def _beside(self, text: str) -> str:
        """The text, with the name of a file made one beside the table."""
        module, colon, attribute = text.partition(":")
        is_file = bool(colon) and module.endswith(".py") and "(" not in module
        return f"{self.path.parent / module}:{attribute}" if is_file else text

    def _domain(self, text: str) -> domains.Domain:
        try:
            found = eval(text, dict(vars(domains)))  # noqa: S307 - code of the user's, as functions are
        except Exception as error:
            raise self._error(f"has the domain {text!r}, which raises {error}") from error
        if not isinstance(found, domains.Domain):
            raise self._error(f"has the domain {text!r}, expected one of operad_sdk, such as 'positive()'")
        return found

    def _error(self, text: str) -> ArgumentError:
        return ArgumentError(f"{self.path.name}: function {self.name!r} {text}")


def read_table(path: Path) -> list[Entry]:
    """The functions of a table's file.

    Raises:
        ArgumentError: The file is no such table.
    """
    try:
        file = msgspec.toml.decode(read_bytes(path, f"table {path.name!r}"), type=_File)
        profile = profile_of(file.profile)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise ArgumentError(
            f"{path.name}: {error}; expected library = 'torch', and under [functions] rows such as "
            "median = ['torch.median(x, -1).values', 'x:(N, D) -> y:(N)']"
        ) from error
    return [Entry(name, _whole(row, file), profile, path) for name, row in file.functions.items()]


def _whole(row: tuple[str, str] | Row, file: _File) -> Row:
    """The row, with what the table says for all."""
    made = row if isinstance(row, Row) else Row(function=row[0], line=row[1])
    rest: Mapping[str, Any] = {"library": file.library, "checks": file.checks}
    return msgspec.structs.replace(made, **{key: getattr(made, key) or value for key, value in rest.items()})
