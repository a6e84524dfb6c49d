"""Regions that a region proposal network proposes: `_contrib_Proposal` and `_contrib_MultiProposal`.

Each module is imported when its operator is first used.
"""
