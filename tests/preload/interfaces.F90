! The collectives from Fortran, through one of its three interfaces: -DUSE_F08, -DUSE_MPI, or mpif.h.
program interfaces
#ifdef USE_F08
    use mpi_f08
#endif
#ifdef USE_MPI
    use mpi
#endif
    implicit none
#if !defined(USE_F08) && !defined(USE_MPI)
    include 'mpif.h'
#endif
#ifdef USE_F08
    type(MPI_Request) :: request
    type(MPI_Datatype) :: kind
#define GIVE_ERROR
#else
    integer :: request, kind
#define GIVE_ERROR , ierr
#endif
    integer, parameter :: n = 100
    integer :: rank, ranks, ierr, i, wrong, all_wrong
    integer, allocatable :: counts(:), blocks(:), gathered(:)
    integer :: part(n), again(n), scattered(n)
    double precision :: x(n), y(n)
    integer(MPI_ADDRESS_KIND) :: place
    integer :: lengths(1)
    integer(MPI_ADDRESS_KIND) :: places(1)

    wrong = 0
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    allocate(counts(ranks), blocks(n*ranks), gathered(n*ranks))

    x = [(dble(rank + i), i = 1, n)]
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(all(y == [(dble(ranks*(ranks - 1)/2 + i*ranks), i = 1, n)]), 'allreduce')
    call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD GIVE_ERROR)
    call expect(all(x == y), 'allreduce in place')

    blocks = [(rank + i, i = 1, n*ranks)]
    call MPI_Reduce_scatter_block(blocks, part, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(all(part == [(ranks*(ranks - 1)/2 + (rank*n + i)*ranks, i = 1, n)]), 'reduce_scatter_block')
    counts = n
    call MPI_Reduce_scatter(blocks, again, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(all(again == part), 'reduce_scatter')
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, blocks, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(all(blocks(1:n) == part), 'reduce_scatter_block in place')

    call MPI_Allgather(part, n, MPI_INTEGER, gathered, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(gathered(rank*n + 1:rank*n + n) == part), 'allgather')
    call expect(gathered(1) == ranks*(ranks - 1)/2 + ranks, 'allgather of rank 0')
    blocks = 0
    blocks(rank*n + 1:rank*n + n) = part
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(blocks == gathered), 'allgather in place')

    call MPI_Get_address(part, place, ierr)
    lengths = n
    places = place
    call MPI_Type_create_hindexed(1, lengths, places, MPI_INTEGER, kind, ierr)
    call MPI_Type_commit(kind, ierr)
    blocks = 0
    call MPI_Allgather(MPI_BOTTOM, 1, kind, blocks, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(blocks == gathered), 'allgather from MPI_BOTTOM')
    call MPI_Type_free(kind, ierr)

    x = rank
    call MPI_Iallreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect(all(y == ranks - 1), 'iallreduce')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call expect(ierr == MPI_SUCCESS, 'barrier')

    y = rank
    call MPI_Bcast(y, n, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD GIVE_ERROR)
    call expect(all(y == ranks - 1), 'bcast')
    x = rank
    y = -1
    call MPI_Reduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
    call expect(rank > 0 .or. all(y == ranks - 1), 'reduce')
    blocks = -1
    call MPI_Gather(part, n, MPI_INTEGER, blocks, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call expect(rank > 0 .or. all(blocks == gathered), 'gather')
    blocks = -1
    if (rank == 1) then
        blocks(rank*n + 1:rank*n + n) = part
        call MPI_Gather(MPI_IN_PLACE, n, MPI_INTEGER, blocks, n, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
        call expect(all(blocks == gathered), 'gather in place')
    else
        call MPI_Gather(part, n, MPI_INTEGER, blocks, n, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
    end if
    scattered = -1
    call MPI_Scatter(gathered, n, MPI_INTEGER, scattered, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call expect(all(scattered == part), 'scatter')
    blocks = -1
    call MPI_Alltoall(gathered, n, MPI_INTEGER, blocks, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(blocks == [(part, i = 1, ranks)]), 'alltoall')

    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
    call expect(ierr /= MPI_SUCCESS, 'an operation that is not defined on the type')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)

    ! Collectives that Trivance does not execute.
    counts = [(i, i = 1, ranks)]
    call MPI_Allgatherv(part, rank + 1, MPI_INTEGER, gathered, counts, [(i*n, i = 0, ranks - 1)], MPI_INTEGER, &
        MPI_COMM_WORLD, ierr)
    call expect(all(gathered(rank*n + 1:rank*n + rank + 1) == part(1:rank + 1)), 'allgatherv')
    call MPI_Ibcast(y, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)

    call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a, i0, a)', 'fortran: ', all_wrong, ' wrong'
    call MPI_Finalize(ierr)
    if (all_wrong > 0) stop 1
contains
    subroutine expect(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (.not. holds) then
            wrong = wrong + 1
            print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
        end if
    end subroutine
end program
