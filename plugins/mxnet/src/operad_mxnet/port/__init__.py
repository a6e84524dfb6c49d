"""`operad port`: names of MXNet in programs, and where each is here."""

from operad_mxnet.port.command import port as port
