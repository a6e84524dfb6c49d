"""What the programs have in common on the command line."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from typing import Any


def read_options(description: str | None, epochs: int, **flags: str) -> argparse.Namespace:
    """`--epochs`, `epochs` if not given, and `--quick`; what training logs is shown.

    Args:
        description: The program's docstring, for `--help`.
        flags: Further flags, each with its help.
    """
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--epochs", type=int, default=epochs, help="how long to train (%(default)s)")
    options.add_argument("--quick", action="store_true", help="one step only, to see that it runs")
    for name, text in flags.items():
        options.add_argument(f"--{name}", action="store_true", help=text)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    return options.parse_args()


def program(
    description: str | None, train: Callable[[int, bool], Any], epochs: int, says: str
) -> Callable[[], None]:
    """A program that trains as the command line says.

    Args:
        description: Its docstring, for `--help`.
        train: Called with the number of epochs, and whether one step will do; gives one result or several.
        epochs: As of `read_options`.
        says: What is printed, with places for the results.
    """

    def main() -> None:
        options = read_options(description, epochs)
        found = train(options.epochs, options.quick)
        print(says.format(*found) if isinstance(found, tuple) else says.format(found))

    return main
