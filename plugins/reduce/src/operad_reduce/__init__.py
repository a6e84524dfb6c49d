"""Reductions along axes: sums, means, products, norms, extrema and where they are."""

from operad_reduce.cumulative import CumSum as CumSum
from operad_reduce.extrema import Max as Max
from operad_reduce.extrema import Min as Min
from operad_reduce.moments import Moments as Moments
from operad_reduce.norm import Norm as Norm
from operad_reduce.places import ArgMax as ArgMax
from operad_reduce.places import ArgMaxChannel as ArgMaxChannel
from operad_reduce.places import ArgMin as ArgMin
from operad_reduce.products import NanProd as NanProd
from operad_reduce.products import Prod as Prod
from operad_reduce.sums import Mean as Mean
from operad_reduce.sums import NanSum as NanSum
from operad_reduce.sums import Sum as Sum
