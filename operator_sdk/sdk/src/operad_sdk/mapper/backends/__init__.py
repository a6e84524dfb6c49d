"""Back ends: each turns a form into a function that fills an output array."""
