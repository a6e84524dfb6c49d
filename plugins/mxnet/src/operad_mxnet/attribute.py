"""`mx.attribute`: attributes that a scope gives to all symbols made in it."""

from operad.symbol import AttrScope

__all__ = ["AttrScope"]
