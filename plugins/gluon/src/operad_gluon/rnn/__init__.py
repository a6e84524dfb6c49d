"""`gluon.rnn`: recurrent cells and layers."""

from operad_gluon.rnn import rnn_cell as rnn_cell
from operad_gluon.rnn import rnn_layer as rnn_layer
from operad_gluon.rnn.base import HybridRecurrentCell as HybridRecurrentCell
from operad_gluon.rnn.base import RecurrentCell as RecurrentCell
from operad_gluon.rnn.cells import GRUCell as GRUCell
from operad_gluon.rnn.cells import LSTMCell as LSTMCell
from operad_gluon.rnn.cells import RNNCell as RNNCell
from operad_gluon.rnn.modifiers import DropoutCell as DropoutCell
from operad_gluon.rnn.modifiers import ModifierCell as ModifierCell
from operad_gluon.rnn.modifiers import ResidualCell as ResidualCell
from operad_gluon.rnn.modifiers import ZoneoutCell as ZoneoutCell
from operad_gluon.rnn.rnn_layer import GRU as GRU
from operad_gluon.rnn.rnn_layer import LSTM as LSTM
from operad_gluon.rnn.rnn_layer import RNN as RNN
from operad_gluon.rnn.stacked import BidirectionalCell as BidirectionalCell
from operad_gluon.rnn.stacked import HybridSequentialRNNCell as HybridSequentialRNNCell
from operad_gluon.rnn.stacked import SequentialRNNCell as SequentialRNNCell
