"""Declarations of operators that are mappers, apart, because most of the family need none."""

from __future__ import annotations

from operad_elemwise.families import Declared, Example
from operad_sdk import UNARY, Contract, from_mapper
from operad_sdk.declare.table import documentation
from operad_sdk.mapper import Mapper


def of_mapper(name: str, mapper: Mapper, summary: str, example: Example, contract: Contract) -> Declared:
    """A function of real numbers as a mapper, whose gradient is found; of integers rounded towards zero."""
    made = from_mapper(mapper, name=name, integers_as="float64", contract=contract)
    made.__doc__ = documentation(name, UNARY, summary, example)
    return made
