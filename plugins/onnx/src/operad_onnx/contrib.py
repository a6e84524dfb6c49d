"""`mx.contrib.onnx`: MXNet's names of the functions that read and write ONNX files."""

from operad_onnx.faces import export_model as export_model
from operad_onnx.faces import get_model_metadata as get_model_metadata
from operad_onnx.faces import import_model as import_model
