! An unmodified Fortran program.
program main
  use mpi_f08
  implicit none
  integer, parameter :: n = 300
  integer :: rank, ranks, i, failed
  double precision :: mine(n), total(n)
  type(MPI_Request) :: request

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  failed = 0
  mine = [(dble(rank + 1) * i, i = 1, n)]
  call MPI_Allreduce(mine, total, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call expect()
  total = mine
  call MPI_Allreduce(MPI_IN_PLACE, total, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call expect()
  total = 0
  call MPI_Iallreduce(mine, total, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call expect()
  if (rank == 0) print '(a, i0, a)', 'Fortran: ', failed, ' failed'
  call MPI_Finalize()
  if (failed > 0) stop 1

contains

  subroutine expect()
    do i = 1, n
      if (total(i) /= dble(ranks * (ranks + 1) / 2) * i) failed = failed + 1
    end do
  end subroutine

end program
