"""Convolution and pooling whose samples are moved: `_contrib_DeformableConvolution` and others.

Each module is imported when its operator is first used.
"""
