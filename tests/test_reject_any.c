/*
 * Schedules contain nothing superfluous, and the verifier detects every omission: of every algorithm on small tori,
 * each message in turn is lost (on one side, on both) and each combine left out, and the verifier must reject every
 * such schedule. The quick tier takes tori of up to 5 ranks.
 */
#include "exhaustive.h"
#include "schedule/collective.h"
#include "verify_expect.h"

/* The omission from one rank's step; `original` is the schedule without it, which is not changed. */
static struct omission {
    const trv_schedule_t *original;
    int stream, step, rank;
    int send;        /* index of a send of `rank`; -1: none */
    bool receipt;    /* omit the matching receive of the peer */
    bool dispatch;   /* omit the send itself */
    int combine;     /* index of a combine of `rank`; -1: none */
    int peer, order; /* the send is number `order` of those to `peer` */
} omission;

static void remove_entry(void *array, int *count, int index, size_t size)
{
    char *at = (char *)array + (size_t)index * size;
    memmove(at, at + size, (size_t)(*count - index - 1) * size);
    --*count;
}

static int step_with_omission(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    (void)schedule;
    int rc = omission.original->step(omission.original, rank, stream, step, out);
    if (rc || stream != omission.stream || step != omission.step)
        return rc;
    if (rank == omission.rank && omission.combine >= 0)
        remove_entry((void *)out->combine, &out->combines, omission.combine, sizeof *out->combine);
    if (rank == omission.rank && omission.send >= 0 && omission.dispatch)
        remove_entry((void *)out->send, &out->sends, omission.send, sizeof *out->send);
    int order = omission.order;
    for (int i = 0; omission.send >= 0 && omission.receipt && rank == omission.peer && i < out->receives; i++)
        if (out->receive[i].peer == omission.rank && order-- == 0)
            remove_entry((void *)out->receive, &out->receives, i, sizeof *out->receive);
    return TRV_OK;
}

static void expect_rejection(trv_schedule_t *schedule, const char *text, const char *what)
{
    trv_verdict_t verdict = {TRV_VERDICT};
    assert_int_equal(trv_verify(schedule, TRV_VERIFY_EXHAUSTIVE, &verdict, NULL, NULL), TRV_OK);
    if (verdict.valid)
        fail_msg("%s on %s without %s (stream %d, step %d, rank %d) is accepted", trv_schedule_name(schedule), text,
                 what, omission.stream, omission.step, omission.rank);
    assert_true(strlen(verdict.fault) > 20);
}

static bool is_named(const trv_schedule_t *schedule, const char *name)
{
    return strncmp(trv_schedule_name(schedule), name, strlen(name)) == 0;
}

/* Schedules that only cover have redundant messages, and so has a broadcast by scatter and allgather: the allgather
 * also sends blocks to the root, which has all. In a relayed broadcast, ranks that have passed on the vector receive it
 * again. */
static bool has_redundant_messages(const trv_schedule_t *schedule)
{
    return trv_schedule_exactness(schedule) == TRV_COVERS || is_named(schedule, "scatter-allgather") ||
           (is_named(schedule, "relayed") && trv_schedule_collective(schedule) == TRV_BROADCAST);
}

static int omit_messages(trv_schedule_t *lossy, const char *text, const trv_step_t *step)
{
    for (omission.send = 0; omission.send < step->sends; omission.send++) {
        omission.peer = step->send[omission.send].peer;
        omission.order = 0;
        for (int i = 0; i < omission.send; i++)
            omission.order += step->send[i].peer == omission.peer;
        omission.dispatch = true;
        omission.receipt = false;
        expect_rejection(lossy, text, "a send");
        omission.receipt = true;
        if (!has_redundant_messages(lossy))
            expect_rejection(lossy, text, "a message");
        omission.dispatch = false;
        expect_rejection(lossy, text, "a receive");
    }
    omission.send = -1;
    return 3 * step->sends;
}

static int omit_combines(trv_schedule_t *lossy, const char *text, const trv_step_t *step)
{
    if (trv_schedule_exactness(lossy) == TRV_COVERS)
        return 0;
    for (omission.combine = 0; omission.combine < step->combines; omission.combine++)
        expect_rejection(lossy, text, "a combine");
    omission.combine = -1;
    return step->combines;
}

/* Tries all omissions from one schedule; returns their number. */
static int omit_each(const trv_schedule_t *schedule, const char *text)
{
    int omissions = 0;
    trv_schedule_t lossy = *schedule;
    trv_step_t step = TRV_STEP_INIT;
    lossy.step = step_with_omission;
    lossy.symmetry = TRV_SYMMETRY_NONE; /* otherwise the verifier would report the broken symmetry */
    omission = (struct omission){.original = schedule, .send = -1, .combine = -1};
    for (omission.stream = 0; omission.stream < schedule->streams; omission.stream++)
        for (omission.step = 0; omission.step < schedule->steps; omission.step++)
            for (omission.rank = 0; omission.rank < schedule->torus.ranks; omission.rank++) {
                assert_int_equal(trv_schedule_step(schedule, omission.rank, omission.stream, omission.step, &step),
                                 TRV_OK);
                omissions += omit_messages(&lossy, text, &step);
                omissions += omit_combines(&lossy, text, &step);
            }
    trv_step_clear(&step);
    return omissions;
}

/* The algorithm with few chunks, which have the same messages as many. */
static const char *with_few_chunks(const char *algorithm)
{
    static const char *const few[][2] = {{"disjoint-trees", "disjoint-trees:2:1"},
                                         {"spanning-trees", "spanning-trees:2"},
                                         {"chain", "chain:2"}};
    for (size_t i = 0; i < sizeof few / sizeof few[0]; i++)
        if (strcmp(few[i][0], algorithm) == 0)
            return few[i][1];
    return algorithm;
}

static void test_every_omission(void **state)
{
    static const char *const tori[] = {"2", "3", "5", "2x2", "4", "7", "8", "3x3", "2x4"};
    (void)state;
    for (size_t i = 0; i < (exhaustive() ? sizeof tori / sizeof tori[0] : 5); i++)
        for (int a = 0; a < trv_algorithms_count(); a++)
            for (int c = 0; c < TRV_COLLECTIVES; c++) {
                trv_torus_t torus;
                trv_schedule_t *schedule;
                assert_int_equal(trv_torus_parse(tori[i], &torus), TRV_OK);
                if (trv_algorithm_supports(trv_algorithm_at(a), &torus, (trv_collective_t)c))
                    continue;
                assert_int_equal(trv_schedule_create(&schedule, &torus,
                                                     with_few_chunks(trv_algorithm_name(trv_algorithm_at(a))),
                                                     (trv_collective_t)c),
                                 TRV_OK);
                assert_true(omit_each(schedule, tori[i]) > 0);
                trv_schedule_destroy(schedule);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_omission),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
