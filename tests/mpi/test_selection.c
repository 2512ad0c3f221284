/*
 * The choice of algorithms under the drop-in, on 4 ranks. `test_selection FOLDER` writes a rules file to FOLDER, sets
 * the environment, and checks which algorithm is chosen for which call. `test_selection calls` only makes a few calls,
 * with any environment; `test_selection calls tuned` also checks the rules, which tune has written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/trivance.h>
#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "mpi/communicator/attribute.h"
#include "mpi/front/intercept.h"
#include "mpi/settings/job_settings.h"
#include "mpi/communicator/state.h"
#include "mpi/selection/chooser.h"

static const char tune[] = "allreduce:0-64:@mpi;allreduce:65-1k:[2-3]:@ring;allreduce:1k-4k:[4-4]:@trivance-l;"
                           "allreduce:5000-5000:@hybrid:1x2:grouped;allreduce:5200-5200:@hybrid:3;"
                           "allreduce:5400-5400:@planned;"
                           "allreduce:4k-inf:[2-2]:@mpi";
static const char rules[] =
    "{\"rule_file_version\": 1, \"collectives\": {\n"
    " \"allreduce\": [{\"torus\": \"4\", \"rules\": [{\"msg_size_max\": 10000, \"alg\": \"mpi\"}]},\n"
    "               {\"comm_size_min\": 4, \"rules\": [{\"msg_size_min\": 8000, \"msg_size_max\": 9000, "
    "\"alg\": \"swing-b\"},\n                {\"msg_size_min\": 16000, \"alg\": \"swing\"}]}],\n"
    " \"reduce-scatter\": [{\"rules\": [{\"alg\": \"mpi\"}]}]}}\n";

static void keep_first(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    memcpy(inout, in, (size_t)*count * sizeof(int)); /* the first operand, so it does not commute */
}

/* The name of a plan's algorithm. */
static const char *algorithm_of(TRV_Plan plan)
{
    static char name[TRV_ALGORITHM_NAME_MAX];
    TRV_Plan_info info = {TRV_PLAN_INFO, .algorithm = "?"};
    TRV_Plan_query(plan, &info);
    snprintf(name, sizeof name, "%s", info.algorithm);
    TRV_Plan_free(&plan);
    return name;
}

static const char *allreduce(MPI_Comm comm, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
    TRV_Plan plan;
    if (!expect_class(TRV_Allreduce_plan_create(count, type, op, comm, &plan), MPI_SUCCESS, NULL, "a plan"))
        return "?";
    return algorithm_of(plan);
}

static void expect_name(const char *got, const char *expected, const char *what)
{
    expect(strcmp(got, expected) == 0, "%s: the algorithm is %s, not %s", what, got, expected);
}

/* Expects an algorithm with bitwise identical results on all ranks. */
static void expect_consistent(const char *got, const char *what)
{
    trv_torus_t torus;
    trv_schedule_t *schedule = NULL;
    trv_torus_init(&torus, 2, (int[]){2, 2});
    expect(trv_schedule_create(&schedule, &torus, got, TRV_ALLREDUCE) == TRV_OK && trv_schedule_consistent(schedule),
           "%s: the algorithm is %s", what, got);
    trv_schedule_destroy(schedule);
}

/* The order of precedence is TRIVANCE_TUNE, TRIVANCE_RULES_FILE, the planner. The planner replaces an algorithm that
 * does not support the torus. */
static void test_rules(void)
{
    TRV_Plan plan;
    expect_name(allreduce(MPI_COMM_WORLD, 16, MPI_FLOAT, MPI_SUM), "mpi", "64 bytes");
    expect_consistent(allreduce(MPI_COMM_WORLD, 128, MPI_FLOAT, MPI_SUM), "512 bytes, for which there is no rule");
    expect_name(allreduce(MPI_COMM_WORLD, 512, MPI_INT, MPI_SUM), "trivance-l", "2 KiB of integers");
    expect_consistent(allreduce(MPI_COMM_WORLD, 512, MPI_FLOAT, MPI_SUM), "2 KiB of floats");
    expect_name(allreduce(MPI_COMM_WORLD, 1250, MPI_FLOAT, MPI_SUM), "hybrid:1x2:grouped", "5000 bytes");
    expect_consistent(allreduce(MPI_COMM_WORLD, 1300, MPI_FLOAT, MPI_SUM), "5200 bytes, whose rule does not fit");
    expect_consistent(allreduce(MPI_COMM_WORLD, 1350, MPI_FLOAT, MPI_SUM), "5400 bytes, which are planned");
    expect_name(allreduce(MPI_COMM_WORLD, 2048, MPI_FLOAT, MPI_SUM), "swing-b", "8 KiB");
    expect(strncmp(allreduce(MPI_COMM_WORLD, 1 << 20, MPI_FLOAT, MPI_SUM), "swing-", 6) == 0,
           "4 MiB: not an algorithm of the family swing");
    if (expect_class(TRV_Reduce_scatter_block_plan_create(100, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &plan), MPI_SUCCESS,
                     NULL, "a plan"))
        expect_name(algorithm_of(plan), "mpi", "Reduce-Scatter");
}

