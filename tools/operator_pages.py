"""Write `docs/operators/`: the reference of every operator, a page for each plugin.

It is read off the installed operators: their docstrings, parameters, tensors and gradients. What a table or
a picture says better stands in a plugin's `reference.md`, which begins its page; behind it stands what the
README says of gradients of gradients. `--check` changes nothing and fails where the pages are not what would
be written.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from operad import registry
from operad.cli.describe import Description, description
from tools import second_order
from tools.generated import parser_of
from tools.workspace import Distribution, distributions

FOLDER: Final = "docs/operators"
_MARK: Final = "<!-- written by `make format`, do not edit -->\n"
_SECTION: Final = re.compile(r"^(Shapes|Example|Source|Args|Raises|Returns):", re.MULTILINE)


def pages(root: Path) -> dict[str, str]:
    """The text of every page, by its file's name."""
    own = [d for d in distributions(root) if _described(d)]
    made = {f"{_short(d)}.md": "\n".join(_page(d)) + "\n" for d in own}
    made["index.md"] = "\n".join(_index(own)) + "\n"
    return made


def _short(distribution: Distribution) -> str:
    return distribution.name.removeprefix("operad-")


def _described(distribution: Distribution) -> set[str]:
    """The main names of its operators; less those that a program makes with what it has."""
    found = [registry.get(name) for name in distribution.entry_points("operad.operators")]
    return {op.name for op in found if not (op.takes_more_params or op.num_subgraphs)}


def _operators(distribution: Distribution) -> list[Description]:
    """The operators, by their main names; those that are typed come first."""
    names = _described(distribution)
    return [description(name, {}) for name in sorted(names, key=lambda n: (n.startswith("_"), n.lower()))]


def _index(own: list[Distribution]) -> Iterator[str]:
    yield _MARK
    yield "# Operators\n"
    yield "Every operator is a function of `od.nd` and of `od.sym`. One page per plugin.\n"
    yield "| page | operators |"
    yield "|---|---|"
    for distribution in own:
        short = _short(distribution)
        links = " ".join(
            f"[`{each.name}`]({short}.md#{_anchor(each.name)})" for each in _operators(distribution)
        )
        yield f"| [{short}]({short}.md) | {links} |"


def _anchor(heading: str) -> str:
    """Anchor of a heading, as the usual renderers of Markdown make it."""
    return re.sub(r"[^\w-]", "", heading.lower())


def _page(distribution: Distribution) -> Iterator[str]:
    described = _operators(distribution)
    yield _MARK
    yield f"# {_short(distribution)}\n"
    summary = distribution.declared["project"]["description"]
    yield f"{summary} `pip install {distribution.name}`\n"
    notes = distribution.folder / "reference.md"
    if notes.is_file():
        yield notes.read_text().strip() + "\n"
    readme = distribution.folder / "README.md"
    gradients = second_order.found_line(readme.read_text()) if readme.is_file() else ""
    if gradients:
        yield gradients + "\n"
    for each in described:
        yield from _entry(each)


def _entry(of: Description) -> Iterator[str]:
    doc = inspect.cleandoc(of.doc)
    first = _SECTION.search(doc)
    yield f"## {of.name}\n"
    if of.aliases:
        yield f"Also {', '.join(f'`{name}`' for name in of.aliases)}.\n"
    yield f"{(doc[: first.start()] if first else doc).strip()}\n"
    sections = dict(_sections(doc))
    if "Shapes" in sections:
        yield "| tensor | shape |"
        yield "|---|---|"
        for name, text in _items(sections["Shapes"]):
            yield f"| `{name}` | {_cell(text)} |"
        yield ""
    if of.parameters:
        yield "| parameter | type and range | default | meaning |"
        yield "|---|---|---|---|"
        for p in of.parameters:
            default = (
                f"`{p.default}`" if p.default not in (None, "") else "required" if p.default is None else ""
            )
            yield f"| `{p.name}` | {_cell(p.expects)} | {_cell(default)} | {_cell(p.doc)} |"
        yield ""
    yield from _facts(of)
    if "Example" in sections:
        yield f"```python\n{inspect.cleandoc(sections['Example'])}\n\n```\n"
    if "Source" in sections:
        yield f"Source: {' '.join(sections['Source'].split())}\n"


def _facts(of: Description) -> Iterator[str]:
    """Facts beside the tables: outputs, states, gradients."""
    hidden = of.outputs[of.visible_outputs :]
    if len(of.outputs) > 1:
        told = [f"`{name}`" + (" (hidden)" if name in hidden else "") for name in of.outputs[:_MOST]]
        yield f"Outputs: {', '.join(told)}{', ...' if len(of.outputs) > _MOST else ''}.\n"
    if of.auxiliary_states:
        yield f"Auxiliary states: {', '.join(f'`{name}`' for name in of.auxiliary_states)}.\n"
    with_gradient = [gradient.argument for gradient in of.gradients]
    if of.arguments:
        yield f"Gradients: {_gradients(of.arguments, with_gradient)}.\n"


_MOST: Final = 8


def _gradients(arguments: list[str], with_gradient: list[str]) -> str:
    if not with_gradient:
        return "zeros"
    if set(arguments) == set(with_gradient):
        return "all"
    return "of " + ", ".join(f"`{name}`" for name in with_gradient)


def _sections(doc: str) -> Iterator[tuple[str, str]]:
    found = [*_SECTION.finditer(doc)]
    ends = [match.start() for match in found[1:]] + [len(doc)]
    for match, end in zip(found, ends, strict=True):
        yield match[1], doc[match.end() : end]


def _items(text: str) -> Iterator[tuple[str, str]]:
    """`name: what it is`, of which lines that are indented further are a part."""
    name, said = "", ""
    for line in inspect.cleandoc("\n" + text).splitlines():
        head, colon, rest = line.partition(":")
        if colon and not line.startswith(" "):
            if name:
                yield name, said
            name, said = head, rest.strip()
        else:
            said = f"{said} {line.strip()}".strip()
    if name:
        yield name, said


def _cell(text: str) -> str:
    """Text for a cell of a table."""
    return text.replace("|", r"\|").replace("*", r"\*").replace("\n", " ")


def main() -> int:
    """Write the pages, or with `--check` say which are stale."""
    arguments = parser_of(main.__doc__, "a page").parse_args()
    folder: Path = arguments.root.resolve() / FOLDER
    wanted = pages(arguments.root.resolve())
    there = {path.name: path.read_text() for path in folder.glob("*.md")}
    stale = sorted(name for name in {*wanted, *there} if wanted.get(name) != there.get(name))
    if arguments.check:
        if stale:
            print(f"{FOLDER}: stale: {', '.join(stale)}; run `make format`", file=sys.stderr)
        return bool(stale)
    folder.mkdir(exist_ok=True)
    for name in stale:
        if name in wanted:
            (folder / name).write_text(wanted[name])
        else:
            (folder / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
