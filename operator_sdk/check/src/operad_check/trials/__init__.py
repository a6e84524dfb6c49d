"""The operator under test, run on one case on plain arrays: the case, the subject and the trial.

With them stands what a trial needs: stand-ins for resources, fresh copies of an operator, runs through an
engine, interruptions at a line, and the cause of an exception. Nothing here compares or judges.
"""
