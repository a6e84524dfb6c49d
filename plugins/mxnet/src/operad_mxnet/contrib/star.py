"""What `from mxnet.contrib import *` brings of other distributions, where they are installed."""

import operad

OTHERS = [name for name in ("onnx",) if f"contrib.{name}" in operad.registry.entry_names("operad.namespaces")]
