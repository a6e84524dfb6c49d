"""Record what MXNet 1.9.1 makes of the facts in `recorded/behaviour/`; see docs/conformance.md.

    python tests/conformance/record_behaviour.py [--only SUBJECT ...]

runs under the Python of an environment that has MXNet 1.9.1. Each fact runs in a process of its own, since
some end it; what does is no fact.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["MXNET_ENGINE_TYPE"] = "NaiveEngine"  # no threads, so that a process can be forked
os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"  # no fused nodes, some of which compute other numbers

import mxnet as mx

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conformance.recorded import behaviour


def main() -> None:
    """Record every fact, or those of some subjects, and keep the rest of the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", help="leave the other subjects as they are")
    only = parser.parse_args().only
    before = behaviour.record() if behaviour.RECORD.exists() else {}
    found = {
        fact: [before[fact]] if only and fact.partition(".")[0] not in only else in_a_child(fact, text)
        for fact, text in behaviour.facts().items()
    }
    if crashed := [fact for fact, value in found.items() if value is None]:
        raise SystemExit(f"not recorded, for these end their process under MXNet: {', '.join(crashed)}")
    lines = (f"{json.dumps(fact)}: {json.dumps(value[0])}" for fact, value in found.items() if value)
    behaviour.RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def in_a_child(fact: str, text: str, outcome: Callable[..., Any] = behaviour.outcome) -> Any:
    """The outcome in a list, from a process of its own; None if that process ended early."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writer, "w") as pipe:
            pipe.write(json.dumps([outcome(fact, text, mx)]))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


if __name__ == "__main__":
    main()
