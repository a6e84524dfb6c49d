"""`gluon.data.vision.transforms`: transforms of images, (height, width, channels) before `ToTensor`."""

from operad_gluon.data.vision.transforms.colours import RandomBrightness as RandomBrightness
from operad_gluon.data.vision.transforms.colours import RandomColorJitter as RandomColorJitter
from operad_gluon.data.vision.transforms.colours import RandomContrast as RandomContrast
from operad_gluon.data.vision.transforms.colours import RandomHue as RandomHue
from operad_gluon.data.vision.transforms.colours import RandomLighting as RandomLighting
from operad_gluon.data.vision.transforms.colours import RandomSaturation as RandomSaturation
from operad_gluon.data.vision.transforms.composition import Compose as Compose
from operad_gluon.data.vision.transforms.composition import RandomApply as RandomApply
from operad_gluon.data.vision.transforms.geometry import CenterCrop as CenterCrop
from operad_gluon.data.vision.transforms.geometry import CropResize as CropResize
from operad_gluon.data.vision.transforms.geometry import RandomFlipLeftRight as RandomFlipLeftRight
from operad_gluon.data.vision.transforms.geometry import RandomFlipTopBottom as RandomFlipTopBottom
from operad_gluon.data.vision.transforms.geometry import RandomResizedCrop as RandomResizedCrop
from operad_gluon.data.vision.transforms.geometry import RandomRotation as RandomRotation
from operad_gluon.data.vision.transforms.geometry import Resize as Resize
from operad_gluon.data.vision.transforms.geometry import Rotate as Rotate
from operad_gluon.data.vision.transforms.numbers import Cast as Cast
from operad_gluon.data.vision.transforms.numbers import Normalize as Normalize
from operad_gluon.data.vision.transforms.numbers import ToTensor as ToTensor
