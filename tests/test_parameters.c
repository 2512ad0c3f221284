/*
 * The table of the parameters of networks: texts of values, defaults and ranges are those of the simulator.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/algorithms.h>
#include <trivance/parameters.h>
#include <trivance/schedule.h>
#include <trivance/simulate.h>

#include "parameters/parameters.h"

static const trv_simulate_options_t defaults = TRV_SIMULATE_DEFAULTS;

/* The code of a simulation on one rank, which checks all options. */
static int simulate(const trv_simulate_options_t *options)
{
    trv_network_t network = {TRV_NETWORK};
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    trv_simulation_t result = {0};
    assert_int_equal(trv_torus_parse("1", &network.torus), 0);
    assert_int_equal(trv_schedule_create_on(&schedule, &network, "trivance-l", TRV_ALLREDUCE, 0), 0);
    assert_int_equal(trv_simulator_create(&simulator, schedule), 0);
    const int rc = trv_simulate(simulator, options, 1, &result);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
    return rc;
}

static void test_rows(void **state)
{
    (void)state;
    for (int i = 0; trv_parameter_at(i); i++) {
        const trv_parameter_t *p = trv_parameter_at(i);
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        assert_ptr_equal(trv_parameter_find(p->name), p);
        assert_true(p->offset + p->bytes <= sizeof options && p->mark_offset < sizeof options);
        assert_true(trv_parameter_is_default(&options, p));
        if (p->kind == TRV_KIND_LIST) {
            assert_int_equal(trv_parameter_set(&options, p->name, "0:2x"), TRV_ERR_ARGUMENT);
            continue;
        }
        if (*p->usual) { /* the default is what its text is, and the sentence states it */
            memset((char *)&options + p->offset, 1, p->bytes);
            assert_int_equal(trv_parameter_set(&options, p->name, p->usual), 0);
            assert_true(trv_parameter_is_default(&options, p));
            char text[64];
            snprintf(text, sizeof text, p->kind == TRV_KIND_WORD ? "(default)" : "(default %s", p->usual);
            assert_non_null(strstr(p->sentence, text));
        }
        assert_true(p->summary && p->affects && (!p->needs || trv_parameter_find(p->needs)));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(trv_parameter_at(j)->name, p->name);
    }
    assert_null(trv_parameter_at(-1));
    assert_null(trv_parameter_find("alfa"));
}

/* Text is made of values such that the same value is read from it. */
static void test_round_trip(void **state)
{
    (void)state;
    static const char *const text[] = {"800Gb/s", "1.1GB/s", "0.3us", "50.5ns", "1s",       "0.5ns/stream", "4K",
                                       "300",     "12.5%",   "7",     "tail",   "dateline", "fixed",        "yes",
                                       "0:2",     "one",     "all",   "0%",     "0ns",      "no",           "head"};
    int accepted = 0;
    for (int i = 0; trv_parameter_at(i); i++)
        for (size_t j = 0; j < sizeof text / sizeof text[0]; j++) {
            const trv_parameter_t *p = trv_parameter_at(i);
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS, again = TRV_SIMULATE_DEFAULTS;
            char made[TRV_PARAMETER_TEXT_MAX];
            if (p->kind == TRV_KIND_LIST || trv_parameter_set(&options, p->name, text[j]) != 0) {
                assert_memory_equal(&options, &defaults, sizeof options); /* nothing changes after an error */
                continue;
            }
            accepted++;
            trv_parameter_format(&options, p, made);
            if (*made || !trv_parameter_is_default(&options, p))
                assert_int_equal(trv_parameter_set(&again, p->name, made), 0);
            assert_memory_equal(&again, &options, sizeof options);
        }
    assert_true(accepted > 50);
}

/* A value that the table allows is one that the simulator accepts, and no other. */
static void test_ranges(void **state)
{
    (void)state;
    for (int i = 0; trv_parameter_at(i); i++) {
        const trv_parameter_t *p = trv_parameter_at(i);
        const double value[] = {p->low, p->high, p->low * 0.99 - 0.01, p->high * 1.01};
        for (int j = 0; j < 4 && (p->kind == TRV_KIND_RATE || p->kind == TRV_KIND_TIME || p->kind == TRV_KIND_SHARE);
             j++) {
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            *(double *)((char *)&options + p->offset) = value[j];
            const int rc = simulate(&options);
            /* the largest times, added up, and the slowest interface exceed limits on sums */
            if (rc != (j < 2 ? 0 : TRV_ERR_ARGUMENT) && !(j == 1 && p->kind == TRV_KIND_TIME))
                fail_msg("%s is %g: %d, %s", p->name, value[j], rc, trv_last_error());
        }
    }
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    assert_int_equal(trv_parameter_set(&options, "packet", "255"), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_parameter_set(&options, "packet", "256"), 0);
    assert_int_equal(trv_parameter_set(&options, "packet", "1048577"), TRV_ERR_ARGUMENT);
}

