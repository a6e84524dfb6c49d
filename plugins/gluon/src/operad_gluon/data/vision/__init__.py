"""`gluon.data.vision`: datasets of images, and transforms of them."""

from operad_gluon.data.vision import transforms as transforms
from operad_gluon.data.vision.datasets import CIFAR10 as CIFAR10
from operad_gluon.data.vision.datasets import CIFAR100 as CIFAR100
from operad_gluon.data.vision.datasets import MNIST as MNIST
from operad_gluon.data.vision.datasets import FashionMNIST as FashionMNIST
from operad_gluon.data.vision.datasets import ImageFolderDataset as ImageFolderDataset
from operad_gluon.data.vision.datasets import ImageRecordDataset as ImageRecordDataset
