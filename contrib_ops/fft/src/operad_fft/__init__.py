"""Fourier transforms, `_contrib_fft` and `_contrib_ifft`."""

from operad_fft.fft import fft as fft
from operad_fft.fft import ifft as ifft
