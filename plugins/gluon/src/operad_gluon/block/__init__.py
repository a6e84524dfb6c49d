"""Blocks: networks as objects that have children and parameters."""

from operad_gluon.block.block import Block as Block
from operad_gluon.block.hybrid_block import HybridBlock as HybridBlock
from operad_gluon.block.symbol_block import SymbolBlock as SymbolBlock
