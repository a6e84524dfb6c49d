from __future__ import annotations

from operad_check.testing import example_suite

test_examples = example_suite("operad_onnx")
