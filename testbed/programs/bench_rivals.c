/*
 * Who takes part: algorithms of the MPI library through its control variable (MPI_T), and of the preload library by a
 * hint on a communicator. To a program without the preload library the hints mean nothing.
 *
 * Open MPI keeps the algorithm that its variable names when a communicator is made; MPICH looks at it in every call.
 */
#include "testbed/programs/bench_program.h"

#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI
static const char variable[] = "coll_tuned_allreduce_algorithm";
#else
static const char variable[] = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM";
#endif

static MPI_T_cvar_handle handle;
static bool open;

static bool open_variable(void)
{
    int threads, index, count;
    open = MPI_T_init_thread(MPI_THREAD_SINGLE, &threads) == MPI_SUCCESS &&
           MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS &&
           MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS;
    return open;
}

static void write_variable(int value)
{
    if (open)
        MPI_T_cvar_write(handle, &value);
}

static void make_hint(bench_rival_t *rival, const char *name)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "trivance_algorithm", name);
    MPI_Comm_set_info(rival->comm, info);
    MPI_Info_free(&info);
}

static bool read_type(const char *text, bench_rival_t *rival)
{
    rival->type = strcmp(text, "double") == 0 ? MPI_DOUBLE : MPI_INT;
    rival->op = strcmp(text, "max") == 0 ? MPI_MAX : MPI_SUM;
    return strcmp(text, "double") == 0 || strcmp(text, "max") == 0 || strcmp(text, "int") == 0;
}

const char *bench_rivals_make(char **word, int count, bench_rival_t *rival)
{
    if (!open_variable())
        return "the MPI library has no control variable for its AllReduce";
    for (int i = 0; i < count; i++) {
        char *kind = strtok(word[i], ","), *name = strtok(NULL, ","), *type = strtok(NULL, ",");
        const char *most = strtok(NULL, ",");
        if (!most || !read_type(type, &rival[i]))
            return "a rival is four words, KIND,NAME,TYPE,MOST";
        rival[i].most_bytes = strtoull(most, NULL, 10);
        rival[i].own = strcmp(kind, "own") == 0;
        rival[i].setting = rival[i].own ? atoi(name) : 0;
        write_variable(rival[i].setting);
        MPI_Comm_dup(MPI_COMM_WORLD, &rival[i].comm);
        if (!rival[i].own && strcmp(name, "auto") != 0)
            make_hint(&rival[i], name);
    }
    write_variable(0);
    return NULL;
}

void bench_rivals_free(bench_rival_t *rival, int count)
{
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&rival[i].comm);
}

void bench_rival_choose(const bench_rival_t *rival)
{
#ifdef OPEN_MPI
    (void)rival;
#else
    write_variable(rival->setting);
#endif
}
