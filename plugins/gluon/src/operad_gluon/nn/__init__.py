"""Layers of networks."""

from operad_gluon.block import Block as Block
from operad_gluon.block import HybridBlock as HybridBlock
from operad_gluon.block import SymbolBlock as SymbolBlock
from operad_gluon.nn.activations import Activation as Activation
from operad_gluon.nn.basic_layers import Dense as Dense
from operad_gluon.nn.containers import HybridSequential as HybridSequential
from operad_gluon.nn.containers import Sequential as Sequential
