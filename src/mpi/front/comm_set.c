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
typedef struct given {
    int32_t code;
    char torus[TRV_TORUS_TEXT_MAX], algorithm[TRV_ALGORITHM_NAME_MAX], sentence[600];
    int32_t has_torus, has_algorithm;
} given_t;

static void take_text(char *text, size_t size, int32_t *has, const char *from)
{
    *has = from != NULL;
    if (from)
        strncpy(text, from, size - 1);
}

/* Checks the arguments of rank 0 against the communicator. Only rank 0 calls it. */
static void check_arguments(const trv_mpi_state_t *state, given_t *given, const char *algorithm)
{
    trv_network_t network = {TRV_NETWORK};
    if (algorithm && strlen(algorithm) >= sizeof given->algorithm)
        given->code = trv_algorithm_check(algorithm);
    if (given->code == TRV_OK && given->has_torus)
        given->code = trv_mpi_state_torus(state, given->torus, &network.torus);
    else if (given->code == TRV_OK && !given->has_torus)
        given->code = trv_mpi_state_network(state, given->has_algorithm ? given->algorithm : NULL, &network);
    if (given->code == TRV_OK && given->has_algorithm)
        given->code = trv_mpi_algorithm_fits(&network, given->algorithm);
    if (given->code < 0)
        strncpy(given->sentence, trv_last_error(), sizeof given->sentence - 1);
}

int trv_mpi_set(trv_mpi_state_t *state, const char *torus, const char *algorithm, bool leave)
{
    static const char what[] = "set its torus or its algorithm";
    given_t mine = {.code = TRV_OK}, given;
    take_text(mine.torus, sizeof mine.torus, &mine.has_torus, torus);
    take_text(mine.algorithm, sizeof mine.algorithm, &mine.has_algorithm, algorithm);
    given = mine;
    if (state->rank == 0 && !leave)
        check_arguments(state, &given, algorithm);
    const trv_mpi_oob_t oob = trv_mpi_state_oob(state);
    int code = trv_mpi_oob_broadcast(&oob, &given, sizeof given, what);
    int64_t differs = strcmp(mine.torus, given.torus) != 0 || strcmp(mine.algorithm, given.algorithm) != 0 ||
                      mine.has_torus != given.has_torus || mine.has_algorithm != given.has_algorithm;
    int64_t first = differs ? state->ranks - state->rank : 0; /* the maximum identifies the lowest rank */
    if (code == MPI_SUCCESS)
        code = trv_mpi_oob_allreduce_max(&oob, &first, 1, what);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("comparing what the ranks set", code), MPI_ERR_OTHER;
    if (first > 0)
        return trv_fail(TRV_ERR_INVALID,
                        "rank %d of the communicator sets another torus or algorithm than rank 0 "
                        "('%.40s', '%.80s'); all ranks must set the same",
                        state->ranks - (int)first, given.has_torus ? given.torus : "none",
                        given.has_algorithm ? given.algorithm : "none"),
               MPI_ERR_ARG;
    if (given.code < 0)
        return trv_mpi_class(trv_fail(given.code, "%s", given.sentence));
    state->config.left = leave;
    return leave ? MPI_SUCCESS : trv_mpi_state_configure(state, torus, algorithm);
}
