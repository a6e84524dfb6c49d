"""Losses of predictions: a value for each sample."""

from operad_gluon.loss.base import Loss as Loss
from operad_gluon.loss.classification import CTCLoss as CTCLoss
from operad_gluon.loss.classification import HingeLoss as HingeLoss
from operad_gluon.loss.classification import KLDivLoss as KLDivLoss
from operad_gluon.loss.classification import LogisticLoss as LogisticLoss
from operad_gluon.loss.classification import SigmoidBCELoss as SigmoidBCELoss
from operad_gluon.loss.classification import SigmoidBinaryCrossEntropyLoss as SigmoidBinaryCrossEntropyLoss
from operad_gluon.loss.classification import SoftmaxCELoss as SoftmaxCELoss
from operad_gluon.loss.classification import SoftmaxCrossEntropyLoss as SoftmaxCrossEntropyLoss
from operad_gluon.loss.classification import SquaredHingeLoss as SquaredHingeLoss
from operad_gluon.loss.distances import CosineEmbeddingLoss as CosineEmbeddingLoss
from operad_gluon.loss.distances import SDMLLoss as SDMLLoss
from operad_gluon.loss.distances import TripletLoss as TripletLoss
from operad_gluon.loss.regression import HuberLoss as HuberLoss
from operad_gluon.loss.regression import L1Loss as L1Loss
from operad_gluon.loss.regression import L2Loss as L2Loss
from operad_gluon.loss.regression import PoissonNLLLoss as PoissonNLLLoss
