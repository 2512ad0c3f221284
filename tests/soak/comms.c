/*
 * Ways to create a communicator. All ranks of the parent draw the same values, so all create the same kind; a rank that
 * is not a member of the parent draws the same values and creates none.
 */
#include "comms.h"

static int size_of(MPI_Comm comm)
{
    int size;
    MPI_Comm_size(comm, &size);
    return size;
}

static int rank_in(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

/* World rank of the first rank; of an intercommunicator, of the first of the local or the remote group. */
static int leader_of(MPI_Comm comm, bool remote)
{
    MPI_Group group, world;
    int first = 0, leader;
    if (remote)
        MPI_Comm_remote_group(comm, &group);
    else
        MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &first, world, &leader);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return leader;
}

/* ---- Ways to create a communicator ------------------------------------------------------------------------------- */

/* Hints for Trivance and for the MPI library. Each algorithm here works with any number of ranks, and adds in the
 * same order on all of them. */
static const char *const hint[][2] = {{"trivance_algorithm", "trivance-b"},
                                      {"trivance_algorithm", "ring"},
                                      {"trivance_algorithm", "planned"},
                                      {"trivance_algorithm", "mpi"},
                                      {"cb_nodes", "4"}};

static MPI_Comm dup_with_hint(MPI_Comm from, int drawn)
{
    MPI_Info info;
    MPI_Comm made;
    MPI_Info_create(&info);
    MPI_Info_set(info, hint[drawn % 5][0], hint[drawn % 5][1]);
    if (drawn % 2) {
        MPI_Comm_dup_with_info(from, info, &made);
    } else {
        MPI_Comm_dup(from, &made);
        MPI_Comm_set_info(made, info);
    }
    MPI_Info_free(&info);
    return made;
}

static MPI_Comm idup(MPI_Comm from, int drawn)
{
    MPI_Comm made;
    MPI_Request request;
    int done = 0;
    MPI_Comm_idup(from, &made, &request);
    while (drawn % 2 && !done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return made;
}

/* The ranks `low` to `high` in descending order; only these ranks call MPI_Comm_create_group. */
static MPI_Comm some_ranks(MPI_Comm from, int drawn)
{
    int size = size_of(from), low = drawn % size, high = low + drawn / size % (size - low);
    MPI_Group all, some;
    MPI_Comm made = MPI_COMM_NULL;
    bool alone = drawn / 64 % 2;
    MPI_Comm_group(from, &all);
    MPI_Group_range_incl(all, 1, (int[1][3]){{high, low, -1}}, &some);
    if (!alone)
        MPI_Comm_create(from, some, &made);
    else if (low <= rank_in(from) && rank_in(from) <= high)
        MPI_Comm_create_group(from, some, drawn % 7, &made);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    return made;
}

static MPI_Comm grid(MPI_Comm from, int drawn)
{
    int dims[2] = {0, 0}, periods[2] = {1, 1}, keep[2] = {drawn % 2, !(drawn % 2)};
    MPI_Comm whole, part;
    MPI_Dims_create(size_of(from), 2, dims);
    MPI_Cart_create(from, 2, dims, periods, drawn / 2 % 2, &whole);
    if (drawn / 4 % 2)
        return whole;
    MPI_Cart_sub(whole, keep, &part);
    MPI_Comm_free(&whole);
    return part;
}

/* An intercommunicator of two halves, or one communicator of both, with the upper half first or last. */
static MPI_Comm halves(MPI_Comm from, int drawn, bool *inter)
{
    int size = size_of(from), rank = rank_in(from), upper = rank >= size / 2;
    MPI_Comm half, facing, merged;
    MPI_Comm_split(from, upper, rank, &half);
    MPI_Intercomm_create(half, 0, from, upper ? 0 : size / 2, drawn % 7, &facing);
    MPI_Comm_free(&half);
    *inter = drawn / 8 % 2;
    if (*inter)
        return facing;
    MPI_Intercomm_merge(facing, drawn / 16 % 2 ? upper : !upper, &merged);
    MPI_Comm_free(&facing);
    return merged;
}

static MPI_Comm split(MPI_Comm from, int drawn)
{
    int rank = rank_in(from), color = drawn % 4 == 0 ? 0 : drawn % 4 == 1 ? rank % 2 : rank >= drawn / 4 % 4;
    MPI_Comm made;
    if (drawn % 4 == 3 && rank == 0)
        color = MPI_UNDEFINED;
    MPI_Comm_split(from, color, drawn / 16 % 2 ? rank : -rank, &made);
    return made;
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

static MPI_Comm make(const comms_t *comms, MPI_Comm from, int kind, int drawn, bool *inter)
{
    MPI_Comm made;
    if (kind >= 4 && *inter)
        kind = drawn % 4; /* these kinds require an intracommunicator */
    if (kind == 9 && size_of(from) == 1)
        kind = 0;
    if (kind == 2 && comms->plain)
        kind = 0;
    switch (kind) {
    case 2: return dup_with_hint(from, drawn);
    case 3: return idup(from, drawn);
    case 4:
    case 5: return split(from, drawn);
    case 6:
    case 7: return some_ranks(from, drawn);
    case 8: return grid(from, drawn);
    case 9: return halves(from, drawn, inter);
    default: MPI_Comm_dup(from, &made); return made;
    }
}

void comms_make(comms_t *comms, int slot, draw_t *draw)
{
    comm_t *at = &comms->slot[slot], home = {.comm = comms->home};
    int parent = draw_below(draw, 2 * SLOTS), kind = draw_below(draw, 10), drawn = draw_below(draw, 1 << 20);
    const comm_t *from = parent < SLOTS && parent != slot && !comms->whole ? &comms->slot[parent] : &home;
    if (comms->whole)
        kind %= 4;
    *at = (comm_t){.comm = MPI_COMM_NULL};
    if (from->comm == MPI_COMM_NULL)
        return;
    at->inter = from->inter;
    at->comm = make(comms, from->comm, kind, drawn, &at->inter);
    if (at->comm == MPI_COMM_NULL)
        return;
    at->leader = leader_of(at->comm, false);
    at->giver_leader = leader_of(at->comm, at->inter);
    comms->made++;
}

void comms_drop(comms_t *comms, int slot)
{
    if (comms->slot[slot].comm != MPI_COMM_NULL)
        MPI_Comm_free(&comms->slot[slot].comm);
}

void comms_begin(comms_t *comms)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comms->home);
    comms->made = 0;
    for (int i = 0; i < SLOTS; i++)
        comms->slot[i] = (comm_t){.comm = MPI_COMM_NULL};
}

void comms_end(comms_t *comms)
{
    for (int i = 0; i < SLOTS; i++)
        comms_drop(comms, i);
    MPI_Comm_free(&comms->home);
}
