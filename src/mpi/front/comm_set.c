/*
 * TRV_Comm_set: rank 0 checks its torus and algorithm and broadcasts both with the result of the check; then all ranks
 * compare them with their own arguments.
 */
#include "mpi/front/comm_set.h"

#include <string.h>

#include "base/error.h"
#include "collective/algorithm_names.h"
#include "mpi/communicator/exchange.h"
#include "transport/mpi/mpi_error.h"

/* The arguments of rank 0 and the result of its check: `code` is TRV_OK or an error code, with its message in
 * `sentence`. */
typedef struct comm_arguments {
    int32_t code;
    char torus[TRV_TORUS_TEXT_MAX], algorithm[TRV_ALGORITHM_NAME_MAX], sentence[600];
    int32_t has_torus, has_algorithm;
} comm_arguments_t;

static void copy_text(char *text, size_t size, int32_t *has, const char *from)
{
    *has = from != NULL;
    if (from)
        strncpy(text, from, size - 1);
}

/* Checks the arguments of rank 0 against the communicator. Only rank 0 calls it. */
static void check_arguments(const trv_mpi_state_t *state, comm_arguments_t *first, const char *algorithm)
{
    trv_network_t network = {TRV_NETWORK};
    if (algorithm && strlen(algorithm) >= sizeof first->algorithm)
        first->code = trv_algorithm_check(algorithm);
    if (first->code == TRV_OK && first->has_torus)
        first->code = trv_mpi_state_torus(state, first->torus, &network.torus);
    else if (first->code == TRV_OK && !first->has_torus)
        first->code = trv_mpi_state_network(state, first->has_algorithm ? first->algorithm : NULL, &network);
    if (first->code == TRV_OK && first->has_algorithm)
        first->code = trv_mpi_algorithm_fits(&network, first->algorithm);
    if (first->code < 0)
        strncpy(first->sentence, trv_last_error(), sizeof first->sentence - 1);
}

int trv_mpi_comm_set(trv_mpi_state_t *state, const char *torus, const char *algorithm, bool leave_to_library)
{
    static const char what[] = "set its torus or its algorithm";
    comm_arguments_t mine = {.code = TRV_OK}, first;
    copy_text(mine.torus, sizeof mine.torus, &mine.has_torus, torus);
    copy_text(mine.algorithm, sizeof mine.algorithm, &mine.has_algorithm, algorithm);
    first = mine;
    if (state->rank == 0 && !leave_to_library)
        check_arguments(state, &first, algorithm);
    const trv_mpi_oob_t oob = trv_mpi_state_oob(state);
    int code = trv_mpi_oob_broadcast(&oob, &first, sizeof first, what);
    int64_t differs = strcmp(mine.torus, first.torus) != 0 || strcmp(mine.algorithm, first.algorithm) != 0 ||
                      mine.has_torus != first.has_torus || mine.has_algorithm != first.has_algorithm;
    int64_t lowest = differs ? state->ranks - state->rank : 0; /* the maximum identifies the lowest rank */
    if (code == MPI_SUCCESS)
        code = trv_mpi_oob_allreduce_max(&oob, &lowest, 1, what);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("comparing the ranks' arguments of TRV_Comm_set", code), MPI_ERR_OTHER;
    if (lowest > 0)
        return trv_fail(TRV_ERR_INVALID,
                        "rank %d of the communicator sets another torus or algorithm than rank 0 ('%.40s', '%.80s'); "
                        "all ranks must pass the same arguments",
                        state->ranks - (int)lowest, first.has_torus ? first.torus : "none",
                        first.has_algorithm ? first.algorithm : "none"),
               MPI_ERR_ARG;
    if (first.code < 0)
        return trv_mpi_class(trv_fail(first.code, "%s", first.sentence));
    state->config.left_to_library = leave_to_library;
    return leave_to_library ? MPI_SUCCESS : trv_mpi_state_configure(state, torus, algorithm);
}
