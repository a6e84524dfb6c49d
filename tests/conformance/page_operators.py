"""Operators that a page declares, tried as its reader tries them.

`python -m tests.conformance.page_operators PAGE [NAME ...]`, in a folder of its own, executes the page's
Python. Each operator that it leaves behind, but for the NAMEs, is registered by one line, called on arrays,
and checked on a few cases. It prints the names of the operators and then what is wrong, with exit status 1.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import operad as od
from operad.operator import OperatorProperty
from operad_sdk.check import Profile
from operad_sdk.check.cases.kinds import ORDINARY
from operad_sdk.check.running.session import Session
from operad_sdk.check.trials.subject import subject_of
from tests.conformance.few_checks import red
from tests.conformance.run_page import Page, read_blocks
from tests.devices.operators import computed


def declared(page: Path) -> dict[str, type[OperatorProperty]]:
    """Operators by name, as the page's Python leaves them; commands are not run."""
    run = Page(page.name)
    for block in read_blocks(page.read_text(encoding="utf-8")):
        if "title" in block.options or (block.language == "python" and "mxnet" not in block.options):
            run.run(block)
    found = [value for value in run.namespace.values() if _is_of_the_page(value)]
    return {cls.name: cls for cls in found}


def _is_of_the_page(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, OperatorProperty) and value.__module__ == "__main__"


def wrong(cls: type[OperatorProperty]) -> Iterator[str]:
    """Faults of an operator that is registered, called and checked."""
    od.registry.register(cls, override=True)  # a page may have registered it
    case = next(iter(Session(subject_of(cls), Profile("page", examples=1, seconds=10.0)).pool(ORDINARY)))
    computed(cls.name, case, od.cpu())
    yield from red(cls)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    operators = declared(Path(sys.argv[1]))
    sys.stdout.write(f"{' '.join(operators)}\n")
    tried = [cls for name, cls in operators.items() if name not in sys.argv[2:]]
    messages = [f"{cls.name}: {text}" for cls in tried for text in wrong(cls)]
    sys.stdout.write("\n".join(messages))
    sys.exit(bool(messages))
