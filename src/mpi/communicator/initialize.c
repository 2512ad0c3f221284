/*
 * Communicator initialization, in two exchanges between its ranks:
 *
 *     1   the ranks compare version, settings and the job that they belong to; each rank proposes the lowest block of
 *         context ids that is free in its process, and the maximum is chosen
 *     2   each rank sends its rank in the domain, its torus coordinate, and whether the chosen block is taken in
 *         its process
 *
 * If the block is taken on any rank, both exchanges are repeated with higher blocks. A duplicate whose ranks all have
 * inherited the rest of the state needs only the first exchange, provided that all ranks propose the same block. A
 * proposed block is reserved, so that threads that initialize other communicators at the same time do not use it.
 * tests/models/agreement.pml proves that the ranks of a communicator choose the same context id, and that no two
 * communicators of a process have the same one.
 *
 * Memory is allocated before the first exchange, because allocation can fail on a single rank; the exchange reports it.
 */
#include "mpi/communicator/initialize.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/communicator/compare.h"
#include "mpi/communicator/exchange.h"
#include "mpi/communicator/world.h"
#include "mpi/settings/job_settings.h"
#include "transport/mpi/mpi_error.h"

static const char FIRST_CALL[] = "make the first collective call on it";

#define FIRST_BLOCK 1 /* of a new domain; block 0 is reserved */

/* The words of the first exchange. All ranks receive the maximum of each. */
enum {
    UNABLE,     /* this rank has no memory */
    FAULT,      /* its settings have a fault */
    NO_FAULT,   /* its settings have no fault */
    NO_JOB,     /* it has no domain for all ranks of the job */
    NO_NETWORK, /* the network of the job is not known on this rank yet */
    FRESH,      /* it has not inherited the state */
    BLOCK,
    BLOCK_COMPLEMENT,
    DIGEST,
    DIGEST_COMPLEMENT,
    JOB,
    JOB_COMPLEMENT,
    WORDS
};

/* The memory that a rank allocates before the exchanges. */
typedef struct candidate {
    trv_mpi_members_t *members;
    trv_mpi_context_ids_t *context_ids;
    trv_mpi_topology_record_t *record;
    int rank, ranks;
    bool fresh; /* this rank (after the exchange: any rank) has not inherited the state */
} candidate_t;

static void candidate_clear(candidate_t *candidate)
{
    trv_mpi_members_release(candidate->members);
    if (candidate->context_ids)
        free(candidate->context_ids->duplicate);
    free(candidate->context_ids);
    free(candidate->record);
}

static bool candidate_init(candidate_t *candidate, MPI_Comm comm)
{
    *candidate = (candidate_t){.rank = 0};
    PMPI_Comm_rank(comm, &candidate->rank);
    PMPI_Comm_size(comm, &candidate->ranks);
    candidate->members = trv_mpi_members_create(candidate->rank, candidate->ranks);
    candidate->context_ids = calloc(1, sizeof *candidate->context_ids);
    candidate->record = calloc((size_t)candidate->ranks, sizeof *candidate->record);
    if (candidate->context_ids)
        candidate->context_ids->duplicate = calloc(TRV_MPI_BLOCK_IDS - 1, sizeof *candidate->context_ids->duplicate);
    bool have = candidate->context_ids && candidate->context_ids->duplicate && candidate->record;
    if (!have)
        trv_fail_memory();
    return candidate->members && have;
}

/* ---- The first exchange ------------------------------------------------------------------------------------------ */

static int fail_with(int class, int code, const char *sentence)
{
    trv_fail(code, "%s", sentence);
    return class;
}

