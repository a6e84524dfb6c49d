"""Products with one weight, as those of an unrolled network, become one product."""

from operad_hoisting.hoisting import hoisting as hoisting
