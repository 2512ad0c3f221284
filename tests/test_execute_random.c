/*
 * Compares the executor with a simple interpreter on random programs: registers overwritten while they are being sent,
 * copies that outlive their originals, messages of several parts and whole registers, units in any order. The result
 * must be what the registers define, wherever the executor places values.
 *
 * Every unit's content is a combination of the ranks' contributions, so the interpreter stores coefficients.
 */
#include "test_execute_world.h"

#include "schedule/relay.h"

enum { RANKS_MAX = 5, REGISTERS_MAX = 4, UNITS_MAX = 15, STREAMS_MAX = 2 };

typedef struct content {
    bool bound;
    uint32_t weight[RANKS_MAX]; /* coefficient of each rank's contribution */
} content_t;

typedef content_t state_t[RANKS_MAX][REGISTERS_MAX][UNITS_MAX];

typedef struct program {
    trv_schedule_t *schedule;
    trv_collective_t collective;
    int ranks, registers, units, streams, steps;
    int64_t position[STREAMS_MAX * UNITS_MAX];
    int weight[STREAMS_MAX], weights; /* weight of each stream, and their sum */
    state_t state[STREAMS_MAX];
} program_t;

static uint64_t seed;

static int random_below(int limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)limit);
}

static int owner(const program_t *p, int unit)
{
    return p->collective == TRV_ALLREDUCE ? -1 : unit / (p->units / p->ranks);
}

static void shuffle_positions(program_t *p)
{
    for (int s = 0; s < p->streams; s++) {
        int64_t *position = p->position + s * p->units;
        for (int u = 0; u < p->units; u++)
            position[u] = u;
        for (int u = p->units - 1; p->collective == TRV_ALLREDUCE && u > 0; u--) {
            int other = random_below(u + 1);
            int64_t swapped = position[u];
            position[u] = position[other];
            position[other] = swapped;
        }
    }
}

static void begin_registers(program_t *p)
{
    for (int s = 0; s < p->streams; s++)
        for (int r = 0; r < p->ranks; r++)
            for (int u = 0; u < p->units; u++) {
                content_t *content = &p->state[s][r][0][u];
                content->bound = p->collective != TRV_ALLGATHER || owner(p, u) == r;
                content->weight[r] = content->bound;
            }
}

/* ---- Random steps ------------------------------------------------------------------------------------------------ */

/* Chooses some bound units of a register, none of which the receiver gets twice in the step. */
static bool choose_units(program_t *p, int s, int from, int to, trv_explicit_part_t *part, int64_t *unit, state_t taken)
{
    part->from_reg = random_below(p->registers);
    part->to_reg = random_below(p->registers);
    part->unit = unit;
    for (int u = 0; u < p->units; u++)
        if (p->state[s][from][part->from_reg][u].bound && !taken[to][part->to_reg][u].bound && random_below(3))
            unit[part->count++] = u;
    return part->count > 0;
}

/* Chooses one or two whole registers. */
static bool choose_registers(program_t *p, int s, int from, int to, trv_explicit_part_t *part, int64_t *unit,
                             state_t taken)
{
    const int registers = 1 + random_below(2);
    if (registers > p->registers)
        return false;
    part->from_reg = random_below(p->registers - registers + 1);
    part->to_reg = random_below(p->registers - registers + 1);
    part->slots = true;
    part->unit = unit;
    part->count = registers;
    for (int g = 0; g < registers; g++) {
        unit[g] = g;
        for (int u = 0; u < p->units; u++)
            if (!p->state[s][from][part->from_reg + g][u].bound || taken[to][part->to_reg + g][u].bound)
                return false;
    }
    return true;
}

static void transfer(program_t *p, int s, int from, int to, const trv_explicit_part_t *part, state_t before,
                     state_t taken)
{
    for (int64_t i = 0; i < part->count; i++)
        for (int u = 0; u < (part->slots ? p->units : 1); u++) {
            int unit = part->slots ? u : (int)part->unit[i], shift_by = part->slots ? (int)part->unit[i] : 0;
            p->state[s][to][part->to_reg + shift_by][unit] = before[from][part->from_reg + shift_by][unit];
            taken[to][part->to_reg + shift_by][unit].bound = true;
        }
}

