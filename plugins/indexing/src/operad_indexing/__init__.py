"""Elements by index: looking them up, writing them, choosing among them, and putting them in order.

Each family is a module of its own, imported when one of its operators is first used.
"""
