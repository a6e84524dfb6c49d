"""Filters for Jinja, by which the template asks Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, final

from jinja2 import Environment
from jinja2.ext import Extension

from operad_check.new.others import described
from operad_check.new.requests import ScaffoldError, distribution_name, read_requests


@final
class Filters(Extension):
    """The filters of the template.

    `operators` reads a line of operators; `why_no_...` says what is wrong with an answer, or nothing.
    """

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        environment.filters["operators"] = _operators
        environment.filters["why_no_operators"] = _objection(lambda line: described(read_requests(line)))
        environment.filters["why_no_distribution"] = _objection(distribution_name)


def _operators(line: str) -> list[dict[str, Any]]:
    requests = read_requests(line)
    others = described(requests)
    return [
        {**asdict(one), "other": asdict(others[one.name]) if one.name in others else None} for one in requests
    ]


def _objection(check: Callable[[str], Any]) -> Callable[[str], str]:
    def object_to(answer: str) -> str:
        try:
            check(answer)
        except ScaffoldError as error:
            return str(error)
        return ""

    return object_to
