"""Resource manager: random generators and scratch memory, in push order."""

from operad.resource.base import Resource as Resource
from operad.resource.base import ResourceRequest as ResourceRequest
from operad.resource.manager import ResourceManager as ResourceManager
from operad.resource.manager import get as get
from operad.resource.manager import mutable_vars_of as mutable_vars_of
from operad.resource.own import OwnResources as OwnResources
from operad.resource.own import current as current
from operad.resource.random import ParallelRandom as ParallelRandom
from operad.resource.random import RandomStream as RandomStream
from operad.resource.random import StreamSeed as StreamSeed
from operad.resource.temp_space import TempSpace as TempSpace
