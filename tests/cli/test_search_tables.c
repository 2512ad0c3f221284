/*
 * The built-in tables of distances on rings and of star chains: what the searches find is in them. The program also
 * makes them:
 *
 *     test_search_tables rings > src/search/distances/distances_table.c
 *     test_search_tables stars > src/search/stars/stars_table.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "search/distances/distances.h"
#include "search/stars/cover.h"
#include "search/stars/search.h"
#include "search/stars/stars.h"
#include "tool.h"

#define RINGS_WORK (INT64_C(1) << 30) /* complete on these rings */
#define STARS_WORK (INT64_C(1) << 28) /* complete on tori of up to three dimensions and 4096 ranks */
#define COVER_WORK (INT64_C(1) << 30)
#define TEXT_MAX   (1 << 13) /* maximum length of a chain as text */

/* ---- Rings ------------------------------------------------------------------------------------------------------- */

/* Lists the distances of a ring: for each number of steps those with fewer hops than all with fewer steps, and those
 * without deferral that have more hops. */
static int find_distances(int size, trv_distances_t *row)
{
    int first, last, rows = 0;
    int64_t hops_min = INT64_MAX;
    trv_distances_front_steps(size, &first, &last);
    for (int steps = first; steps <= last; steps++) {
        trv_distances_t distances, at_once;
        assert_int_equal(trv_distances_search(size, steps, RINGS_WORK, (trv_span_t){0}, &distances, &at_once), 0);
        if (distances.hops < hops_min) {
            hops_min = distances.hops;
            row[rows++] = distances;
        }
        if (at_once.hops > hops_min)
            row[rows++] = at_once;
    }
    return rows;
}

static void print_rings(int last, FILE *out)
{
    fputs("/*\n * Distances for rings of 2 to 128. Generated; do not edit. Made by\n *\n"
          " *     test_search_tables rings > src/search/distances/distances_table.c\n *\n"
          " * Per ring: the number of its rows; per row: steps, hops, distances (see distances.h).\n */\n"
          "#include \"search/distances/distances.h\"\n\n/* clang-format off */\nconst unsigned short "
          "trv_distances_table[] = {\n",
          out);
    for (int size = 2; size <= last; size++) {
        trv_distances_t row[2 * TRV_DISTANCES_STEPS_MAX];
        const int rows = find_distances(size, row);
        fprintf(out, "    /* %d */ %d,", size, rows);
        for (int i = 0; i < rows; i++) {
            fprintf(out, "%s %d,%lld,", i % 4 == 3 ? "\n       " : "", row[i].steps, (long long)row[i].hops);
            for (int k = 0; k < row[i].steps; k++)
                fprintf(out, "%d,", row[i].distance[k]);
        }
        fputc('\n', out);
    }
    fputs("};\n", out);
}

/* ---- Stars ------------------------------------------------------------------------------------------------------- */

/* The tori whose direct sums are in the table. It also has coverings, for the tori up to 16x16 and 8x8x8. */
static const char *const table_tori[] = {
    "2x2",     "2x4",   "3x3",      "3x4",      "4x4",      "4x8",     "5x5",     "6x6",     "8x8",   "8x16",
    "9x9",     "10x10", "12x12",    "16x16",    "16x32",    "27x27",   "32x32",   "8x64",    "16x64", "64x64",
    "2x2x2",   "2x2x4", "3x3x3",    "4x4x4",    "4x4x8",    "4x8x8",   "5x5x5",   "6x6x6",   "8x8x8", "8x8x16",
    "8x16x16", "9x9x9", "10x10x10", "12x12x12", "16x16x16", "2x2x2x2", "3x3x3x3", "4x4x4x4", NULL,
};

static bool is_listed(const char *torus)
{
    int t = 0;
    while (table_tori[t] && strcmp(torus, table_tori[t]) != 0)
        t++;
    return table_tori[t] != NULL;
}