/* Adds a random message. p->state is the receivers' state after the step, `before` the senders' state before it. */
static void random_message(program_t *p, int s, int step, state_t before, state_t taken)
{
    const int from = random_below(p->ranks), to = (from + 1 + random_below(p->ranks - 1)) % p->ranks;
    trv_explicit_part_t part[2];
    int64_t unit[2][UNITS_MAX];
    int parts = 0;
    state_t saved;
    memcpy(saved, p->state[s], sizeof saved);
    memcpy(p->state[s], before, sizeof saved); /* choose from the state at the start of the step */
    state_t now;
    memcpy(now, saved, sizeof now);
    for (int i = 0; i < 2; i++) {
        memset(&part[parts], 0, sizeof part[parts]);
        bool chosen = random_below(4) ? choose_units(p, s, from, to, &part[parts], unit[parts], taken)
                                      : choose_registers(p, s, from, to, &part[parts], unit[parts], taken);
        if (!chosen)
            continue;
        memcpy(p->state[s], now, sizeof now);
        transfer(p, s, from, to, &part[parts++], before, taken);
        memcpy(now, p->state[s], sizeof now);
        memcpy(p->state[s], before, sizeof saved);
    }
    memcpy(p->state[s], now, sizeof now);
    if (parts)
        assert_int_equal(trv_explicit_message(p->schedule, s, step, from, to, 0, -1, TRV_SEND | TRV_RECEIVE, parts,
                                              part),
                         0);
}

static void random_combine(program_t *p, int s, int step)
{
    const int rank = random_below(p->ranks), dst = random_below(p->registers);
    int source[REGISTERS_MAX], sources = 0;
    int64_t unit[UNITS_MAX], count = 0;
    for (int g = 0; g < p->registers; g++) /* in a random order */
        source[g] = g;
    for (int g = p->registers - 1; g > 0; g--) {
        int other = random_below(g + 1), swapped = source[g];
        source[g] = source[other];
        source[other] = swapped;
    }
    sources = 1 + random_below(p->registers);
    for (int u = 0; u < p->units; u++) {
        bool bound = random_below(4) > 0;
        for (int g = 0; g < sources; g++)
            bound = bound && p->state[s][rank][source[g]][u].bound;
        if (!bound)
            continue;
        unit[count++] = u;
        content_t sum = {.bound = true};
        for (int g = 0; g < sources; g++)
            for (int q = 0; q < p->ranks; q++)
                sum.weight[q] += p->state[s][rank][source[g]][u].weight[q];
        p->state[s][rank][dst][u] = sum;
    }
    if (count)
        assert_int_equal(trv_explicit_combine(p->schedule, s, step, rank, dst, sources, source, count, unit), 0);
}

static void random_step(program_t *p, int s, int step)
{
    state_t before, taken;
    memcpy(before, p->state[s], sizeof before);
    memset(taken, 0, sizeof taken);
    for (int m = random_below(2 * p->ranks + 1); p->ranks > 1 && m > 0; m--)
        random_message(p, s, step, before, taken);
    for (int c = random_below(2 * p->ranks + 1); c > 0; c--)
        random_combine(p, s, step);
}

/* In the last step of an AllGather, sends every rank what it still lacks. */
static void complete_allgather(program_t *p, int s, int step)
{
    for (int r = 0; r < p->ranks; r++)
        for (int u = 0; u < p->units; u++) {
            const int64_t unit = u;
            if (p->state[s][r][0][u].bound)
                continue;
            p->state[s][r][0][u] = p->state[s][owner(p, u)][0][u];
            trv_explicit_part_t part = {.count = 1, .unit = &unit};
            assert_int_equal(trv_explicit_message(p->schedule, s, step, owner(p, u), r, 0, -1, TRV_SEND | TRV_RECEIVE,
                                                  1, &part),
                             0);
        }
}