/* Evaluates the result of the first exchange. MPI_SUCCESS, or the same error class on all ranks. */
static int evaluate_exchange(MPI_Comm comm, const int64_t *word, bool able)
{
    if (word[UNABLE])
        return able ? fail_with(MPI_ERR_NO_MEM, TRV_ERR_MEMORY,
                                "another rank has no memory for the communicator's state")
                    : MPI_ERR_NO_MEM;
    if (!trv_word_agrees(&word[DIGEST]))
        return trv_mpi_explain_difference(comm), MPI_ERR_ARG;
    if (word[FAULT] && word[NO_FAULT]) /* with equal settings: a rank had no memory to read them */
        return fail_with(MPI_ERR_NO_MEM, TRV_ERR_MEMORY, "a rank had no memory for its settings");
    if (!word[NO_JOB] && !trv_word_agrees(&word[JOB]))
        return fail_with(MPI_ERR_COMM, TRV_ERR_UNSUPPORTED, "its ranks do not all belong to one MPI_COMM_WORLD");
    return MPI_SUCCESS;
}

/* Reserves the block that was chosen. *block is its number, or minus its number if it is taken in this process.
 * MPI_SUCCESS, or MPI_ERR_OTHER if no block is left. */
static int reserve_block(trv_mpi_domain_t *job, int agreed, int proposed, int *block)
{
    if (agreed == job->blocks)
        return fail_with(MPI_ERR_OTHER, TRV_ERR_UNSUPPORTED,
                         "all message tags of this MPI library are allocated to other communicators; free "
                         "communicators that are no longer used");
    *block = agreed == proposed || trv_mpi_block_reserve(job, agreed) ? agreed : -agreed;
    return MPI_SUCCESS;
}

/* Performs the first exchange. *block: see reserve_block; 0 if the job has no domain yet. *same: all ranks proposed
 * this block, so it is free on all of them. On failure no block is reserved. */
static int compare_and_propose(MPI_Comm comm, candidate_t *candidate, bool able, int rejected, int *block, bool *same)
{
    trv_mpi_domain_t *job = trv_mpi_job_domain();
    int proposed = job && able ? trv_mpi_block_propose(job, rejected) : 0;
    int64_t word[WORDS] =
        {[UNABLE] = !able, [NO_JOB] = !job, [NO_NETWORK] = !trv_mpi_world(), [FRESH] = candidate->fresh};
    word[FAULT] = trv_mpi_settings()->fault != NULL;
    word[NO_FAULT] = !word[FAULT];
    trv_word_pair(&word[BLOCK], (uint64_t)proposed);
    trv_word_pair(&word[DIGEST], trv_mpi_settings_digest());
    trv_word_pair(&word[JOB], job ? (uint64_t)job->id : 0);
    *block = 0;
    int code = trv_mpi_allreduce_max(comm, word, WORDS, FIRST_CALL);
    if (code != MPI_SUCCESS)
        code = (trv_mpi_transport_error("comparing the ranks' settings", code), MPI_ERR_OTHER);
    else
        code = evaluate_exchange(comm, word, able);
    if (code == MPI_SUCCESS && word[NO_NETWORK])
        code = trv_mpi_world_discover(comm);
    bool agreed = code == MPI_SUCCESS && !word[NO_JOB];
    candidate->fresh = word[FRESH];
    *same = trv_word_agrees(&word[BLOCK]);
    if (proposed > 0 && !(agreed && word[BLOCK] == proposed))
        trv_mpi_block_release(job, proposed);
    return agreed ? reserve_block(job, (int)word[BLOCK], proposed, block) : code;
}

/* ---- The second exchange ----------------------------------------------------------------------------------------- */

static trv_mpi_topology_record_t own_record(const trv_mpi_domain_t *domain, bool taken)
{
    const trv_mpi_world_t *world = trv_mpi_world();
    trv_mpi_topology_record_t record = {.rank = domain->rank, .code = TRV_ERR_STATE, .taken = taken};
    if (world) {
        record.code = world->code;
        record.coordinate = world->coordinate;
        record.digest = world->digest;
    }
    return record;
}

