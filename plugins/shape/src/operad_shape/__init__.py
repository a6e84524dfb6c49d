"""Reshaping, transposing, slicing, joining, repeating and padding."""

from operad_shape.columns import col2im as col2im
from operad_shape.columns import im2col as im2col
from operad_shape.diagonal import diag as diag
from operad_shape.join import Concat as Concat
from operad_shape.join import stack as stack
from operad_shape.padding import Pad as Pad
from operad_shape.permute import SwapAxis as SwapAxis
from operad_shape.permute import depth_to_space as depth_to_space
from operad_shape.permute import reverse as reverse
from operad_shape.permute import space_to_depth as space_to_depth
from operad_shape.permute import transpose as transpose
from operad_shape.repeating import repeat as repeat
from operad_shape.repeating import tile as tile
from operad_shape.reshape import Flatten as Flatten
from operad_shape.reshape import Reshape as Reshape
from operad_shape.reshape import expand_dims as expand_dims
from operad_shape.reshape import reshape_like as reshape_like
from operad_shape.reshape import squeeze as squeeze
from operad_shape.slicing import slice_ as slice_
from operad_shape.slicing import slice_assign as slice_assign
from operad_shape.slicing import slice_assign_scalar as slice_assign_scalar
from operad_shape.slicing import slice_axis as slice_axis
from operad_shape.slicing import slice_like as slice_like
from operad_shape.split import SliceChannel as SliceChannel
from operad_shape.split import split_v2 as split_v2
