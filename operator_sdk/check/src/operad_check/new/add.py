"""Operators added to a package that is there already.

A new operator is two files of its own, its module and its test, and lines in pyproject.toml. Nothing that
the author wrote is replaced, so nothing needs to be merged.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from operad_check.new.render import render
from operad_check.new.requests import (
    OperatorRequest,
    ScaffoldError,
    checked_together,
    distribution_name,
    request,
    write_requests,
)

_PROJECT: Final = "pyproject.toml"


def add(destination: str | Path, ops: Iterable[tuple[str, str]]) -> list[Path]:
    """Add operators to the package in `destination`; returns the files that are new or changed.

    Its README and its benchmark are left to the author.

    Args:
        destination: The folder of a package that `operad new` made.
        ops: Pairs of an operator's name and its kind, one of `KINDS`.

    Raises:
        ScaffoldError: There is no such package, an operator or its file is there already, or
            pyproject.toml is written in a way that lines cannot be added to.
    """
    folder = Path(destination)
    requests = checked_together([request(operator, kind) for operator, kind in ops])
    name, text = package_name(folder), _text(folder / _PROJECT)
    new = list(_files(requests, name.replace("-", "_")))
    _check_free(folder, requests, new, tomllib.loads(text)["project"])
    with TemporaryDirectory(prefix="operad-new-") as scratch:
        made = Path(scratch)
        render({"name": name, "ops": write_requests(requests), "author": name}, made)
        project = tomllib.loads(_text(made / _PROJECT))["project"]
        contents = {file: _text(made / file) for file in new}
    contents[_PROJECT] = _extended(text, project)
    for file, content in contents.items():  # only now: until here an error changes nothing
        (folder / file).write_text(content, encoding="utf-8")
    return [folder / file for file in contents]


def package_name(folder: Path) -> str:
    """The name of the distribution in `folder`.

    Raises:
        ScaffoldError: There is none, or its sources are not where `operad new` puts them.
    """
    try:
        name = distribution_name(tomllib.loads(_text(folder / _PROJECT))["project"]["name"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ScaffoldError(f"add to {folder}: found no name of a package in {_PROJECT}: {error}") from error
    for part in (f"src/{name.replace('-', '_')}", "tests"):
        if not (folder / part).is_dir():
            raise ScaffoldError(f"add to {folder}: there is no folder {part}, which `operad new` makes")
    return name


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _files(requests: Iterable[OperatorRequest], package: str) -> Iterator[str]:
    for one in requests:
        yield from (f"src/{package}/{module}.py" for module in one.modules)
        yield f"tests/test_{one.module}.py"


def _check_free(
    folder: Path, requests: Iterable[OperatorRequest], new: Iterable[str], project: dict[str, Any]
) -> None:
    declared = project.get("entry-points", {}).get("operad.operators", {})
    for one in requests:
        if one.name in declared:
            raise ScaffoldError(f"operator {one.name!r} is there already, as {declared[one.name]}")
    for file in new:
        if (folder / file).exists():
            raise ScaffoldError(f"add to {folder}: {file} is there already; name the operator otherwise")


def _extended(text: str, new: dict[str, Any]) -> str:
    """The author's pyproject.toml with the entry points and requirements of a new package."""
    there = {_bare(line) for line in tomllib.loads(text)["project"].get("dependencies", [])}
    missing = [line for line in new["dependencies"] if _bare(line) not in there]
    for line in missing:
        text = text.replace("\ndependencies = [", f'\ndependencies = ["{line}", ', 1)
    for group, points in new["entry-points"].items():
        header = f'[project.entry-points."{group}"]\n'
        if header not in text:
            text = f"{text.rstrip()}\n\n{header}"
        keys = {name if name.isidentifier() else f'"{name}"': value for name, value in points.items()}
        lines = [f'{key} = "{value}"\n' for key, value in keys.items()]
        text = text.replace(header, header + "".join(lines), 1)
    if not _holds(text, new, missing):
        raise ScaffoldError(
            f"{_PROJECT} is not written as `operad new` writes it; add by hand the dependencies {missing} "
            f"and the entry points {new['entry-points']}"
        )
    return text


def _bare(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower()


def _holds(text: str, new: dict[str, Any], missing: Iterable[str]) -> bool:
    """Return whether a text of TOML has the entry points and requirements that were added."""
    try:
        project = tomllib.loads(text)["project"]
    except tomllib.TOMLDecodeError:
        return False
    points = project["entry-points"]
    return set(missing) <= set(project["dependencies"]) and all(
        added.items() <= points[group].items() for group, added in new["entry-points"].items()
    )
