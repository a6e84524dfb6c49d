"""The examples of a plugin as pytest tests: those of its README, its modules and its operators.

One line in a test file of the plugin is enough:

    test_examples = example_suite("acme_ops")
"""

from __future__ import annotations

import doctest
import importlib
import importlib.util
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from operad import registry
from operad.errors import ArgumentError

_FLAGS: Final = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_README: Final = "README.md"

_Finder = Callable[[str, Path], list[doctest.DocTest]]


def example_suite(package: str) -> Callable[..., None]:
    """A test function with one case for the README, each module with examples, and each operator.

    The README and every operator must have an example; each example must give what it shows, with `...` for
    any text and any white space for any other.

    Args:
        package: The package to import, such as `"acme_ops"`. Its `README.md` is the nearest one in the
            folders above the test file.

    Raises:
        ArgumentError: There is no such package.
    """
    import pytest  # noqa: PLC0415 - the checks of passes do without

    cases: list[tuple[str, _Finder]] = [(_README, _of_readme)]
    cases += [(name, _of_module) for name in _modules_with_examples(package)]
    cases += [(name, _of_operator) for name in _operators(package)]

    @pytest.mark.parametrize(("name", "find"), cases, ids=[name for name, _ in cases])
    def test_examples(name: str, find: _Finder, request: Any) -> None:
        _run(name, find(name, request.path))

    return test_examples  # type: ignore[no-any-return]  # a function that pytest has marked


def _modules_with_examples(package: str) -> list[str]:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ArgumentError(
            f"example_suite: there is no package {package!r}; expected one that can be imported; install it, "
            "pip install -e ."
        )
    (folder, *_) = map(Path, found.submodule_search_locations)
    files = sorted(file for file in folder.rglob("*.py") if ">>> " in file.read_text("utf-8"))
    parts = [(package, *file.relative_to(folder).with_suffix("").parts) for file in files]
    return [".".join(names).removesuffix(".__init__") for names in parts]


def _operators(package: str) -> list[str]:
    """Names of the plugin's operators with aliases: each is shown to users under its own name."""
    records = registry.operators().values()
    return sorted(each.name for each in records if each.value.partition(":")[0].partition(".")[0] == package)


def _of_readme(name: str, test: Path) -> list[doctest.DocTest]:
    readme = next((folder / name for folder in test.parents if (folder / name).is_file()), None)
    assert readme is not None, f"no folder above {test} has a {name}; write one, with an example"
    return [_parsed(readme.read_text("utf-8"), str(readme))]


def _of_module(name: str, test: Path) -> list[doctest.DocTest]:
    return doctest.DocTestFinder().find(importlib.import_module(name), name)


def _of_operator(name: str, test: Path) -> list[doctest.DocTest]:
    return [_parsed(registry.get(name).__doc__ or "", name)]


def _parsed(text: str, name: str) -> doctest.DocTest:
    return doctest.DocTestParser().get_doctest(text, {}, name, name, 0)


def _run(name: str, tests: Iterable[doctest.DocTest]) -> None:
    runner = doctest.DocTestRunner(verbose=False, optionflags=_FLAGS)
    told: list[str] = []
    for test in tests:
        runner.run(test, out=told.append)
    assert not runner.failures, "".join(told)
    assert runner.tries, f"{name} has no example; show a call and what it gives, in lines that begin with >>>"
