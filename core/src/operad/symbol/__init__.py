"""Symbols and symbolic operators: `od.symbol.FullyConnected(data, num_hidden=10)`, or `od.sym` for short."""

from operad.symbol.attribute import AttrScope as AttrScope
from operad.symbol.compose import apply as apply
from operad.symbol.face import Group as Group
from operad.symbol.face import Symbol as Symbol
from operad.symbol.face import Variable as Variable
from operad.symbol.face import __dir__ as __dir__
from operad.symbol.face import __getattr__ as __getattr__
from operad.symbol.face import var as var
from operad.symbol.name import NameManager as NameManager
from operad.symbol.name import Prefix as Prefix
