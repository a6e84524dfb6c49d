"""`mx.contrib.onnx`: MXNet's names of the functions that read and write ONNX files."""

import sys

import operad
from operad_onnx.faces import export_model, get_model_metadata, import_model

__all__ = ["export_model", "get_model_metadata", "import_model"]

operad.registry.explain_absence("contrib.onnx", sys.modules[__name__])
