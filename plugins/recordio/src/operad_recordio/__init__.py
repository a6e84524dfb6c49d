"""`operad.recordio`: RecordIO files as MXNet 1.x has them."""

from operad_recordio.header import IRHeader as IRHeader
from operad_recordio.header import pack as pack
from operad_recordio.header import unpack as unpack
from operad_recordio.images import pack_img as pack_img
from operad_recordio.images import unpack_img as unpack_img
from operad_recordio.index import build_index as build_index
from operad_recordio.indexed import MXIndexedRecordIO as MXIndexedRecordIO
from operad_recordio.parts import RecordPart as RecordPart
from operad_recordio.record_file import RecordFile as RecordFile
from operad_recordio.sequential import MXRecordIO as MXRecordIO
