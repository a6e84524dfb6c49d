"""Names of other distributions that `from mxnet.contrib import *` brings, where they are installed."""

import operad

OTHERS = [name for name in ("onnx",) if f"contrib.{name}" in operad.registry.entry_names("operad.namespaces")]
