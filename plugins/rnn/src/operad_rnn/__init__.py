"""Recurrent networks, `RNN`, and the layout of their parameters."""

from operad_rnn.layout import GATES as GATES
from operad_rnn.layout import PackedLayout as PackedLayout
from operad_rnn.layout import Part as Part
