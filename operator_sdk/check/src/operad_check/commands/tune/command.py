"""The command `operad tune`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import click

from operad.cli.listing import Listing
from operad.cli.options import complete_operators, param_option, shape_option
from operad.cli.page import Page
from operad.errors import OperadError
from operad.files import cache
from operad.operator import (
    CONSTANTS,
    DEFAULTS,
    Correction,
    Rates,
    Shape,
    forget_rates,
    machine,
    parse_rates,
    tuned_path,
)
from operad_check.commands.tune.constants import constants
from operad_check.commands.tune.kernels import corrections


@final
@dataclass(frozen=True, slots=True)
class Constant:
    """One constant of the estimates.

    Attributes:
        name: Of the constant.
        measured: What it is here.
        default: What operad takes where nothing was measured; null of a kernel.
        unit: Of both.
    """

    name: str
    measured: float
    default: float | None
    unit: str


@final
@dataclass(frozen=True, slots=True)
class Tuning:
    """Result of `operad tune`.

    Attributes:
        machine: The kind of processor for which it holds.
        path: The file that binding will read.
        constants: What was measured, or measured before and kept.
    """

    machine: str
    path: str
    constants: list[Constant]

    def show(self, page: Page) -> None:
        """The constants beside the defaults."""
        page.pairs([("machine", self.machine), ("written to", self.path)])
        page.heading("Constants")
        page.table(
            ("constant", "measured", "default", "unit"),
            [
                (c.name, f"{c.measured:.3g}", "" if c.default is None else f"{c.default:.3g}", c.unit)
                for c in self.constants
            ],
        )


@click.command(cls=Listing, result=Tuning)
@click.argument("operators", metavar="[OP]...", nargs=-1, shell_complete=complete_operators)
@shape_option
@param_option
def tune(operators: tuple[str, ...], shapes: list[Shape], params: dict[str, str]) -> Tuning:
    """Measure the constants of operad's cost estimates, on an otherwise idle machine.

    With names of operators their kernels are measured too, on larger and larger arrays of made-up shapes, or
    of those given with one name. What was measured of other operators before is kept. Binding reads the file
    and never measures, so a program takes the same kernels on every run until the file changes; `operad
    doctor` shows its hash.
    """
    if (shapes or params) and len(operators) != 1:
        raise click.UsageError(f"--shape and --param go with one operator, got {len(operators)}")
    return Tuning(
        machine(), str(tuned_path()), _listed(tuned([(name, params, shapes) for name in operators]))
    )


def tuned(operators: Sequence[tuple[str, Mapping[str, Any], Sequence[Shape]]] = ()) -> Rates:
    """Measure the constants, and the kernels of some operators, and write the file.

    Args:
        operators: Names, each with parameters and shapes of leading arguments; what is not given is made up.
    """
    before = cache.load(tuned_path())
    kernels = {} if before is None else dict(parse_rates(before).kernels)
    rates, functions = constants()
    write(Rates(**rates, functions=functions, kernels=kernels))  # corrections speak of estimates by these
    for name, params, shapes in operators:
        kernels |= corrections(name, params, shapes)
    found = Rates(**rates, functions=functions, kernels=kernels)
    write(found)
    return found


def write(found: Rates) -> None:
    """Write the constants where binding reads them, from now on in this process too."""
    content = [*found[: len(CONSTANTS)], dict(found.functions), dict(sorted(found.kernels.items()))]
    try:
        cache.write(tuned_path(), (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())
    except OSError as error:
        raise OperadError(
            f"tune: {str(tuned_path())!r} cannot be written ({error}); set OPERAD_CACHE_DIR to another folder"
        ) from error
    forget_rates()


def _listed(found: Rates) -> list[Constant]:
    return [
        Constant("loop_us", found.loop_us, DEFAULTS.loop_us, "us per operation of a loop"),
        Constant("flop_us", found.flop_us, DEFAULTS.flop_us, "us per operation of a product"),
        Constant("byte_us", found.byte_us, DEFAULTS.byte_us, "us per byte in caches"),
        Constant("memory_us", found.memory_us, DEFAULTS.memory_us, "us per byte beyond"),
        *(
            Constant(name, cost, DEFAULTS.functions.get(name), "operations of a loop per element")
            for name, cost in found.functions.items()
        ),
        *(one for name, correction in found.kernels.items() for one in _of_kernel(name, correction)),
    ]


def _of_kernel(name: str, correction: Correction) -> list[Constant]:
    return [
        Constant(f"{name}, any call", correction.base_us, None, "us"),
        Constant(f"{name}, the rest", correction.factor, None, "times the estimate"),
    ]
