"""Print how models fare between MXNet and operad, or write the table into docs/interop.md.

python -m tests.conformance.models [--update]
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Final

from tests.conformance.models import record
from tests.conformance.models.catalogue import MODELS
from tests.conformance.models.comparison import from_mxnets_files
from tests.conformance.models.record import ModelRecord
from tests.conformance.models.summary import Distance

PAGE: Final = Path(__file__).parents[3] / "docs" / "interop.md"
BEGIN: Final = "<!-- models: written by `python -m tests.conformance.models --update`, do not edit -->"
END: Final = "<!-- models: end -->"
_FIGURES: Final = ("outputs", "gradients", "states")
_HEAD: Final = (
    f"| model | operators | parameters | MXNet's files here: {' | '.join(_FIGURES)} "
    f"| ours there: {' | '.join(_FIGURES)} |\n|---|{'--:|' * 8}"
)


def main() -> None:
    """Compute every model from MXNet's files, and print or write the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.models", description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the table into docs/interop.md")
    options = parser.parse_args()
    told = record.load()
    rows = [row(name, told[name], from_mxnets_files(MODELS[name], told[name])) for name in MODELS]
    table = "\n".join([_HEAD, *rows])
    if not options.update:
        print(table)
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def row(name: str, told: ModelRecord, here: Distance) -> str:
    """A model's row."""
    nodes = [node["op"] for node in json.loads(told.symbol)["nodes"] if node["op"] != "null"]
    shapes = [
        shape for key, shape in {**told.arguments, **told.auxiliary}.items() if key not in MODELS[name].inputs
    ]
    figures = [_figures(distance, bool(told.auxiliary)) for distance in (here, told.verdict.distance)]
    return f"| `{name}` | {len(nodes)} | {sum(map(math.prod, shapes)):,} | {' | '.join(figures)} |"


def _figures(distance: Distance, has_states: bool) -> str:
    states = f"{distance.states:.1g}" if has_states else "none"
    return f"{distance.outputs:.1g} | {distance.gradients:.1g} | {states}"


if __name__ == "__main__":
    main()
