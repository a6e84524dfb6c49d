"""The contract checks as pytest tests: each function of `operad-check.toml`, and each check.

pytest imports this with every run, so nothing stands here; `plugin` finds the tables, `nodes` reads them.
"""
