"""`mx.contrib.onnx`: MXNet's names of the functions that read and write ONNX files."""

import sys

import operad
from operad_onnx.faces import export_model, get_model_metadata, import_model, import_to_gluon

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]

__path__: list[str] = []  # so that the import of a module below it finds the reason

operad.registry.explain_absence("contrib.onnx", sys.modules[__name__])
