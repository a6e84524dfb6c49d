"""Pooling within regions of images: `ROIPooling` and `_contrib_ROIAlign`.

Each module is imported when its operator is first used.
"""
