"""Symbols and symbolic operators: `od.symbol.FullyConnected(data, num_hidden=10)`, or `od.sym` for short."""

from operad.symbol.attribute import AttrScope as AttrScope
from operad.symbol.compose import apply as apply
from operad.symbol.name import NameManager as NameManager
from operad.symbol.name import Prefix as Prefix
from operad.symbol.namespace import Group as Group
from operad.symbol.namespace import Symbol as Symbol
from operad.symbol.namespace import Variable as Variable
from operad.symbol.namespace import __dir__ as __dir__
from operad.symbol.namespace import __getattr__ as __getattr__
from operad.symbol.namespace import var as var
