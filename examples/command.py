"""What the programs have in common on the command line."""

from __future__ import annotations

import argparse
import logging


def read_options(description: str | None, epochs: int) -> argparse.Namespace:
    """`--epochs`, `epochs` if not given, and `--quick`; what training logs is shown.

    Args:
        description: The program's docstring, for `--help`.
    """
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--epochs", type=int, default=epochs, help="how long to train (%(default)s)")
    options.add_argument("--quick", action="store_true", help="one step only, to see that it runs")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    return options.parse_args()
