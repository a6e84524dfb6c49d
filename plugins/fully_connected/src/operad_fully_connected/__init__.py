"""The fully connected layer, `FullyConnected`."""

from operad_fully_connected.fully_connected import FullyConnected as FullyConnected
