"""The quadratic function, `_contrib_quadratic`."""

from operad_quadratic.quadratic import quadratic as quadratic
