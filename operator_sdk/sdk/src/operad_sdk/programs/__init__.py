"""Functions that are programs: traced for the shapes of a call, run as kernels of forms and NumPy's calls.

One scalar form per part reaches what elements and rows are computed of. A function that multiplies matrices,
sorts, or writes parts of arrays has none as a whole. Traced, it is a small graph; what lies between two such
steps is gathered into forms (`clusters`), the steps are put into an order and their arrays into memory
(`plan`), and a call runs them (`program`). `operator` is the face that kernels of declared operators have.
"""