/* Performs the second exchange. Sets *anywhere if the block is taken on any rank. */
static int exchange_records(MPI_Comm comm, candidate_t *candidate, const trv_mpi_domain_t *domain, bool taken,
                            bool *anywhere)
{
    trv_mpi_topology_record_t mine = own_record(domain, taken);
    int code = trv_mpi_allgather(comm, &mine, candidate->record, sizeof mine, FIRST_CALL);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("exchanging the ranks' coordinates", code), MPI_ERR_OTHER;
    *anywhere = false;
    bool same = true;
    for (int r = 0; r < candidate->ranks; r++) {
        *anywhere = *anywhere || candidate->record[r].taken;
        candidate->members->of[r] = candidate->record[r].rank;
        same = same && candidate->record[r].rank == r;
    }
    if (same && !*anywhere) {
        free(candidate->members->of);
        candidate->members->of = NULL;
    }
    return MPI_SUCCESS;
}

/* ---- Initialization ---------------------------------------------------------------------------------------------- */

/* Creates a domain for a communicator if the job has none yet, which happens with the API only; it becomes the job's
 * domain if the communicator has all ranks. Under the drop-in the job's domain is created in MPI_Init or never. */
static int create_domain(MPI_Comm comm, trv_mpi_domain_t **domain)
{
    if (trv_mpi_is_drop_in())
        return fail_with(MPI_ERR_OTHER, TRV_ERR_STATE, "Trivance did not intercept MPI_Init on a rank");
    int code = trv_mpi_domain_create(domain, comm);
    if (code != MPI_SUCCESS)
        return code;
    trv_mpi_block_reserve(*domain, FIRST_BLOCK); /* before other threads can use the domain */
    if (comm == MPI_COMM_WORLD)
        trv_mpi_job_domain_set(*domain);
    return MPI_SUCCESS;
}

static int find_block(MPI_Comm comm, candidate_t *candidate, bool able, trv_mpi_domain_t **domain, int *block)
{
    bool taken = true;
    int code = MPI_SUCCESS, rejected = 0;
    while (code == MPI_SUCCESS && taken) {
        bool taken_here = false, same = false;
        code = compare_and_propose(comm, candidate, able, rejected, block, &same);
        if (code == MPI_SUCCESS && *block == 0 && !*domain) {
            code = create_domain(comm, domain);
            *block = code == MPI_SUCCESS ? FIRST_BLOCK : 0;
        } else if (code == MPI_SUCCESS) {
            *domain = trv_mpi_job_domain();
            taken_here = *block < 0;
            *block = abs(*block);
        }
        if (code == MPI_SUCCESS && !candidate->fresh && same)
            break;
        if (code == MPI_SUCCESS)
            code = exchange_records(comm, candidate, *domain, taken_here, &taken);
        if (*domain && !taken_here && *block > 0 && (code != MPI_SUCCESS || taken))
            trv_mpi_block_release(*domain, *block);
        rejected = *block;
    }
    return code;
}

static void set_block(trv_mpi_state_t *state, candidate_t *candidate, trv_mpi_domain_t *domain, int block)
{
    trv_mpi_domain_hold(domain);
    candidate->context_ids->domain = domain;
    candidate->context_ids->block = block;
    atomic_init(&candidate->context_ids->references, 1);
    state->ids.context_ids = candidate->context_ids;
    candidate->context_ids = NULL;
    trv_mpi_state_init_positions(state);
}

static void set_members(trv_mpi_state_t *state, candidate_t *candidate, trv_mpi_domain_t *domain, int block)
{
    trv_mpi_domain_hold(domain);
    candidate->members->domain = domain;
    state->rank = candidate->rank;
    state->ranks = candidate->ranks;
    state->members = candidate->members;
    /* The tag is one of the block's last context id, which no communicator or request uses yet. */
    trv_mpi_wiring_init(state->members->wiring, state->members, candidate->record, state->user,
                        (block * TRV_MPI_BLOCK_IDS + TRV_MPI_BLOCK_IDS - 1) * TRV_MPI_CONTEXT_TAGS);
    free(state->members->scratch);
    state->members->scratch = NULL;
    candidate->members = NULL;
}

