"""`gluon.contrib.nn`: parallel branches, and pixels from channels."""

from operad_gluon.contrib.nn.basic_layers import Concurrent as Concurrent
from operad_gluon.contrib.nn.basic_layers import HybridConcurrent as HybridConcurrent
from operad_gluon.contrib.nn.basic_layers import Identity as Identity
from operad_gluon.contrib.nn.basic_layers import SparseEmbedding as SparseEmbedding
from operad_gluon.contrib.nn.basic_layers import SyncBatchNorm as SyncBatchNorm
from operad_gluon.contrib.nn.pixel_shuffle import PixelShuffle1D as PixelShuffle1D
from operad_gluon.contrib.nn.pixel_shuffle import PixelShuffle2D as PixelShuffle2D
from operad_gluon.contrib.nn.pixel_shuffle import PixelShuffle3D as PixelShuffle3D
