"""Write what `operad-onnx` can write and read: its table of providers, and `docs/onnx-operators.md`.

Both are read off the rules of the distributions in this checkout. `--check` changes nothing and fails where
a file is not what would be written.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from operad_onnx.coverage import not_written, read, written
from tools.generated import keep_current, parser_of
from tools.workspace import ROOT

PROVIDERS: Final = Path("plugins/onnx/src/operad_onnx/providers.json")
PAGE: Final = Path("docs/onnx-operators.md")
_INTRODUCTION: Final = """\
<!-- written by `make format`, do not edit -->
# Operators and ONNX

{written} operators can be written as ONNX nodes, {missing} cannot; {read} ONNX operators can be read.
`operad onnx check` prints these tables for what is installed. [ONNX](onnx.md) has the use. "several" stands
for a rule that makes several nodes or operators, or one with other parameters, "steps" for an operator
without a rule, whose function is traced and written step by step.
"""


def providers() -> str:
    """The text of the table of providers: ONNX operators by package."""
    found: dict[str, list[str]] = {}
    for row in read():
        found.setdefault(row.package, []).append(row.onnx)
    return (
        json.dumps({package: " ".join(sorted(names)) for package, names in sorted(found.items())}, indent=1)
        + "\n"
    )


def page() -> str:
    """The text of the page."""
    out, back, missing = written(), read(), not_written()
    return "\n".join(
        [
            _INTRODUCTION.format(written=len(out), missing=len(missing), read=len(back)),
            "## Written\n",
            *_table(
                ("operator", "ONNX", "package"), [(f"`{r.operator}`", _code(r.onnx), r.package) for r in out]
            ),
            "## Read\n",
            *_table(
                ("ONNX", "operator", "package"), [(f"`{r.onnx}`", _code(r.operator), r.package) for r in back]
            ),
            "## Not written\n",
            *_table(("operator", "why"), [(f"`{r.operator}`", r.reason) for r in missing]),
        ]
    )


def _code(word: str) -> str:
    return word if word in ("several", "steps", "numbers") else f"`{word}`"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(each)} |" for each in (head, ["---"] * len(head), *rows)] + [""]


def main() -> int:
    """Write both files, or with `--check` say whether they are current."""
    arguments = parser_of(main.__doc__, "a file", has_root=False).parse_args()
    stale = [
        keep_current(ROOT / path, text, f"{path} is stale; run `make format`", is_check=arguments.check)
        for path, text in ((PROVIDERS, providers()), (PAGE, page()))
    ]
    return max(stale)


if __name__ == "__main__":
    sys.exit(main())
