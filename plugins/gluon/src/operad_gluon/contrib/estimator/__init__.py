"""`gluon.contrib.estimator`: a loop of training with handlers of its events."""

from operad_gluon.contrib.estimator import event_handler as event_handler
from operad_gluon.contrib.estimator.batch_processor import BatchProcessor as BatchProcessor
from operad_gluon.contrib.estimator.estimator import Estimator as Estimator
from operad_gluon.contrib.estimator.event_handler import BatchBegin as BatchBegin
from operad_gluon.contrib.estimator.event_handler import BatchEnd as BatchEnd
from operad_gluon.contrib.estimator.event_handler import CheckpointHandler as CheckpointHandler
from operad_gluon.contrib.estimator.event_handler import EarlyStoppingHandler as EarlyStoppingHandler
from operad_gluon.contrib.estimator.event_handler import EpochBegin as EpochBegin
from operad_gluon.contrib.estimator.event_handler import EpochEnd as EpochEnd
from operad_gluon.contrib.estimator.event_handler import GradientUpdateHandler as GradientUpdateHandler
from operad_gluon.contrib.estimator.event_handler import LoggingHandler as LoggingHandler
from operad_gluon.contrib.estimator.event_handler import MetricHandler as MetricHandler
from operad_gluon.contrib.estimator.event_handler import StoppingHandler as StoppingHandler
from operad_gluon.contrib.estimator.event_handler import TrainBegin as TrainBegin
from operad_gluon.contrib.estimator.event_handler import TrainEnd as TrainEnd
from operad_gluon.contrib.estimator.event_handler import ValidationHandler as ValidationHandler
