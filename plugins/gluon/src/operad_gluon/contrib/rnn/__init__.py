"""`gluon.contrib.rnn`: cells of convolutions, projections, and dropout that is drawn once for a sequence."""

from operad_gluon.contrib.rnn.conv_rnn_cell import Conv1DGRUCell as Conv1DGRUCell
from operad_gluon.contrib.rnn.conv_rnn_cell import Conv1DLSTMCell as Conv1DLSTMCell
from operad_gluon.contrib.rnn.conv_rnn_cell import Conv1DRNNCell as Conv1DRNNCell
from operad_gluon.contrib.rnn.conv_rnn_cell import Conv2DGRUCell as Conv2DGRUCell
from operad_gluon.contrib.rnn.conv_rnn_cell import Conv2DLSTMCell as Conv2DLSTMCell
from operad_gluon.contrib.rnn.conv_rnn_cell import Conv2DRNNCell as Conv2DRNNCell
from operad_gluon.contrib.rnn.conv_rnn_cell import Conv3DGRUCell as Conv3DGRUCell
from operad_gluon.contrib.rnn.conv_rnn_cell import Conv3DLSTMCell as Conv3DLSTMCell
from operad_gluon.contrib.rnn.conv_rnn_cell import Conv3DRNNCell as Conv3DRNNCell
from operad_gluon.contrib.rnn.rnn_cell import LSTMPCell as LSTMPCell
from operad_gluon.contrib.rnn.rnn_cell import VariationalDropoutCell as VariationalDropoutCell
from operad_gluon.contrib.rnn.rnn_cell import dynamic_unroll as dynamic_unroll
