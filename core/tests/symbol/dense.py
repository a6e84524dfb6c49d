"""One dense layer of three."""

from operad import sym


def dense(name="fc1", **inputs):
    """The layer, whose variables are called after it unless they are given."""
    return sym.Dense(**{"data": sym.var("data"), **inputs}, num_hidden=3, name=name)
