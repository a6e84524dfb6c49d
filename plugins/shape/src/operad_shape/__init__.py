"""Reshaping, transposing, slicing, joining, repeating and padding."""
