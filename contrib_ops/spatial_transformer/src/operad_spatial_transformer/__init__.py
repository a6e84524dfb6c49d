"""Sampling of images on grids."""

from operad_spatial_transformer.grid import GridGenerator as GridGenerator
from operad_spatial_transformer.sampler import BilinearSampler as BilinearSampler
from operad_spatial_transformer.transformer import SpatialTransformer as SpatialTransformer
