"""Random operators: draws, multinomial samples, shuffling; and extension attributes such as `od.random`.

Each family is a module of its own, imported when one of its operators is first used.
"""