static void program_create(program_t *p, uint64_t number)
{
    memset(p, 0, sizeof *p);
    seed = number * 7919;
    p->collective = (trv_collective_t)random_below(3);
    p->ranks = 1 + random_below(RANKS_MAX);
    p->registers = 1 + random_below(REGISTERS_MAX);
    p->units = p->collective == TRV_ALLREDUCE ? 1 + random_below(8) : p->ranks * (1 + random_below(3));
    p->streams = 1 + random_below(STREAMS_MAX);
    p->steps = 1 + random_below(7);
    shuffle_positions(p);
    p->weights = 0;
    for (int s = 0; s < p->streams; s++)
        p->weights += p->weight[s] = 1 + random_below(5);
    trv_torus_t torus;
    assert_int_equal(trv_torus_init(&torus, 1, &p->ranks), 0);
    const trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS,    .collective = p->collective, .streams = p->streams,
                                            .steps = p->steps,       .registers = p->registers,   .units = p->units,
                                            .messages_per_port = 99, .position = p->position,     .weight = p->weight};
    assert_int_equal(trv_explicit_create(&p->schedule, &torus, "random", &options), 0);
    begin_registers(p);
    for (int s = 0; s < p->streams; s++) {
        for (int k = 0; k < p->steps - 1; k++)
            random_step(p, s, k);
        if (p->collective == TRV_ALLGATHER)
            complete_allgather(p, s, p->steps - 1);
        else
            random_step(p, s, p->steps - 1);
    }
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

/* Checks all elements of a unit of a slice (or of a block's part) that begins at `begin` and has `length` elements. */
static void check_unit(const program_t *p, const world_t *world, int rank, int s, int u, size_t begin, size_t length,
                       uint64_t number)
{
    const bool vector = p->collective == TRV_ALLREDUCE;
    const size_t parts = (size_t)(vector ? p->units : p->units / p->ranks);
    const size_t part = vector ? (size_t)p->position[s * p->units + u] : (size_t)u % parts;
    const content_t *content = &p->state[s][rank][0][u];
    const size_t block = vector ? 0 : (size_t)owner(p, u) * world->count;
    for (size_t e = part * length / parts; e < (part + 1) * length / parts; e++) {
        uint32_t expected = 0;
        size_t i = begin + e;
        for (int q = 0; q < p->ranks; q++)
            expected += content->weight[q] * contribution(q, p->collective == TRV_REDUCE_SCATTER ? block + i : i);
        size_t at = p->collective == TRV_ALLGATHER ? block + i : i;
        if (((const uint32_t *)world->output[rank])[at] != expected)
            fail_msg("random program %llu: rank %d, stream %d, unit %d, element %zu is wrong",
                     (unsigned long long)number, rank, s, u, at);
    }
}

static void check_program(const program_t *p, const world_t *world, uint64_t number)
{
    size_t before = 0; /* weights of the streams so far */
    for (int s = 0; s < p->streams; s++) {
        const size_t begin = world->count * before / (size_t)p->weights;
        before += (size_t)p->weight[s];
        const size_t length = world->count * before / (size_t)p->weights - begin;
        for (int r = 0; r < p->ranks; r++)
            for (int u = 0; u < p->units; u++)
                if (p->collective != TRV_REDUCE_SCATTER || owner(p, u) == r)
                    check_unit(p, world, r, s, u, begin, length, number);
    }
}

/* Executes random programs; with `relayed`, as ranks pass on their messages on a ring that does not forward. */
static void run_programs(uint64_t programs, bool relayed)
{
    static program_t p;
    const trv_elements_t elements = {.type = TRV_UINT32, .op = TRV_SUM};
    for (uint64_t number = 1; number <= programs; number++) {
        trv_schedule_t *original;
        program_create(&p, number);
        original = p.schedule;
        if (relayed) {
            assert_int_equal(trv_schedule_relay(&p.schedule, original), 0);
            assert_int_equal(trv_schedule_is_multi_hop(p.schedule), 0);
            trv_schedule_destroy(original);
        }
        for (size_t count = number % 5; count < 100; count += 37) {
            world_t world = world_make(p.schedule, count, &elements, NULL);
            for (int in_place = 0; in_place < 2; in_place++) {
                world_fill(&world, in_place);
                world_run(&world, in_place);
                check_program(&p, &world, number);
            }
            world_destroy(&world);
        }
        trv_schedule_destroy(p.schedule);
    }
}

static void test_random_programs(void **state)
{
    (void)state;
    run_programs(exhaustive() ? 8000 : 2000, false);
}

static void test_relayed_programs(void **state)
{
    (void)state;
    run_programs(exhaustive() ? 5000 : 500, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs), cmocka_unit_test(test_relayed_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