/* Drops the state that this rank has inherited, because another rank has not inherited it. */
static void drop_inherited(trv_mpi_state_t *state)
{
    trv_cache_clear(&state->decisions);
    trv_mpi_members_release(state->members);
    state->members = NULL;
    state->config.configured = state->config.algorithm_named = state->config.left_to_library =
        state->config.out_of_memory = false;
}

int trv_mpi_communicator_init(MPI_Comm comm, trv_mpi_state_t *state)
{
    candidate_t candidate;
    trv_mpi_domain_t *domain = NULL;
    int block = 0;
    bool able = candidate_init(&candidate, comm) && state;
    candidate.fresh = !state || !state->members;
    int code = find_block(comm, &candidate, able, &domain, &block);
    if (code == MPI_SUCCESS) {
        if (candidate.fresh && state->members)
            drop_inherited(state);
        set_block(state, &candidate, domain, block);
        if (candidate.fresh)
            set_members(state, &candidate, domain, block);
    }
    if (domain && domain != trv_mpi_job_domain()) /* the members and the context ids hold references to it now */
        trv_mpi_domain_release(domain);
    candidate_clear(&candidate);
    return code;
}

/* ---- More context ids -------------------------------------------------------------------------------------------- */

static int allocate_block(trv_mpi_state_t *state, trv_mpi_context_ids_t **agreed)
{
    static const char what[] = "create a plan or a persistent request";
    trv_mpi_domain_t *domain = state->members->domain;
    const trv_mpi_oob_t oob = trv_mpi_state_oob(state);
    trv_mpi_context_ids_t *context_ids = calloc(1, sizeof *context_ids);
    int rejected = 0;
    for (;;) {
        int proposed = context_ids ? trv_mpi_block_propose(domain, rejected) : domain->blocks;
        int64_t word = proposed;
        if (trv_mpi_oob_allreduce_max(&oob, &word, 1, what) != MPI_SUCCESS)
            word = domain->blocks;
        int block = (int)word;
        if (block != proposed)
            trv_mpi_block_release(domain, proposed);
        if (block == domain->blocks)
            break;
        int64_t taken = block != proposed && !trv_mpi_block_reserve(domain, block), anywhere = taken;
        int code = trv_mpi_oob_allreduce_max(&oob, &anywhere, 1, what);
        if (code == MPI_SUCCESS && !anywhere) {
            *context_ids = (trv_mpi_context_ids_t){.domain = domain, .block = block};
            atomic_init(&context_ids->references, 1);
            trv_mpi_domain_hold(domain);
            *agreed = context_ids;
            return MPI_SUCCESS;
        }
        if (!taken)
            trv_mpi_block_release(domain, block);
        rejected = block;
    }
    free(context_ids);
    return fail_with(MPI_ERR_OTHER, TRV_ERR_UNSUPPORTED, "no message tags are left for it, or a rank has no memory");
}

int trv_mpi_state_allocate_position(trv_mpi_state_t *state, trv_mpi_context_ids_t **context_ids, int *tag)
{
    if (!state->ids.extra || state->ids.extra_allocated == TRV_MPI_BLOCK_IDS * TRV_MPI_POSITIONS) {
        trv_mpi_context_ids_t *fresh;
        int code = allocate_block(state, &fresh);
        if (code != MPI_SUCCESS)
            return code;
        trv_mpi_context_ids_release(state->ids.extra);
        state->ids.extra = fresh;
        state->ids.extra_allocated = 0;
    }
    *context_ids = state->ids.extra;
    atomic_fetch_add_explicit(&state->ids.extra->references, 1, memory_order_relaxed);
    *tag = trv_mpi_context_ids_tag(state->ids.extra, state->ids.extra_allocated++);
    return MPI_SUCCESS;
}
