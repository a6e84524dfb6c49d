from __future__ import annotations

import pytest

from operad_check.testing import example_suite

pytest.importorskip("torch")

test_examples = example_suite("operad_check_torch")
