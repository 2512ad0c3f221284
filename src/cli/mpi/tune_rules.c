/*
 * Derives rules from the fastest candidate of each measured size.
 *
 * A rule covers the range between two measured sizes only if our algorithms won at both of them (two different
 * algorithms are separated at the geometric mean). A size won without its neighbours has a rule for that size only. The
 * result of the smallest size also applies below it, except to one byte, which is a Barrier. These rules are for this
 * number of ranks and this torus. All that was not measured is left to the library: other sizes, other communicators
 * and other collectives.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text/parse.h"
#include "cli/mpi/tune.h"
#include "schedule/collective.h"
#include "settings/rules.h"

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

typedef struct writer {
    FILE *out;
    bool first;            /* whether this is the first rule of its list */
    uint64_t from, to;     /* the rule under construction */
    const char *algorithm; /* NULL: none */
} writer_t;

static void put_rule(writer_t *writer, const char *algorithm, uint64_t from, uint64_t to)
{
    fprintf(writer->out, "%s\n        {\"msg_size_min\": %" PRIu64 ", \"msg_size_max\": ", writer->first ? "" : ",",
            from);
    if (to == UINT64_MAX)
        fprintf(writer->out, "\"inf\"");
    else
        fprintf(writer->out, "%" PRIu64, to);
    fprintf(writer->out, ", \"alg\": \"%s\"}", algorithm);
    writer->first = false;
}

static void end_rule(writer_t *writer)
{
    if (writer->algorithm)
        put_rule(writer, writer->algorithm, writer->from, writer->to);
    writer->algorithm = NULL;
}

static const char *winner(const tune_cell_t *cell) { return cell->wins ? cell->name[cell->best] : NULL; }

/* Extends the rule under construction to `to` if it has the same algorithm; otherwise ends it and begins a new one. */
static void extend_rule(writer_t *writer, const char *algorithm, uint64_t from, uint64_t to)
{
    if (writer->algorithm && strcmp(writer->algorithm, algorithm) != 0)
        end_rule(writer);
    if (!writer->algorithm)
        writer->from = from;
    writer->algorithm = algorithm;
    writer->to = to;
}

static void write_collective(const tune_t *tune, trv_collective_t collective, FILE *out)
{
    writer_t writer = {.out = out, .first = true};
    const tune_cell_t *before = NULL;
    for (int i = 0; i < tune->cells; i++) {
        const tune_cell_t *cell = &tune->cell[i];
        if (cell->collective != collective)
            continue;
        const char *name = winner(cell);
        uint64_t from = before ? cell->bytes : 2;
        if (name && before && winner(before) && strcmp(name, winner(before)) != 0) {
            writer.to = (uint64_t)sqrt((double)before->bytes * (double)cell->bytes);
            from = writer.to + 1;
        }
        if (name)
            extend_rule(&writer, name, from, cell->bytes);
        else
            end_rule(&writer);
        before = cell;
    }
    end_rule(&writer);
    put_rule(&writer, TRV_RULE_MPI, 0, UINT64_MAX);
}

void tune_write_rules(const tune_t *tune, FILE *out)
{
    char torus[TRV_TORUS_TEXT_MAX];
    trv_torus_format(&tune->options.torus, torus, sizeof torus);
    trv_fprintf(out,
                "{\"rule_file_version\": 1,\n \"network\": {\"alpha\": \"%.3fus\", \"bandwidth\": \"%.3fGb/s\", "
                "\"hop_latency\": \"%.1fns\", \"message_overhead\": \"%.1fns\"},\n "
                "\"measured\": {\"ranks_per_core\": %.4g, \"load\": %.2f, \"spread\": %.2f, \"busy\": %s},\n "
                "\"collectives\": {",
                tune->network.alpha_ns / 1e3, tune->network.bandwidth_bps / 1e9, tune->network.hop_ns,
                tune->overhead_ns, tune->machine_load.ranks_per_core, tune->machine_load.load,
                tune->machine_load.spread, tune->machine_load.busy ? "true" : "false");
    for (int i = 0; i < TRV_COLLECTIVES; i++) {
        trv_collective_t collective = (trv_collective_t)i;
        fprintf(out, "%s\n  \"%s\": [{\"comm_size_min\": %d, \"comm_size_max\": %d, \"torus\": \"%s\", \"rules\": [",
                i ? "," : "", trv_collective_shape(collective)->name, tune->ranks, tune->ranks, torus);
        write_collective(tune, collective, out);
        fprintf(out, "]},\n    {\"rules\": [{\"alg\": \"" TRV_RULE_MPI "\"}]}]");
    }
    fprintf(out, "}}\n");
}

