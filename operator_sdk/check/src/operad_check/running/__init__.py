"""Running checks: their registration, the session whose cases they share, the runner and what calls it.

A failure is shrunk here, and becomes a program that shows it; pytest and plain functions come in here.
"""
