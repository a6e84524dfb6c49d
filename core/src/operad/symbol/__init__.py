"""The symbolic front end: symbols, their names and attributes."""

from operad.symbol.attribute import AttrScope as AttrScope
from operad.symbol.compose import apply as apply
from operad.symbol.function import symbol_function as symbol_function
from operad.symbol.name import NameManager as NameManager
from operad.symbol.name import Prefix as Prefix
from operad.symbol.symbol import Group as Group
from operad.symbol.symbol import Symbol as Symbol
from operad.symbol.symbol import load as load
from operad.symbol.symbol import load_json as load_json
from operad.symbol.symbol import var as var
