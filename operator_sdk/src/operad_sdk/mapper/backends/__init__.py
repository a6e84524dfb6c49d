"""Back ends: each turns a form into something that fills an output array."""
