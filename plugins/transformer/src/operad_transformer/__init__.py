"""Operators of transformers; each module is imported when one of its operators is first used."""
