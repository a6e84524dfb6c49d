"""`gluon.contrib.cnn`: deformable convolutions."""

from operad_gluon.contrib.cnn.conv_layers import DeformableConvolution as DeformableConvolution
from operad_gluon.contrib.cnn.conv_layers import (
    ModulatedDeformableConvolution as ModulatedDeformableConvolution,
)
