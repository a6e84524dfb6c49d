"""Running tests without a distribution: what fails only for want of it is skipped.

`pytest --absent operad-elemwise` says which distributions are left out on purpose. Tests compose the
operators of other plugins freely, and say so nowhere: the error of a missing name says it for them. A
test is skipped where its failure, what that was caused by, or what it printed (as doctest and programs of
their own do) names something that an absent distribution provides, with that as the reason. Every other
failure stands, those of names that nothing provides among them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterator
from typing import Final, final

import pytest

from operad.registry.packages import packages

_KINDS: Final = ("operators", "namespaces", "attributes", "kvstores", "iterators")
_MISSING: Final = re.compile(
    r"no installed plugin provides (?:the )?\w+ '(?:\w+\.)?(\w+)'"
    r"|has no attribute '(\w+)'[,;] (?:a plugin adds it|and no installed plugin)"
    r"|No module named 'operad\.(\w+)"
)
"""Errors for a name that nothing provides: the core's, and Python's for such a namespace."""


@final
class Absent:
    """The hook of such a run, and the rule it goes by.

    Args:
        distributions: What is left out, as pip calls it.
    """

    def __init__(self, distributions: Collection[str]) -> None:
        # A face's names are entered as `nd.random`, and asked for as `random`.
        self._owners = {
            name.rpartition(".")[2]: package.distribution
            for kind in _KINDS
            for name, package in packages(f"operad.{kind}").items()
            if package.distribution in distributions
        }

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # so last: an expected failure is none by then
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Make a skip of a failure for want of an absent distribution."""
        report = yield
        if report.failed and call.excinfo is not None:
            texts = [*map(str, _with_causes(call.excinfo.value)), report.capstdout, report.capstderr]
            reason = self.why("\n".join(texts))
            if reason is not None:
                report.outcome = "skipped"
                report.longrepr = (str(item.path), (item.location[1] or 0) + 1, f"Skipped: {reason}")
        return report

    def why(self, text: str) -> str | None:
        """The first name in `text` that is missing and an absent distribution's, said at length, or None."""
        for found in _MISSING.finditer(text):
            owner = self._owners.get(found[found.lastindex or 0])
            if owner is not None:
                return f"needs {owner}: {found[0]}"
        return None


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """`error`, what it was raised from or while handling, and the members of groups among these."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [other for other in (one.__cause__, one.__context__) if other is not None]
        waiting += one.exceptions if isinstance(one, BaseExceptionGroup) else ()
