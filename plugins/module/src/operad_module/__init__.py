"""Modules: training loops over symbols."""

from operad_module.base_module import BaseModule as BaseModule
from operad_module.module import Module as Module
