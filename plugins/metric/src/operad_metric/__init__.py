"""Metrics of predictions."""

from operad_metric.accuracy import Accuracy as Accuracy
from operad_metric.accuracy import TopKAccuracy as TopKAccuracy
from operad_metric.arrays import check_label_shapes as check_label_shapes
from operad_metric.composite import CompositeEvalMetric as CompositeEvalMetric
from operad_metric.composite import create as create
from operad_metric.confusion import F1 as F1
from operad_metric.confusion import MCC as MCC
from operad_metric.confusion import PCC as PCC
from operad_metric.custom import Caffe as Caffe
from operad_metric.custom import CustomMetric as CustomMetric
from operad_metric.custom import Loss as Loss
from operad_metric.custom import Torch as Torch
from operad_metric.custom import np as np
from operad_metric.metric import EvalMetric as EvalMetric
from operad_metric.probability import CrossEntropy as CrossEntropy
from operad_metric.probability import NegativeLogLikelihood as NegativeLogLikelihood
from operad_metric.probability import Perplexity as Perplexity
from operad_metric.registered import alias as alias
from operad_metric.registered import register as register
from operad_metric.regression import MAE as MAE
from operad_metric.regression import MSE as MSE
from operad_metric.regression import RMSE as RMSE
from operad_metric.regression import PearsonCorrelation as PearsonCorrelation
