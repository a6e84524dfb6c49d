"""Images resized by bilinear interpolation, `_contrib_BilinearResize2D`."""

from operad_bilinear_resize.resize import BilinearResize2D as BilinearResize2D
