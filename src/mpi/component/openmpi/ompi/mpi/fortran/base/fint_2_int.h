/*
 * Replaces the one internal header of Open MPI that Debian does not ship and that ompi/op/op.h includes. It requires
 * that integers of C and of Fortran have the same size, as they have in packages of Open MPI.
 */
#ifndef TRIVANCE_COLL_FINT_2_INT_H
#define TRIVANCE_COLL_FINT_2_INT_H

#if OMPI_SIZEOF_FORTRAN_INTEGER != SIZEOF_INT
#error "INTEGER of Fortran is not an int here"
#endif

#define OMPI_INT_2_FINT(a) (a)
#define OMPI_FINT_2_INT(a) (a)

#endif
