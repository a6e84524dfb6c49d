"""Random operators: arrays of draws, multinomial samples, shuffling; and the faces `od.random` and so on.

Each family is a module of its own, imported when one of its operators is first used.
"""
