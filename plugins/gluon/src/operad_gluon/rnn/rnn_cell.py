"""`gluon.rnn.rnn_cell`: all cells, under MXNet's path."""

from operad_gluon.rnn.base import HybridRecurrentCell as HybridRecurrentCell
from operad_gluon.rnn.base import RecurrentCell as RecurrentCell
from operad_gluon.rnn.base import get_begin_state as _get_begin_state  # noqa: F401 - programs of MXNet use it
from operad_gluon.rnn.cells import GRUCell as GRUCell
from operad_gluon.rnn.cells import LSTMCell as LSTMCell
from operad_gluon.rnn.cells import RNNCell as RNNCell
from operad_gluon.rnn.modifiers import DropoutCell as DropoutCell
from operad_gluon.rnn.modifiers import ModifierCell as ModifierCell
from operad_gluon.rnn.modifiers import ResidualCell as ResidualCell
from operad_gluon.rnn.modifiers import ZoneoutCell as ZoneoutCell
from operad_gluon.rnn.sequences import format_sequence as _format_sequence  # noqa: F401 - as above
from operad_gluon.rnn.sequences import mask_sequence as _mask_sequence_variable_length  # noqa: F401 - as above
from operad_gluon.rnn.stacked import BidirectionalCell as BidirectionalCell
from operad_gluon.rnn.stacked import HybridSequentialRNNCell as HybridSequentialRNNCell
from operad_gluon.rnn.stacked import SequentialRNNCell as SequentialRNNCell