static void test_operations(void)
{
    MPI_Op op;
    MPI_Op_create(keep_first, 0, &op);
    expect_name(allreduce(MPI_COMM_WORLD, 128, MPI_INT, op), "mpi", "an operation that does not commute");
    MPI_Op_free(&op);
    expect_consistent(allreduce(MPI_COMM_WORLD, 128, MPI_DOUBLE_INT, MPI_MINLOC), "MINLOC");
}

/* TRV_Comm_set takes precedence over all rules. */
static void test_comm_set(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_class(TRV_Comm_set(comm, NULL, "bucket"), MPI_SUCCESS, NULL, "TRV_Comm_set");
    expect_name(allreduce(comm, 16, MPI_FLOAT, MPI_SUM), "bucket", "64 bytes by name");
    expect_class(TRV_Comm_set(comm, NULL, "auto"), MPI_SUCCESS, NULL, "TRV_Comm_set");
    expect_name(allreduce(comm, 16, MPI_FLOAT, MPI_SUM), "mpi", "64 bytes by auto");
    expect_class(TRV_Comm_set(comm, "4", "auto"), MPI_SUCCESS, NULL, "TRV_Comm_set");
    expect_name(allreduce(comm, 2048, MPI_FLOAT, MPI_SUM), "mpi", "8 KiB on the ring, which has a rule");
    MPI_Comm_free(&comm);
}

/* Three of the four ranks of 2x2 do not form a torus: they use the algorithm that a rule names, otherwise a plan along
 * their nodes. */
static void test_parts(void)
{
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, test_rank == 3, 0, &part);
    if (test_rank != 3) {
        expect_name(allreduce(part, 128, MPI_FLOAT, MPI_SUM), "ring", "512 bytes on three ranks");
        expect(strcmp(allreduce(part, 512, MPI_FLOAT, MPI_SUM), "mpi") != 0, "2 KiB on three ranks fall back");
    }
    MPI_Comm_free(&part);
}

/* The planner's choice for floats on a ring of three, whose two directions share a path or not. */
static void call_planner(const trv_mpi_state_t *state, unsigned shared_port, int count, trv_planner_choice_t *plan)
{
    const trv_planner_constraints_t floats = {TRV_PLANNER_CONSTRAINTS, .consistent = true};
    const trv_simulate_options_t network = trv_mpi_chooser(state, &state->config.network, shared_port).simulation;
    expect(trv_planner_best(&state->config.network.torus, TRV_ALLREDUCE, 0, (uint64_t)count * sizeof(float), &network,
                            &floats, plan) == TRV_OK,
           "the planner: %s", trv_last_error());
}

/* If both directions share a path, another plan is chosen if it is faster; named algorithms are still used. */
static void test_two_paths(void)
{
    MPI_Comm part;
    trv_mpi_state_t *state;
    MPI_Comm_split(MPI_COMM_WORLD, test_rank == 3, 0, &part);
    if (test_rank != 3 && expect_class(TRV_Comm_set(part, "3", "planned"), MPI_SUCCESS, NULL, "TRV_Comm_set") &&
        trv_mpi_state_find(part, &state) == MPI_SUCCESS) {
        int differ = 0;
        for (int count = 2; count <= 1 << 18; count *= 8) { /* size classes are powers of two */
            trv_planner_choice_t two, one;
            call_planner(state, 0, count, &two);
            call_planner(state, 1, count, &one);
            differ += strcmp(one.algorithm, two.algorithm) != 0;
            state->config.shared_port = 0;
            trv_cache_clear(&state->decisions);
            expect_name(allreduce(part, count, MPI_FLOAT, MPI_SUM), two.algorithm, "two paths");
            state->config.shared_port = 1;
            trv_cache_clear(&state->decisions);
            expect_name(allreduce(part, count, MPI_FLOAT, MPI_SUM), one.algorithm, "a shared port");
        }
        expect(differ > 0, "a shared port changes no choice");
        TRV_Comm_set(part, "3", "trivance-b");
        state->config.shared_port = 1;
        expect_name(allreduce(part, 512, MPI_FLOAT, MPI_SUM), "trivance-b", "a shared port, but by name");
    }
    MPI_Comm_free(&part);
}

