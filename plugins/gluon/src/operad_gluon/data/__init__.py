"""`gluon.data`: datasets, samplers and loaders of batches."""

from operad_gluon.data import vision as vision
from operad_gluon.data.dataloader import DataLoader as DataLoader
from operad_gluon.data.dataset import ArrayDataset as ArrayDataset
from operad_gluon.data.dataset import Dataset as Dataset
from operad_gluon.data.dataset import RecordFileDataset as RecordFileDataset
from operad_gluon.data.dataset import SimpleDataset as SimpleDataset
from operad_gluon.data.sampler import BatchSampler as BatchSampler
from operad_gluon.data.sampler import FilterSampler as FilterSampler
from operad_gluon.data.sampler import RandomSampler as RandomSampler
from operad_gluon.data.sampler import Sampler as Sampler
from operad_gluon.data.sampler import SequentialSampler as SequentialSampler
