/*
 * Parses the list of --algorithm: names and families, the MPI library's own algorithms, selection by Trivance (auto,
 * planned), exchanges. An entry may have its own type and operation: NAME=TYPE or NAME=TYPE:OP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/append.h"
#include "base/error.h"
#include "cli/mpi/bench.h"
#include "schedule/collective.h"
#include "settings/rules.h"
#include "base/text/parse.h"
#include "base/text/words.h"

int bench_add_entry(bench_options_t *options, const bench_entry_t *entry)
{
    for (int i = 0; i < options->entries; i++)
        if (strcmp(options->entry[i].label, entry->label) == 0)
            return TRV_OK;
    if (options->entries == BENCH_ENTRIES_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "more than %d algorithms in the list", BENCH_ENTRIES_MAX);
    options->entry[options->entries++] = *entry;
    return TRV_OK;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Fails with a list of the operations that are defined on the type: "land, lor or lxor". */
static int fail_undefined(trv_op_t op, trv_type_t type)
{
    char names[128] = "", list[128];
    for (int i = 0; i < TRV_OPS; i++)
        if (trv_op_supports((trv_op_t)i, type))
            trv_append(names, sizeof names, "%s%s", *names ? " " : "", trv_op_name((trv_op_t)i));
    return trv_fail(TRV_ERR_UNSUPPORTED, "the operation %s is not defined on %s; use %s", trv_op_name(op),
                    trv_type_name(type), trv_words_list(names, list, sizeof list));
}

int bench_check_elements(const bench_options_t *options, trv_type_t type, trv_op_t op)
{
    if (call_mpi_type(type) == MPI_DATATYPE_NULL)
        return trv_fail(TRV_ERR_UNSUPPORTED, "MPI has no type %s; use float or double, for example",
                        trv_type_name(type));
    if (trv_collective_shape(options->collective)->reduces && !trv_op_supports(op, type))
        return fail_undefined(op, type);
    return TRV_OK;
}

/* Parses "int32" or "int32:max" after a name; NULL: the type and operation of the command line. */
static int read_elements(const bench_options_t *options, char *text, bench_data_t *data)
{
    char *op = text ? strchr(text, ':') : NULL;
    *data = (bench_data_t){.collective = options->collective, .type = options->type, .op = options->op};
    if (op)
        *op++ = '\0';
    int code = text ? trv_type_parse(text, &data->type) : TRV_OK;
    if (code == TRV_OK && op)
        code = trv_op_parse(op, &data->op);
    return code == TRV_OK ? bench_check_elements(options, data->type, data->op) : code;
}

static int add_labelled(bench_options_t *options, bench_entry_t *entry, const char *name, const char *elements)
{
    snprintf(entry->label, sizeof entry->label, "%s%s", name, elements);
    return bench_add_entry(options, entry);
}

/* Adds entries for the MPI library: "mpi" is its own selection, "mpi:ring" one of its algorithms, "mpi:all" all of
 * them. */
static int add_library(bench_options_t *options, bench_entry_t *entry, const char *name, const char *elements,
                       MPI_Comm comm)
{
    const char *known, *sought = name[3] == ':' ? name + 4 : "default";
    char label[TRV_ALGORITHM_NAME_MAX];
    int code = TRV_OK, found = 0;
    entry->kind = BENCH_LIBRARY;
    for (int i = 0; code == TRV_OK && (known = call_library_name(options->collective, i, &entry->setting)); i++) {
        if (strcmp(sought, "all") != 0 && strcmp(sought, known) != 0)
            continue;
        found++;
        entry->comm = i > 0 ? call_library_comm(comm, options->collective, entry->setting) : MPI_COMM_NULL;
        snprintf(label, sizeof label, i > 0 ? "mpi:%s" : "mpi", known);
        code = i > 0 && entry->comm == MPI_COMM_NULL ? TRV_ERR_UNSUPPORTED
                                                     : add_labelled(options, entry, label, elements);
    }
    if (found > 0)
        return code;
    char names[200] = "";
    for (int i = 1; (known = call_library_name(options->collective, i, &entry->setting)); i++)
        trv_append(names, sizeof names, "mpi:%s, ", known);
    return trv_fail(TRV_ERR_ARGUMENT, "the MPI library has no algorithm '%.40s' for %s; there are mpi, %sand mpi:all",
                    sought, trv_collective_shape(options->collective)->title, names);
}

static int add_selection(bench_options_t *options, bench_entry_t *entry, const char *name, const char *elements)
{
    cli_selection_t selection;
    int code = cli_select(name, &selection);
    for (int i = 0; code == TRV_OK && i < selection.choices; i++) {
        entry->kind = selection.choice[i].planned ? BENCH_CHOSEN : BENCH_ALGORITHM;
        entry->required = !selection.all;
        entry->choice = selection.choice[i];
        code = add_labelled(options, entry, entry->choice.label, elements);
    }
    return code;
}

