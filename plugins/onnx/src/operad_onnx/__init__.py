"""ONNX both ways: `operad.onnx.export` writes symbols and parameters as models, `operad.onnx.load` reads.

Each operator's package brings the rules of its own operators (`rules`), so this one knows files, the walk
over graphs, and ONNX operators that belong to no operator here.
"""

from operad_onnx.export import export as export
from operad_onnx.export import newest_opset as newest_opset
from operad_onnx.faces import export_model as export_model
from operad_onnx.faces import get_model_metadata as get_model_metadata
from operad_onnx.faces import import_model as import_model
from operad_onnx.load import load as load
from operad_onnx.model import Model as Model
from operad_onnx.scope import NeedsValueError as NeedsValueError
