"""Lists of operators by their precision, of each type of half precision."""

from operad_mxnet.contrib.amp.lists import symbol_fp16

__all__ = ["symbol_fp16"]
