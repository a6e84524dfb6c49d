"""Update operators: each writes a weight from its gradient, in place through `out=`."""
