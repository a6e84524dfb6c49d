from __future__ import annotations

import pytest

from operad_check.testing import example_suite

pytest.importorskip("jax")

test_examples = example_suite("operad_check_jax")
