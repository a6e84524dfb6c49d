"""Modules: training loops over symbols."""

from operad_module.base_module import BaseModule as BaseModule
from operad_module.bucketing_module import BucketingModule as BucketingModule
from operad_module.module import Module as Module
from operad_module.python_module import PythonLossModule as PythonLossModule
from operad_module.python_module import PythonModule as PythonModule
from operad_module.sequential_module import SequentialModule as SequentialModule
