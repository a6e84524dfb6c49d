"""Distributed stores on MPI: each worker has all values, and pushed arrays are summed by reductions.

Nothing here is called by a program: `od.kv.create("dist_sync")` finds it where `mpirun` started the process.
"""

from operad_kvstore_mpi.transport import MpiTransport as MpiTransport
