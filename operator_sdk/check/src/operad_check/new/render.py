"""The template that this SDK carries (`templates`, for Copier), and filling it in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import copier

from operad_check.new.others import described
from operad_check.new.requests import read_requests

TEMPLATES: Final = Path(__file__).parent / "templates"


def render(answers: Mapping[str, Any], destination: Path, *, ask: bool = False) -> None:
    """Fill in the template into `destination`.

    Args:
        ask: Ask on the terminal for what `answers` lacks, instead of taking its default.

    Raises:
        ScaffoldError: A kernel is asked for an operator that is not installed, or that it cannot compute.
    """
    described(read_requests(answers["ops"]) if "ops" in answers else [])
    copier.run_copy(
        str(TEMPLATES),
        destination,
        data=dict(answers),
        defaults=not ask,
        overwrite=True,
        quiet=True,
        unsafe=True,  # the template is part of this package, and so is the extension that it loads
    )
