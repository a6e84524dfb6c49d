"""`gluon.contrib.estimator.event_handler`: events and all handlers, under MXNet's path."""

from operad_gluon.contrib.estimator.checkpoints import CheckpointHandler as CheckpointHandler
from operad_gluon.contrib.estimator.early_stopping import EarlyStoppingHandler as EarlyStoppingHandler
from operad_gluon.contrib.estimator.events import BatchBegin as BatchBegin
from operad_gluon.contrib.estimator.events import BatchEnd as BatchEnd
from operad_gluon.contrib.estimator.events import EpochBegin as EpochBegin
from operad_gluon.contrib.estimator.events import EpochEnd as EpochEnd
from operad_gluon.contrib.estimator.events import EventHandler as EventHandler
from operad_gluon.contrib.estimator.events import TrainBegin as TrainBegin
from operad_gluon.contrib.estimator.events import TrainEnd as TrainEnd
from operad_gluon.contrib.estimator.handlers import GradientUpdateHandler as GradientUpdateHandler
from operad_gluon.contrib.estimator.handlers import MetricHandler as MetricHandler
from operad_gluon.contrib.estimator.handlers import StoppingHandler as StoppingHandler
from operad_gluon.contrib.estimator.handlers import ValidationHandler as ValidationHandler
from operad_gluon.contrib.estimator.log_lines import LoggingHandler as LoggingHandler
