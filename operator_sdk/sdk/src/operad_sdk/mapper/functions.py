"""The functions that mapper code may call, as plain Python functions of scalars.

Each is a `Function`: calling it computes on a Python or NumPy number with IEEE manners (a domain
error gives NaN, an overflow infinity, nothing raises), so a mapper runs as ordinary Python; the
parser recognises the object itself and emits its primitive.
"""

from __future__ import annotations

from typing import Any, Final, final

import numpy as np

from operad_sdk.mapper.primitives import PRIMITIVES, Primitive


@final
class Function:
    """A mathematical function of the mapper language.

    Attributes:
        primitive: What forms do in its place.
    """

    def __init__(self, name: str, primitive: Primitive, doc: str) -> None:
        self.__name__ = name
        self.__doc__ = doc
        self.primitive = primitive

    def __call__(self, *args: Any) -> float:
        """The value for scalars: of their own type for NumPy's, else a Python number."""
        if len(args) != self.primitive.arity:
            raise TypeError(f"{self.__name__} takes {self.primitive.arity} argument(s), got {len(args)}")
        with np.errstate(all="ignore"):
            if any(isinstance(arg, np.generic) for arg in args):
                return _scalar(self.primitive.evaluate(*args))
            return _scalar(self.primitive.evaluate(*(np.float64(arg) for arg in args)).item())

    def __repr__(self) -> str:
        return f"<mapper function {self.__name__}>"


@final
class Where:
    """`where(condition, a, b)`: `a` where the condition holds, else `b`."""

    __name__ = "where"

    def __call__(self, condition: Any, then: float, other: float) -> float:
        """One of the two values, unchanged."""
        return then if condition else other

    def __repr__(self) -> str:
        return "<mapper function where>"


def _scalar(value: Any) -> float:
    """A scalar as mapper code types it: every number there is called a float."""
    number: float = value
    return number


def _function(name: str, doc: str) -> Function:
    return Function(name, PRIMITIVES[name], doc)


_abs = _function("abs", "Absolute value.")
sign = _function("sign", "-1, 0 or 1 with the sign of the argument; NaN stays NaN.")
sqrt = _function("sqrt", "Square root.")
cbrt = _function("cbrt", "Cube root, of negative numbers too.")
exp = _function("exp", "e to the power of the argument.")
exp2 = _function("exp2", "2 to the power of the argument.")
expm1 = _function("expm1", "exp(x) - 1, exact near zero.")
log = _function("log", "Natural logarithm.")
log1p = _function("log1p", "log(1 + x), exact near zero.")
log2 = _function("log2", "Logarithm to base 2.")
log10 = _function("log10", "Logarithm to base 10.")
sin = _function("sin", "Sine of an angle in radians.")
cos = _function("cos", "Cosine of an angle in radians.")
tan = _function("tan", "Tangent of an angle in radians.")
asin = _function("asin", "Inverse sine in radians.")
acos = _function("acos", "Inverse cosine in radians.")
atan = _function("atan", "Inverse tangent in radians.")
atan2 = _function("atan2", "Angle in radians of the point (x, y), called as atan2(y, x).")
sinh = _function("sinh", "Hyperbolic sine.")
cosh = _function("cosh", "Hyperbolic cosine.")
tanh = _function("tanh", "Hyperbolic tangent.")
asinh = _function("asinh", "Inverse hyperbolic sine.")
acosh = _function("acosh", "Inverse hyperbolic cosine.")
atanh = _function("atanh", "Inverse hyperbolic tangent.")
erf = _function("erf", "Error function.")
erfc = _function("erfc", "1 - erf(x), exact for large x.")
gamma = _function("gamma", "Gamma function.")
lgamma = _function("lgamma", "Logarithm of the absolute value of the gamma function.")
floor = _function("floor", "Largest integer that is not above the argument.")
ceil = _function("ceil", "Smallest integer that is not below the argument.")
trunc = _function("trunc", "The argument without its fraction.")
rint = _function("rint", "Nearest integer; halves go to the even one.")
power = _function("power", "First argument to the power of the second; also written `a ** b`.")
hypot = _function("hypot", "Square root of the sum of the squares, without overflow.")
fmod = _function("fmod", "Remainder with the sign of the first argument; `a % b` has that of the second.")
copysign = _function("copysign", "The first argument with the sign of the second.")
maximum = _function("maximum", "The larger argument; NaN if one is NaN.")
minimum = _function("minimum", "The smaller argument; NaN if one is NaN.")
isnan = _function("isnan", "Whether the argument is NaN.")
isinf = _function("isinf", "Whether the argument is an infinity.")
isfinite = _function("isfinite", "Whether the argument is neither NaN nor an infinity.")
where: Final = Where()

FUNCTIONS: Final[dict[str, Function]] = {
    value.__name__: value for value in list(globals().values()) if isinstance(value, Function)
}
"""Every function by the name it has in mapper code."""
