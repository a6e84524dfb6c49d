"""Cells of recurrent networks, which unroll into symbols.

`BucketSentenceIter` and the checkpoints of `operad.model` are looked up when first used, since they are other
packages' or need one.
"""

import sys
from importlib import import_module

import operad
from operad_rnn_cell.base import BaseRNNCell as BaseRNNCell
from operad_rnn_cell.base import RNNParams as RNNParams
from operad_rnn_cell.cells import GRUCell as GRUCell
from operad_rnn_cell.cells import LSTMCell as LSTMCell
from operad_rnn_cell.cells import RNNCell as RNNCell
from operad_rnn_cell.checkpoint import do_rnn_checkpoint as do_rnn_checkpoint
from operad_rnn_cell.checkpoint import load_rnn_checkpoint as load_rnn_checkpoint
from operad_rnn_cell.checkpoint import rnn_unroll as rnn_unroll
from operad_rnn_cell.checkpoint import save_rnn_checkpoint as save_rnn_checkpoint
from operad_rnn_cell.convolutional import BaseConvRNNCell as BaseConvRNNCell
from operad_rnn_cell.convolutional import ConvGRUCell as ConvGRUCell
from operad_rnn_cell.convolutional import ConvLSTMCell as ConvLSTMCell
from operad_rnn_cell.convolutional import ConvRNNCell as ConvRNNCell
from operad_rnn_cell.fused import FusedRNNCell as FusedRNNCell
from operad_rnn_cell.modifiers import DropoutCell as DropoutCell
from operad_rnn_cell.modifiers import ModifierCell as ModifierCell
from operad_rnn_cell.modifiers import ResidualCell as ResidualCell
from operad_rnn_cell.modifiers import ZoneoutCell as ZoneoutCell
from operad_rnn_cell.sentences import encode_sentences as encode_sentences
from operad_rnn_cell.stacked import BidirectionalCell as BidirectionalCell
from operad_rnn_cell.stacked import SequentialRNNCell as SequentialRNNCell


def __getattr__(name: str) -> object:
    if name == "__all__":
        return operad.registry.star_names(sys.modules[__name__])
    if name == "BucketSentenceIter":
        return import_module(f"{__name__}.buckets").BucketSentenceIter
    if name in ("load_checkpoint", "save_checkpoint"):
        return getattr(operad.model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "BucketSentenceIter", "load_checkpoint", "save_checkpoint"})
