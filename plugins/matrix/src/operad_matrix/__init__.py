"""Matrix products and linear algebra: `dot`, `batch_dot`, `khatri_rao` and the linalg operators."""

from operad_matrix.cholesky import Potrf as Potrf
from operad_matrix.cholesky import Potri as Potri
from operad_matrix.cholesky import SumLogDiag as SumLogDiag
from operad_matrix.dot import BatchDot as BatchDot
from operad_matrix.dot import Dot as Dot
from operad_matrix.factorization import Gelqf as Gelqf
from operad_matrix.factorization import Syevd as Syevd
from operad_matrix.gemm import Gemm as Gemm
from operad_matrix.gemm import Gemm2 as Gemm2
from operad_matrix.gemm import Syrk as Syrk
from operad_matrix.inverse import Det as Det
from operad_matrix.inverse import Inverse as Inverse
from operad_matrix.inverse import SLogDet as SLogDet
from operad_matrix.khatri_rao import KhatriRao as KhatriRao
from operad_matrix.packing import ExtractDiag as ExtractDiag
from operad_matrix.packing import ExtractTrian as ExtractTrian
from operad_matrix.packing import MakeDiag as MakeDiag
from operad_matrix.packing import MakeTrian as MakeTrian
from operad_matrix.triangular import Trmm as Trmm
from operad_matrix.triangular import Trsm as Trsm
