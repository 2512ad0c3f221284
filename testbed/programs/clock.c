/*
 * libtrivance_testbed_clock.<mpi>.so is preloaded before the libraries of an unmodified MPI program. It records when
 * every rank's MPI_Init returned, when its MPI_Finalize began, and how long the rank was in MPI_Allreduce in between. A
 * line per rank, in nanoseconds of CLOCK_MONOTONIC (all ranks are on one machine), is appended to the file that
 * TESTBED_TIMES names:
 *
 *     BEGIN END ALLREDUCE CALLS
 *
 * Each call is forwarded to the next library: the drop-in, if it is preloaded, and the MPI library. Calls from Fortran
 * arrive by the PMPI_ names. Of nested calls the outermost counts.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mpi.h>

#include "base/clock.h"
#include "testbed/emulator/names.h"

#define EXPORT __attribute__((visibility("default")))

static double begin_ns, allreduce_ns;
static long calls;
static bool recorded;
static _Thread_local int depth;

/* ---- MPI_Init: of nested calls the one that returns last is the outermost ---------------------------------------- */

static int init(const char *name, int *argc, char ***argv)
{
    int (*next)(int *, char ***);
    *(void **)&next = dlsym(RTLD_NEXT, name);
    int code = next(argc, argv);
    begin_ns = trv_now_ns();
    return code;
}

static int init_thread(const char *name, int *argc, char ***argv, int wanted, int *provided)
{
    int (*next)(int *, char ***, int, int *);
    *(void **)&next = dlsym(RTLD_NEXT, name);
    int code = next(argc, argv, wanted, provided);
    begin_ns = trv_now_ns();
    return code;
}

EXPORT int MPI_Init(int *argc, char ***argv) { return init("MPI_Init", argc, argv); }

EXPORT int PMPI_Init(int *argc, char ***argv) { return init("PMPI_Init", argc, argv); }

EXPORT int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
    return init_thread("MPI_Init_thread", argc, argv, wanted, provided);
}

EXPORT int PMPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
    return init_thread("PMPI_Init_thread", argc, argv, wanted, provided);
}

/* ---- MPI_Allreduce ----------------------------------------------------------------------------------------------- */

typedef int allreduce_t(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

static int allreduce(allreduce_t *next, const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm)
{
    double start_ns = trv_now_ns();
    depth++;
    int code = next(send, receive, count, type, op, comm);
    if (--depth == 0) {
        allreduce_ns += trv_now_ns() - start_ns;
        calls++;
    }
    return code;
}

EXPORT int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static allreduce_t *next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "MPI_Allreduce");
    return allreduce(next, send, receive, count, type, op, comm);
}

EXPORT int PMPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static allreduce_t *next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Allreduce");
    return allreduce(next, send, receive, count, type, op, comm);
}

/* ---- MPI_Finalize ------------------------------------------------------------------------------------------------ */

static void tell(void)
{
    char line[128];
    double end_ns = trv_now_ns();
    const char *path = getenv(TB_TIMES_VARIABLE);
    int file = path && !recorded ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    int length = snprintf(line, sizeof line, "%.0f %.0f %.0f %ld\n", begin_ns, end_ns, allreduce_ns, calls);
    recorded = true;
    if (file < 0)
        return;
    if (write(file, line, (size_t)length) != length)
        perror(path);
    close(file);
}

static int finalize(const char *name)
{
    int (*next)(void);
    *(void **)&next = dlsym(RTLD_NEXT, name);
    tell();
    return next();
}

EXPORT int MPI_Finalize(void) { return finalize("MPI_Finalize"); }

EXPORT int PMPI_Finalize(void) { return finalize("PMPI_Finalize"); }
