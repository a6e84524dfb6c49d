"""`Convolution`, `Deconvolution` and `UpSampling`."""

from operad_convolution.convolution import Convolution as Convolution
from operad_convolution.deconvolution import Deconvolution as Deconvolution
from operad_convolution.upsampling import UpSampling as UpSampling
