"""The templates that this SDK carries, and filling in one of them.

`templates/<number>` is a Copier template. A template that has been released never changes: a change
is a new folder with the next number. So the SDK always has what an older one started from, which is
what an update needs, without a network and without a repository to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import copier
import yaml  # type: ignore[import-untyped]  # it ships no type information

from operad_sdk.new.others import described
from operad_sdk.new.requests import (
    ScaffoldError,
    distribution_name,
    known_licence,
    printable,
    read_requests,
)

ANSWERS_FILE: Final = ".copier-answers.yml"
TEMPLATES: Final = Path(__file__).parent / "templates"


def newest(templates: Path) -> int:
    """The number of the newest template."""
    return max(int(folder.name) for folder in templates.iterdir())


def render(
    templates: Path, number: int, answers: Mapping[str, Any], destination: Path, *, ask: bool = False
) -> None:
    """Fill in template `number` into `destination`.

    Args:
        ask: Ask on the terminal for what `answers` lacks, instead of taking its default.

    Raises:
        ScaffoldError: A kernel is asked for an operator that is not installed, or that it cannot compute.
    """
    described(read_requests(answers["ops"]) if "ops" in answers else [])
    copier.run_copy(
        str(templates / str(number)),
        destination,
        data=dict(answers),
        defaults=not ask,
        overwrite=True,
        quiet=True,
        unsafe=True,  # the template is part of this package, and so is the extension that it loads
    )


def read_answers(folder: Path) -> tuple[int, dict[str, Any]]:
    """Number of the template that a package was made from, and the answers given for it.

    Raises:
        ScaffoldError: The package was not made by `operad new`, or the file was damaged.
    """
    file = folder / ANSWERS_FILE
    if not file.is_file():
        raise ScaffoldError(f"update {folder}: there is no {ANSWERS_FILE}, which `operad new` writes")
    try:
        answers = yaml.safe_load(file.read_text(encoding="utf-8"))
        number = answers.pop("template")
        for key, check in _CHECKS.items():
            check(answers[key])
        _whole_number(number)
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ScaffoldError) as error:
        what = str(error).splitlines()[0]
        raise ScaffoldError(
            f"update {folder}: {ANSWERS_FILE} is damaged ({what}); restore the file"
        ) from error
    return number, answers


def package_name(folder: Path) -> str:
    """The name of the distribution that `operad new` made in `folder`.

    Raises:
        ScaffoldError: As `read_answers`.
    """
    return str(read_answers(folder)[1]["name"])


def _whole_number(value: object) -> None:
    if not isinstance(value, int):
        raise ScaffoldError(f"{value!r} is no whole number")


# A name becomes a path, and the file may come from anywhere.
_CHECKS: Final[Mapping[str, Callable[[Any], object]]] = {
    "name": distribution_name,
    "ops": read_requests,
    "licence": known_licence,
    "author": printable,
    "year": _whole_number,
}
