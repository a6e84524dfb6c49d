from __future__ import annotations

from operad_check.testing import example_suite
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

test_examples = example_suite("operad_fusion")
