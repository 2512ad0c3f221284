/*
 * Stands in for the one of Open MPI's internal headers that Debian does not ship, and ompi/op/op.h includes. Integers of
 * C and of Fortran have the same size wherever Open MPI is packaged.
 */
#ifndef TRIVANCE_COLL_FINT_2_INT_H
#define TRIVANCE_COLL_FINT_2_INT_H

#if OMPI_SIZEOF_FORTRAN_INTEGER != SIZEOF_INT
#error "INTEGER of Fortran is not an int here"
#endif

#define OMPI_INT_2_FINT(a) (a)
#define OMPI_FINT_2_INT(a) (a)

#endif
