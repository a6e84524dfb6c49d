"""Activation functions: `Activation`, `LeakyReLU`, and the softmax family."""

from operad_activation.activation import Activation as Activation
from operad_activation.leaky_relu import LeakyReLU as LeakyReLU
from operad_activation.softmax import log_softmax as log_softmax
from operad_activation.softmax import softmax as softmax
from operad_activation.softmax import softmin as softmin
from operad_activation.softmax_activation import SoftmaxActivation as SoftmaxActivation