static void print_chain(const trv_star_chain_t *chain, FILE *out)
{
    static char text[TEXT_MAX];
    const size_t length = trv_star_format(chain, text, sizeof text);
    for (size_t at = 0; at < length; at += 100)
        fprintf(out, "\n      \"%.100s%s\"", text + at, at + 100 < length ? "" : "\\n");
}

/* Prints the direct sums of a torus, if `direct_sums`, and a covering if that has fewer steps. */
static void print_torus(const char *name, bool direct_sums, FILE *out)
{
    static trv_star_chain_t chain[TRV_STAR_FOUND_MAX], cover;
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(name, &torus), 0);
    const int count = trv_star_search(&torus, STARS_WORK, (trv_span_t){0}, chain);
    if (count > 0 && direct_sums) {
        fprintf(out, "    { \"%s\",", name);
        for (int i = 0; i < count; i++)
            print_chain(&chain[i], out);
        fputs(" },\n", out);
    }
    if (count > 0 && chain[0].steps <= trv_star_steps_min(&torus))
        return;
    assert_int_equal(trv_star_cover_search(&torus, count > 0 ? chain : NULL, COVER_WORK, (trv_span_t){0}, &cover), 0);
    if (!cover.direct) {
        fprintf(out, "    { \"%s-cover\",", name);
        print_chain(&cover, out);
        fputs(" },\n", out);
    }
}

/* Prints the direct sums of the listed tori, and coverings of all small tori of two and three dimensions. */
static void print_stars(FILE *out)
{
    char name[32];
    fputs("/*\n * Star chains that are known. Generated; do not edit. Made by\n *\n"
          " *     test_search_tables stars > src/search/stars/stars_table.c\n *\n"
          " * Per torus its direct sums, the fewest steps first, or a covering (see store.h and stars.h).\n */\n"
          "#include \"search/stars/store.h\"\n\n#include <stddef.h>\n\n/* clang-format off */\nconst trv_star_row_t "
          "trv_star_table[] = {\n",
          out);
    for (int t = 0; table_tori[t]; t++)
        print_torus(table_tori[t], true, out);
    for (int b = 2; b <= 16; b++)
        for (int c = b; c <= 16; c++) {
            snprintf(name, sizeof name, "%dx%d", b, c);
            if (!is_listed(name))
                print_torus(name, false, out);
        }
    for (int a = 2; a <= 8; a++)
        for (int b = a; b <= 8; b++)
            for (int c = b; c <= 8; c++) {
                snprintf(name, sizeof name, "%dx%dx%d", a, b, c);
                if (!is_listed(name))
                    print_torus(name, false, out);
            }
    fputs("    { NULL, NULL },\n};\n", out);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

/* The first rings of the table are those that the search finds. */
static void test_rings(void **state)
{
    char *made = NULL, *table = tool_read_file(TRIVANCE_DOCS "/../src/search/distances/distances_table.c");
    size_t length;
    (void)state;
    FILE *out = open_memstream(&made, &length);
    print_rings(48, out);
    fclose(out);
    length -= strlen("};\n");
    made[length] = table[length] = '\0';
    assert_string_equal(made, table);
    free(made);
    free(table);
}

/* Every row that the search finds is in the table. */
static void test_stars(void **state)
{
    static const char *const torus[] = {"4x4", "8x8", "3x4", "4x4x8", "8x8x8"};
    char *table = tool_read_file(TRIVANCE_DOCS "/../src/search/stars/stars_table.c");
    (void)state;
    for (size_t t = 0; t < sizeof torus / sizeof torus[0]; t++) {
        char *made = NULL;
        size_t length;
        FILE *out = open_memstream(&made, &length);
        print_torus(torus[t], true, out);
        fclose(out);
        assert_true(length > 0);
        if (!strstr(table, made))
            fail_msg("not in the table:\n%s", made);
        free(made);
    }
    free(table);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings),
        cmocka_unit_test(test_stars),
    };
    if (argc > 1 && strcmp(argv[1], "rings") == 0)
        return print_rings(TRV_DISTANCES_TABLE_MAX, stdout), 0;
    if (argc > 1 && strcmp(argv[1], "stars") == 0)
        return print_stars(stdout), 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
