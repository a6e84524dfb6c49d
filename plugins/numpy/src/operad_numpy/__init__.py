"""NumPy's functions on arrays: what operators compute as NumPy does, recorded and asynchronous."""
