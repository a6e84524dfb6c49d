"""Back ends: each turns a program into something that fills an output array."""
