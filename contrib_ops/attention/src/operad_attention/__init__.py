"""Products of multi-head attention, `_contrib_interleaved_matmul_*`.

Each family is a module of its own, imported when one of its operators is first used.
"""
