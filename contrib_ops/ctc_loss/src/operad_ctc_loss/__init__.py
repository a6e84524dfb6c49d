"""Connectionist temporal classification: `CTCLoss`.

Its module is imported when the operator is first used.
"""
