"""Write the table of distributions, each with a link to the page of its operators.

The table stands between two markers in `docs/distributions.md` and is read off the `pyproject.toml` of each
distribution, so it cannot drift from what they install. `--check` changes nothing and fails where the
table is not what would be written.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.generated import keep_current, parser_of
from tools.workspace import Distribution, distributions

BEGIN = "<!-- operators: written by `make format`, do not edit -->"
END = "<!-- operators: end -->"
PAGE = Path("docs/distributions.md")


def table(found: list[Distribution], root: Path) -> str:
    """One row per distribution: its name with a link to its folder, what it is, the page of its operators."""
    lines = ["| distribution | what it holds | its operators |", "|---|---|---|"]
    for distribution in found:
        folder = distribution.folder.relative_to(root).as_posix()
        description = distribution.declared["project"]["description"].rstrip(".")
        page = f"operators/{distribution.name.removeprefix('operad-')}.md"
        operators = f"[page]({page})" if (root / PAGE.parent / page).exists() else ""
        lines.append(f"| [`{distribution.name}`](../{folder}) | {description} | {operators} |")
    return "\n".join(lines)


def with_table(page: str, rows: str) -> str:
    """The text of a page with `rows` between its markers.

    Raises:
        ValueError: The markers are missing, repeated or out of order.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in after or END in before + after:
        raise ValueError(f"{PAGE}: expected one {BEGIN!r} and after it one {END!r}")
    return f"{before}{BEGIN}\n\n{rows}\n\n{END}{after}"


def main() -> int:
    """Write the table, or with `--check` say whether it is current."""
    arguments = parser_of(main.__doc__, "the table").parse_args()
    root = arguments.root.resolve()
    page = root / PAGE
    wanted = with_table(page.read_text(), table(distributions(root), root))
    stale = f"{PAGE}: the table of distributions is stale; run `make format`"
    return keep_current(page, wanted, stale, is_check=arguments.check)


if __name__ == "__main__":
    sys.exit(main())
