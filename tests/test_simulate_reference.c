/*
 * Agreement with the paper's simulator, SST 11.1.0 with its Merlin network: completion times of whole collectives
 * (data/sst-merlin.csv) and of single messages, measured there. Dateline channels, head delivery.
 *
 * On rings of 8, Trivance and Bruck of that simulator send other messages than this project's (windows that overlap).
 * Therefore the test replays the messages that it printed (data/8-TrivanceB-131072.json …).
 *
 * Prints the table of docs/simulator.md: the deviation of each algorithm.
 */
#include "simulate_check.h"

#include <math.h>

#include "exhaustive.h"
#include "formats/schedule_file.h"

enum { SMALL_BYTES = 8192, ROWS_MAX = 400 };

typedef struct row {
    char torus[16], algorithm[16];
    unsigned long long bytes;
    double gbps, alpha_ns, link_ns, time_ns;
    unsigned packet_bytes;
} row_t;

static void ignore(void *context, const char *sentence)
{
    (void)context;
    (void)sentence;
}

/* The messages that the reference sent for this algorithm, for any size of the vector. */
static trv_schedule_t *replayed(const row_t *row, const char *name)
{
    char path[200];
    trv_schedule_file_t file;
    snprintf(path, sizeof path, "%s/%s-%s-131072.json", TRIVANCE_TEST_DATA, row->torus, name);
    if (trv_schedule_file_read(path, &file, ignore, NULL))
        fail_msg("%s", trv_last_error());
    return file.schedule;
}

static trv_schedule_t *schedule_of_row(const row_t *row)
{
    static const char *const files[][2] = {{"trivance-l", "TrivanceL"},
                                           {"trivance-b", "TrivanceB"},
                                           {"bruck-l", "BruckL"},
                                           {"bruck-b", "BruckB"}};
    for (size_t i = 0; i < COUNT(files) && row->torus[0] == '8'; i++)
        if (strcmp(row->algorithm, files[i][0]) == 0)
            return replayed(row, files[i][1]);
    return schedule_of(row->algorithm, row->torus);
}

/* The percentage by which this simulator's time exceeds the reference's. */
static double deviation(const row_t *row, const trv_schedule_t *schedule)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.model = TRV_DATELINE;
    options.bandwidth_bps = row->gbps * 1e9;
    options.alpha_ns = row->alpha_ns;
    options.link_latency_ns = row->link_ns;
    options.packet_bytes = row->packet_bytes;
    return 100 * ((double)simulated_fs(schedule, &options, row->bytes) / 1e6 / row->time_ns - 1);
}

static double limit(const row_t *row)
{
    if (strcmp(row->algorithm, "recdoub-b") == 0)
        return 2; /* both streams send the same way at distance n/2: the order of simultaneous packets matters */
    return row->bytes <= SMALL_BYTES ? 0.1 : 1;
}

static void assert_close(const row_t *row, double percent, const char *what)
{
    if (!(fabs(percent) <= limit(row)))
        fail_msg("%s %s of %llu bytes at %g Gb/s, alpha %g ns: %+.3f %% off the reference, allowed %g %%", row->torus,
                 what, row->bytes, row->gbps, row->alpha_ns, percent, limit(row));
}

static int read_row(FILE *file, row_t *row)
{
    char line[200];
    while (fgets(line, sizeof line, file))
        if (line[0] != '#')
            return sscanf(line, "%15[^,],%15[^,],%llu,%lf,%lf,%lf,%u,%lf", row->torus, row->algorithm, &row->bytes,
                          &row->gbps, &row->alpha_ns, &row->link_ns, &row->packet_bytes, &row->time_ns);
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints a line of the table: the deviations of one algorithm on all tori. */
static void print_line(const char *name, double *percent, int count)
{
    for (int i = 0; i < count; i++)
        percent[i] = fabs(percent[i]);
    qsort(percent, (size_t)count, sizeof *percent, by_size);
    print_message("| `%s` | %d | %.4f %% | %.3f %% |\n", name, count, percent[count / 2], percent[count - 1]);
}

/* The quick tier takes every fourth row of each algorithm. */
static void test_every_row(void **state)
{
    (void)state;
    static double percent[ROWS_MAX];
    print_message("| algorithm | rows | median deviation | worst |\n|---|---|---|---|\n");
    int total = 0;
    for (int a = 0; a < trv_algorithms_count(); a++) {
        const char *name = trv_algorithm_name(trv_algorithm_at(a));
        FILE *file = fopen(TRIVANCE_TEST_DATA "/sst-merlin.csv", "r");
        assert_non_null(file);
        int count = 0, seen = 0;
        for (row_t row; read_row(file, &row) == 8 && count < ROWS_MAX;) {
            if (strcmp(row.algorithm, name) != 0 || (!exhaustive() && seen++ % 4 != 0))
                continue;
            trv_schedule_t *schedule = schedule_of_row(&row);
            percent[count] = deviation(&row, schedule);
            trv_schedule_destroy(schedule);
            assert_close(&row, percent[count++], name);
        }
        fclose(file);
        total += count;
        if (count > 0)
            print_line(name, percent, count);
    }
    assert_true(exhaustive() ? total == 351 : total > 351 / 4);
}

/* ---- Single messages --------------------------------------------------------------------------------------------- */

/* Times from the moment of sending; alpha is added to them. */
static const struct {
    uint64_t bytes;
    int hops;
    double gbps, link_ns, time_ns;
} message[] = {
    {64, 1, 800, 100, 503.12},        {64, 2, 800, 100, 705.84},        {64, 3, 800, 100, 908.56},
    {8192, 1, 800, 100, 503.12},      {8192, 2, 800, 100, 705.84},      {8192, 3, 800, 100, 908.56},
    {16384, 1, 800, 100, 585.04},     {16384, 2, 800, 100, 787.76},     {16384, 3, 800, 100, 990.48},
    {65536, 1, 800, 100, 1076.56},    {65536, 2, 800, 100, 1279.28},    {65536, 3, 800, 100, 1482.00},
    {1048576, 1, 800, 100, 10906.96}, {1048576, 2, 800, 100, 11109.68}, {1048576, 3, 800, 100, 11312.40},
    {8193, 2, 800, 100, 787.76},      {16385, 2, 800, 100, 869.68},     {8192, 1, 200, 100, 510.80},
    {8192, 1, 3200, 100, 501.20},     {8192, 1, 800, 500, 903.12},
};

static void test_single_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(message); i++)
        for (int port = 0; port < 2; port++) {
            trv_schedule_t *schedule = single_message("9", port ? 9 - message[i].hops : message[i].hops, port);
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            options.model = TRV_DATELINE;
            options.bandwidth_bps = message[i].gbps * 1e9;
            options.link_latency_ns = message[i].link_ns;
            double time_ns = (double)simulated_fs(schedule, &options, message[i].bytes) / 1e6 - options.alpha_ns;
            if (fabs(time_ns - message[i].time_ns) > 0.001)
                fail_msg("%llu bytes over %d hops: %.3f ns, measured %.2f", (unsigned long long)message[i].bytes,
                         message[i].hops, time_ns, message[i].time_ns);
            trv_schedule_destroy(schedule);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_messages),
        cmocka_unit_test(test_every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
