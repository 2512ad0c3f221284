/*
 * Functions and macros that all functions of Open MPI's Fortran bindings use.
 *
 * Fortran passes addresses. In mpi_f08 a handle is a type that consists of one integer, and ierror may be absent
 * (NULL). Calls that fall back go to the pmpi_ function unchanged.
 */
#ifndef TRIVANCE_MPI_PRELOAD_FORTRAN_H
#define TRIVANCE_MPI_PRELOAD_FORTRAN_H

#include <stdbool.h>

#include <mpi.h>

#include "mpi/front/intercept.h"

/* Finds a function of Open MPI, or of a profiling library, and stores its address in `function`. */
void trv_fortran_find(const char *name, void *function);

/* Declares `next`, the function that the function `name` of this library replaces. */
#define TRV_FORTRAN_NEXT(name)                                                                                         \
    static __typeof__(name) *_Atomic found;                                                                            \
    __typeof__(name) *next = found;                                                                                    \
    if (!next) {                                                                                                       \
        trv_fortran_find("p" #name, &next);                                                                            \
        found = next;                                                                                                  \
    }

/* Defines the other spellings of the function `name`_: those that gfortran and other compilers call for mpif.h and `use
 * mpi`, and the one for `use mpi_f08`. */
#define TRV_FORTRAN_ALSO(other, name) extern __typeof__(name) other __attribute__((alias(#name)))
#define TRV_FORTRAN_SPELLINGS(name, NAME)                                                                              \
    TRV_FORTRAN_ALSO(name, name##_);                                                                                   \
    TRV_FORTRAN_ALSO(name##__, name##_);                                                                               \
    TRV_FORTRAN_ALSO(name##_f08_, name##_);                                                                            \
    TRV_FORTRAN_ALSO(NAME, name##_)

/* Whether calls may be dispatched. If MPI_IN_PLACE cannot be recognized, all of them fall back. */
bool trv_fortran_is_active(void);

/* The buffers of C for those of Fortran: MPI_IN_PLACE and MPI_BOTTOM have other addresses. */
const void *trv_fortran_input(const void *buffer);
void *trv_fortran_output(void *buffer);

/* Sets the program's ierror, if it is present. */
void trv_fortran_set_error(MPI_Fint *ierror, MPI_Fint code);

#endif
