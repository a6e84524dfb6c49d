"""Rules for ONNX operators that belong to no single operator here."""

EXPORTS = {}
IMPORTS = {}
