"""For the tests of a plugin: checks of one operator's passes, and a suite of all examples."""

from operad_check.testing.examples import example_suite as example_suite
from operad_check.testing.passes import check_forward as check_forward
from operad_check.testing.passes import gradient_check as gradient_check
