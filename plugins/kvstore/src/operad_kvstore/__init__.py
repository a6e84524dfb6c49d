"""`od.kvstore`: stores of arrays by key, which sum what several devices push.

`create` finds a store by its type, in any package: an entry point in the group `operad.kvstores`, or a
class that this process has registered. `DistStore` is the store of several processes; engines of other
packages give it a `Transport`, and build on what stands here: servers, shards, compression and buckets.
"""

from operad_kvstore import pictures as pictures
from operad_kvstore.base import KVStoreBase as KVStoreBase
from operad_kvstore.buckets import Bucket as Bucket
from operad_kvstore.buckets import Piece as Piece
from operad_kvstore.buckets import Sized as Sized
from operad_kvstore.buckets import cut_into_shards as cut_into_shards
from operad_kvstore.buckets import pack as pack
from operad_kvstore.buckets import plan_buckets as plan_buckets
from operad_kvstore.buckets import unpack as unpack
from operad_kvstore.compression import TwoBit as TwoBit
from operad_kvstore.create import create as create
from operad_kvstore.distributed import DistStore as DistStore
from operad_kvstore.errors import RoundMismatchError as RoundMismatchError
from operad_kvstore.errors import ServerLostError as ServerLostError
from operad_kvstore.errors import StoreError as StoreError
from operad_kvstore.errors import StoreTimeoutError as StoreTimeoutError
from operad_kvstore.errors import UpdateFailedError as UpdateFailedError
from operad_kvstore.errors import WorkerLostError as WorkerLostError
from operad_kvstore.inbox import Receipt as Receipt
from operad_kvstore.inbox import Standing as Standing
from operad_kvstore.keys import KeyTable as KeyTable
from operad_kvstore.outbox import Outbox as Outbox
from operad_kvstore.packets import Packet as Packet
from operad_kvstore.placement import Extent as Extent
from operad_kvstore.placement import Part as Part
from operad_kvstore.placement import Placement as Placement
from operad_kvstore.rounds import KeyRounds as KeyRounds
from operad_kvstore.server import Server as Server
from operad_kvstore.settings import StoreSettings as StoreSettings
from operad_kvstore.shard import Shard as Shard
from operad_kvstore.store import KVStore as KVStore
from operad_kvstore.transport import Transport as Transport
from operad_kvstore.updates import Updates as Updates