static int add_item(bench_options_t *options, char *item, MPI_Comm comm)
{
    bench_entry_t entry = {.required = true, .comm = MPI_COMM_NULL};
    char elements[64] = "", *equals = strchr(item, '=');
    if (equals) {
        snprintf(elements, sizeof elements, "%s", equals);
        *equals = '\0';
    }
    int code = read_elements(options, equals ? equals + 1 : NULL, &entry.data);
    if (code < 0)
        return code;
    if (strcmp(item, CALL_LIBRARY) == 0 || strncmp(item, CALL_LIBRARY ":", 4) == 0)
        return add_library(options, &entry, item, elements, comm);
    if (strcmp(item, "exchange") != 0 && strcmp(item, TRV_RULE_AUTO) != 0)
        return add_selection(options, &entry, item, elements);
    entry.kind = strcmp(item, "exchange") == 0 ? BENCH_EXCHANGE : BENCH_CHOSEN;
    if (entry.kind == BENCH_EXCHANGE && !options->turns)
        return trv_fail(TRV_ERR_ARGUMENT, "exchange is measured with --turns only; add it, or leave exchange out");
    snprintf(entry.choice.label, sizeof entry.choice.label, "%s", item);
    return add_labelled(options, &entry, item, elements);
}

/* ---- Supported entries ------------------------------------------------------------------------------------------- */

int bench_supports(const bench_options_t *options, const bench_entry_t *entry, int member, const trv_torus_t *torus)
{
    const char *name = cli_member_name(&entry->choice, member);
    const trv_network_t alone = {TRV_NETWORK, .torus = *torus};
    const bool has_network = options->network.torus.ranks > 0;
    trv_schedule_t *schedule = NULL;
    int code = trv_schedule_create_on(&schedule, has_network ? &options->network : &alone, name, options->collective,
                                      0);
    if (code == TRV_OK && trv_collective_shape(options->collective)->reduces &&
        trv_schedule_exactness(schedule) == TRV_COVERS && !trv_op_idempotent(entry->data.op))
        code = trv_fail(TRV_ERR_UNSUPPORTED,
                        "%s adds some contributions twice, so it supports max, min, land, lor, band and bor, not %s",
                        name, trv_op_name(entry->data.op));
    trv_schedule_destroy(schedule);
    return code;
}

/* Drops the members that support none of the tori. An entry without remaining members is dropped, or is an error if
 * the user named it. */
static int keep_supported(bench_options_t *options)
{
    int kept = 0;
    for (int e = 0; e < options->entries; e++) {
        bench_entry_t entry = options->entry[e];
        int members = 0;
        for (int i = 0; i < entry.choice.members; i++) {
            bool any = false;
            for (int t = 0; t < options->tori && !any; t++)
                any = bench_supports(options, &entry, i, &options->torus[t]) == TRV_OK;
            if (any)
                entry.choice.member[members++] = entry.choice.member[i];
        }
        entry.choice.members = members;
        if (members > 0 || entry.kind != BENCH_ALGORITHM)
            options->entry[kept++] = entry;
        else if (entry.required)
            return TRV_ERR_UNSUPPORTED; /* the last reason is the error message */
    }
    options->entries = kept;
    return TRV_OK;
}

/* Replaces each family by one entry per member. */
static int split_families(bench_options_t *options)
{
    bench_entry_t *all = malloc((size_t)options->entries * sizeof *all);
    if (!all)
        return trv_fail_memory();
    const int entries = options->entries;
    memcpy(all, options->entry, (size_t)entries * sizeof *all);
    options->entries = 0;
    int code = TRV_OK;
    for (int e = 0; e < entries && code == TRV_OK; e++) {
        const int members = all[e].choice.members;
        const char *elements = strchr(all[e].label, '=');
        if (members <= 1)
            code = bench_add_entry(options, &all[e]);
        for (int i = 0; members > 1 && i < members && code == TRV_OK; i++) {
            bench_entry_t one = all[e];
            one.choice.members = 1;
            one.choice.member[0] = all[e].choice.member[i];
            snprintf(one.choice.label, sizeof one.choice.label, "%s", cli_member_name(&all[e].choice, i));
            snprintf(one.label, sizeof one.label, "%s%s", one.choice.label, elements ? elements : "");
            code = bench_add_entry(options, &one);
        }
    }
    free(all);
    return code;
}

int bench_read_entries(bench_options_t *options, const char *list, MPI_Comm comm)
{
    char item[TRV_ALGORITHM_NAME_MAX];
    int more, code = TRV_OK;
    while (code == TRV_OK && (more = trv_next_item(&list, "algorithms", item, sizeof item)) != 0)
        code = more < 0 ? more : add_item(options, item, comm);
    if (code == TRV_OK)
        code = keep_supported(options);
    return code == TRV_OK && options->turns ? split_families(options) : code;
}
