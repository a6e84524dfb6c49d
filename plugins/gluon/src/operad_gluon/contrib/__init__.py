"""`gluon.contrib`: blocks beside the common ones."""

from operad_gluon.contrib import cnn as cnn
from operad_gluon.contrib import data as data
from operad_gluon.contrib import nn as nn
from operad_gluon.contrib import rnn as rnn
