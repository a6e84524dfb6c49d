"""`operad convert`: what a model's files use, and the files as MXNet 1.9.1 and operad read them."""

from operad_mxnet.convert.command import convert as convert