static void test_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } wrong[] = {
        {"alfa", "1us", "the network has no parameter 'alfa'"},
        {"alpha", "0", "'0' is not a time"},
        {"alpha", " 1us", "' 1us' is not a time"},
        {"alpha", "", "'' is not a time"},
        {"alpha", "1e400us", "is not a time"},
        {"alpha", "3601s", "at most 3600s"},
        {"bandwidth", "1gb/s", "'1gb/s' is not a rate"},
        {"bandwidth", "0Gb/s", "is not a rate"},
        {"jitter", "0.5", "is not a share"},
        {"seed", "-1", "the value '-1' is not a whole number"},
        {"model", "lifo", "'lifo' is neither dateline nor fifo; for example fifo"},
        {"shared-paths", "0:", "lists no dimensions"},
        {"shared-paths", "0:8", "lists no dimensions"},
        {"shared-paths", "0000000000000000000000000000000000000000000000000000000000000000:1", "lists no dimensions"},
        {"gamma", "00000000000000000000000000000000000000000000000000000000000001nsx", "is not a time"},
        {"gamma", "00000000000000000000000000000000000000000000000000000000000000ns/stream", "is not a time"},
        {"gamma", "1ns/stream/stream", "is not a time"},
        {"slow-rank", "1:2x", "lists ranks or links"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        assert_int_equal(trv_parameter_set(&options, wrong[i].name, wrong[i].text), TRV_ERR_ARGUMENT);
        if (!strstr(trv_last_error(), wrong[i].message))
            fail_msg("%s", trv_last_error());
    }
    trv_simulate_options_t flagged = TRV_SIMULATE_DEFAULTS;
    assert_int_equal(trv_parameter_set(&flagged, "no-forwarding", NULL), 0);
    assert_true(flagged.no_forwarding);
    trv_simulate_options_t small = TRV_SIMULATE_DEFAULTS;
    small.size--;
    assert_int_equal(trv_parameter_set(&small, "alpha", "1us"), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_parameter_set(&(trv_simulate_options_t)TRV_SIMULATE_DEFAULTS, "alpha", NULL),
                     TRV_ERR_ARGUMENT);
}

/* Keys differ if, and only if, the values of a parameter differ on which a choice depends. */
static void test_keys(void **state)
{
    (void)state;
    unsigned char usual[TRV_PARAMETERS_KEY_MAX], key[TRV_PARAMETERS_KEY_MAX];
    trv_parameters_key(&defaults, usual);
    for (int i = 0; trv_parameter_at(i); i++) {
        const trv_parameter_t *p = trv_parameter_at(i);
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        *((unsigned char *)&options + p->offset) ^= 1;
        trv_parameters_key(&options, key);
        const bool same = p->kind == TRV_KIND_LIST || (p->affects & TRV_AFFECTS_TIMES);
        if ((memcmp(key, usual, sizeof key) == 0) != same)
            fail_msg("the key of plans %s %s", same ? "has" : "lacks", p->name);
    }
    trv_simulate_options_t marked = TRV_SIMULATE_DEFAULTS;
    marked.gamma_per_stream = marked.one_path = true; /* without a meaning */
    trv_parameters_key(&marked, key);
    assert_memory_equal(key, usual, sizeof key);
    assert_int_equal(trv_parameter_set(&marked, "gamma", "1ns"), 0);
    trv_parameters_key(&marked, usual);
    assert_int_equal(trv_parameter_set(&marked, "gamma", "1ns/stream"), 0);
    trv_parameters_key(&marked, key);
    assert_memory_not_equal(key, usual, sizeof key);
}

static void test_entries(void **state)
{
    (void)state;
    trv_parameter_entry_t entry;
    assert_int_equal(trv_parameter_parse_entry("slow-rank", "5:2x", &entry), 0);
    assert_true(entry.rank == 5 && entry.port == -1 && fabs(entry.factor - 2) < 1e-12 && !entry.one_way);
    assert_int_equal(trv_parameter_parse_entry("slow-link", "0:+1:down", &entry), 0);
    assert_true(entry.port == 2 && isinf(entry.factor) && !entry.one_way);
    assert_int_equal(trv_parameter_parse_entry("cut", "3:-0:one-way", &entry), 0);
    assert_true(entry.rank == 3 && entry.port == 1 && isinf(entry.factor) && entry.one_way);
    assert_int_equal(trv_parameter_parse_entry("cut", "3", &entry), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_parameter_parse_entry("alpha", "3:+0", &entry), TRV_ERR_ARGUMENT);
}

static void test_quantities(void **state)
{
    (void)state;
    uint64_t size[3];
    double value = 0;
    int count = 0;
    assert_int_equal(trv_quantity_parse(TRV_KIND_BYTES, "1024T", &value), 0);
    assert_true(fabs(value - 0x1p50) < 0.5);
    assert_int_equal(trv_quantity_parse(TRV_KIND_FACTOR, "1.5x", &value), 0);
    assert_int_equal(trv_quantity_parse(TRV_KIND_FACTOR, "4", &value), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_quantity_parse(TRV_KIND_WORD, "fifo", &value), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_sizes_parse("1K:4K", size, 3, &count), 0);
    assert_true(count == 3 && size[2] == 4096);
    assert_int_equal(trv_sizes_parse("1K:8K", size, 3, &count), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_sizes_parse("0", size, 3, &count), TRV_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),     cmocka_unit_test(test_round_trip), cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_rejected), cmocka_unit_test(test_entries),    cmocka_unit_test(test_quantities),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
