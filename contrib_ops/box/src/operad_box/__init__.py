"""Boxes of detectors: overlap, suppression, anchors, targets and detections.

Each module is imported when its operator is first used.
"""