static void set_environment(const char *folder)
{
    char path[4096], own[4096 + 32]; /* ranks rename `own` to `path`, so that it is always complete */
    snprintf(path, sizeof path, "%s/rules.json", folder);
    snprintf(own, sizeof own, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(own, "w");
    if (file) {
        fputs(rules, file);
        fclose(file);
        rename(own, path);
    }
    setenv("TRIVANCE_RULES_FILE", path, 1);
    setenv("TRIVANCE_TUNE", tune, 1);
    setenv("TRIVANCE_TORUS", "2x2", 1);
}

static void test_calls(void)
{
    for (int i = 0; i < 5; i++) {
        float in[1000], out[1000];
        for (int k = 0; k < 1000; k++)
            in[k] = (float)(test_rank + k);
        trv_mpi_reduction_t call = {TRV_ALLREDUCE, in, out, i == 4 ? 2 : 1000, MPI_FLOAT, MPI_SUM, 0};
        int code = MPI_SUCCESS;
        if (!trv_mpi_may_dispatch() || !trv_mpi_intercept(&(trv_mpi_call_t){.reduction = &call}, MPI_COMM_WORLD, &code))
            code = PMPI_Allreduce(in, out, (int)call.count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        expect_class(code, MPI_SUCCESS, NULL, "a call");
        expect(out[1] == (float)(test_ranks * (test_ranks - 1) / 2 + test_ranks), "the sum is %g", (double)out[1]);
    }
}

/* The rules that tune has written for AllReduces of 8 bytes on 2 ranks leave every call that was not measured to the
 * MPI library: other collectives, numbers of ranks and sizes, and MPI_Barrier, an AllReduce of one byte. */
static void test_tuned(void)
{
    static const uint64_t size[] = {0, 1, 8, 9, 4096, 1 << 30};
    for (int ranks = 2; ranks <= 4 && test_rank == 0; ranks++)
        for (int collective = 0; collective < TRV_COLLECTIVES; collective++)
            for (int i = 0; i < 6; i++) {
                trv_torus_t ring;
                trv_torus_init(&ring, 1, &ranks);
                const bool measured = ranks == 2 && collective == TRV_ALLREDUCE && size[i] == 8;
                const trv_rule_t *rule = trv_rules_match(&trv_mpi_settings()->file_rules, (trv_collective_t)collective,
                                                         &ring, ranks, size[i]);
                expect(rule && (measured || strcmp(rule->algorithm, TRV_RULE_MPI) == 0),
                       "%s of %d bytes on %d ranks: the rule is %s", trv_collective_name((trv_collective_t)collective),
                       (int)size[i], ranks, rule ? rule->algorithm : "missing");
            }
}

/* Non-blocking TRV_ calls, without any blocking one. */
static void test_requests(void)
{
    for (int i = 0; i < 20; i++) {
        int sum = 0;
        TRV_Request request;
        expect_class(TRV_Iallreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), MPI_SUCCESS, NULL,
                     "start");
        expect_class(TRV_Wait(&request), MPI_SUCCESS, NULL, "wait");
        expect(sum == i * test_ranks, "the sum is %d", sum);
    }
}

int main(int argc, char **argv)
{
    bool calls = argc > 1 && strcmp(argv[1], "calls") == 0, requests = argc > 1 && strcmp(argv[1], "requests") == 0;
    if (!calls && !requests)
        set_environment(argc > 1 ? argv[1] : "/tmp");
    if (!requests)
        trv_mpi_set_mode(TRV_MPI_DROP_IN);
    test_begin(&argc, &argv);
    if (requests) {
        test_requests();
        return test_end();
    }
    trv_mpi_intercept_init(true);
    if (calls) {
        test_calls();
        if (argc > 2)
            test_tuned();
        return test_end();
    }
    test_rules();
    test_operations();
    test_comm_set();
    test_parts();
    test_two_paths();
    return test_end();
}