/* ---- The measurements -------------------------------------------------------------------------------------------- */

static void print_candidate(const tune_t *tune, const tune_cell_t *cell, int at, const char *torus, cli_table_t *table)
{
    const tune_times_t *times = &cell->times[at];
    char bytes[TRV_BYTES_TEXT_MAX];
    cli_cell_text(table, trv_collective_shape(cell->collective)->name);
    cli_cell_text(table, torus);
    cli_cell_int(table, tune->ranks);
    cli_cell_both(table, trv_format_bytes(cell->bytes, bytes), json_integer((json_int_t)cell->bytes));
    cli_cell_text(table, cell->name[at]);
    cli_cell_real(table, times->median_us, 2);
    cli_cell_real(table, times->low_us, 2);
    cli_cell_real(table, times->high_us, 2);
    cli_cell_int(table, times->runs);
    cli_cell_real(table, times->median_us > 0 ? cell->times[0].median_us / times->median_us : NAN, 2);
    cli_cell_bool(table, cell->wins ? at == cell->best : at == 0);
    cli_cell_real(table, tune->machine_load.ranks_per_core, 3);
    cli_cell_bool(table, tune->machine_load.busy);
    cli_row_end(table);
}

int tune_print(const tune_t *tune, FILE *out)
{
    static const cli_column_t column[] = {{"collective", "collective", false, 0},
                                          {"torus", NULL, false, 0},
                                          {"ranks", NULL, true, 0},
                                          {"bytes", "size", true, 0},
                                          {"algorithm", "algorithm", false, 0},
                                          {"median_us", "median us", true, 0},
                                          {"lower_us", "lower quarter", true, 0},
                                          {"upper_us", "upper quarter", true, 0},
                                          {"runs", "runs", true, 0},
                                          {"speedup", "against mpi", true, 0},
                                          {"chosen", "chosen", false, 0},
                                          {"ranks_per_core", NULL, true, 0},
                                          {"busy", NULL, false, 0},
                                          {0}};
    char torus[TRV_TORUS_TEXT_MAX];
    cli_table_t table;
    bool brief = tune->options.format == CLI_FORMAT_TABLE;
    trv_torus_format(&tune->options.torus, torus, sizeof torus);
    if (brief)
        trv_fprintf(out,
                    "%d ranks, torus %s; alpha %.2f us, bandwidth %.2f Gb/s, hop latency %.0f ns, message overhead "
                    "%.0f ns%s\n\n",
                    tune->ranks, torus, tune->network.alpha_ns / 1e3, tune->network.bandwidth_bps / 1e9,
                    tune->network.hop_ns, tune->overhead_ns,
                    tune->machine_load.busy ? "; measured on a busy machine" : "");
    cli_table_begin(&table, out, tune->options.format, column);
    for (int i = 0; i < tune->cells; i++)
        for (int at = 0; at < tune->cell[i].candidates; at++)
            if (brief ? at == 0 || at == tune->cell[i].best : tune->cell[i].times[at].runs > 0)
                print_candidate(tune, &tune->cell[i], at, torus, &table);
    return cli_table_end(&table);
}
