"""`gluon.model_zoo`: well-known networks."""

from operad_gluon.model_zoo import model_store as model_store
from operad_gluon.model_zoo import vision as vision
