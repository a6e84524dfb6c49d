"""Pooling within regions of images: `ROIPooling`, `_contrib_ROIAlign` and others.

Each module is imported when its operator is first used.
"""
