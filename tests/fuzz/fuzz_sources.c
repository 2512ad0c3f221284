/*
 * Fuzzes the sources of discovery: Slurm's variables and the output of `scontrol show topology`, the functions of
 * Fujitsu MPI, and the attributes of PMIx. Each source is refused with a sentence, or gives every rank a coordinate of
 * the torus.
 *
 * An input is either text, whose lines describe the records of the ranks,
 *
 *     rank HOST                      begins the record of the next rank
 *     slurm ADDRESS PATTERN
 *     fujitsu NUMBER…                the members of trv_fujitsu_record_t, in order; those that are missing are 0
 *     pmix TYPE NUMBER…              those of trv_pmix_record_t; the type - is none
 *     dims TEXT                      TRIVANCE_SLURM_DIMS
 *
 * or the bytes of records as they arrive from other ranks. All text is also read as the output of scontrol.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "settings/slurm_dims.h"
#include "topology/slurm_lines.h"
#include "topology/sources/sources.h"

enum { RANKS_MAX = 64, DIMS_MAX = 1024 };

/* ---- Input ------------------------------------------------------------------------------------------------------- */

/* Copies the next word of a line into `word`, whose size is `size`, and returns the rest of the line. */
static const char *word_read(const char *line, char *word, size_t size)
{
    line += strspn(line, " ");
    const size_t length = strcspn(line, " ");
    snprintf(word, size, "%.*s", (int)(length < size ? length : size - 1), line);
    return line + length;
}

static void numbers_read(const char *line, void *numbers, size_t count)
{
    int32_t *number = numbers;
    char word[16];
    for (size_t i = 0; i < count && *line; i++) {
        line = word_read(line, word, sizeof word);
        number[i] = (int32_t)strtoul(word, NULL, 10);
    }
}

static void pmix_read(const char *line, trv_pmix_record_t *pmix)
{
    char type[sizeof pmix->type] = "";
    int32_t number[5 + 2 * TRV_DIMS_MAX] = {0};
    line = word_read(line, type, sizeof type);
    numbers_read(line, number, sizeof number / sizeof *number);
    *pmix = (trv_pmix_record_t){.present = number[0],
                                .locations = number[1],
                                .dims = number[2],
                                .fabric_dims = number[3],
                                .shape_dims = number[4]};
    if (strcmp(type, "-") != 0)
        memcpy(pmix->type, type, sizeof type);
    memcpy(pmix->at, &number[5], sizeof pmix->at);
    memcpy(pmix->shape, &number[5 + TRV_DIMS_MAX], sizeof pmix->shape);
}

static int line_read(const char *line, trv_rank_record_t *record, int ranks, char *dims)
{
    char key[16];
    const char *rest = word_read(line, key, sizeof key);
    if (strcmp(key, "rank") == 0 && ranks < RANKS_MAX)
        word_read(rest, record[ranks++].host, sizeof record->host);
    trv_rank_record_t *last = &record[ranks > 0 ? ranks - 1 : 0];
    if (strcmp(key, "slurm") == 0) {
        rest = word_read(rest, last->slurm.address, sizeof last->slurm.address);
        word_read(rest, last->slurm.pattern, sizeof last->slurm.pattern);
    } else if (strcmp(key, "fujitsu") == 0) {
        numbers_read(rest, &last->fujitsu, sizeof last->fujitsu / sizeof(int32_t));
    } else if (strcmp(key, "pmix") == 0) {
        pmix_read(rest, &last->pmix);
    } else if (strcmp(key, "dims") == 0) {
        word_read(rest, dims, DIMS_MAX);
    }
    return ranks;
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* Reads the text of TRIVANCE_SLURM_DIMS, as the settings do. */
static bool dims_check(const char *dims)
{
    char name[TRV_SLURM_NAME_MAX];
    trv_torus_t torus;
    int found;
    while ((found = trv_slurm_dims_next(&dims, name, &torus)) > 0)
        fuzz_expect(torus.ranks > 0 && torus.dims > 0);
    return found == 0;
}

static void report(void *context, bool wrong, const char *sentence)
{
    (void)context, (void)wrong;
    fuzz_expect(strlen(sentence) > 10);
}

static void check(const trv_rank_record_t *record, int ranks, const char *dims)
{
    const trv_source_options_t options = {.slurm_dims = dims};
    char text[TRV_FOUND_TEXT_MAX];
    trv_found_t found;
    const int code = trv_discover(&found, record, ranks, &options, report, NULL);
    fuzz_expect(code == 0 || code == 1 || code == TRV_ERR_MEMORY);
    if (code == 1) {
        fuzz_expect(found.torus.dims > 0 && found.part.ranks <= ranks);
        fuzz_expect(!found.in_order || found.part.ranks == ranks);
        for (int r = 0; r < ranks; r++)
            fuzz_expect(found.coordinate[r] >= 0 && found.coordinate[r] < found.torus.ranks);
        fuzz_expect(strlen(trv_found_text(&found, ranks, text)) > 10);
    }
    trv_found_clear(&found);
}

static void check_text(const char *text)
{
    static trv_rank_record_t record[RANKS_MAX];
    char dims[DIMS_MAX] = "", line[512];
    int ranks = 0;
    memset(record, 0, sizeof record);
    const int tori = trv_slurm_read_dims(text, dims, sizeof dims);
    fuzz_expect(tori < 0 ? strlen(trv_last_error()) > 10 : tori == 0 || dims_check(dims));
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), at);
        ranks = line_read(line, record, ranks, dims);
    }
    if (ranks > 0)
        check(record, ranks, *dims && dims_check(dims) ? dims : NULL);
}

static void check_bytes(const uint8_t *data, size_t size)
{
    static trv_rank_record_t record[RANKS_MAX];
    int ranks = 0;
    for (; size > 0 && ranks < RANKS_MAX; ranks++) {
        const size_t bytes = size < sizeof record[0] ? size : sizeof record[0];
        trv_record_receive(&record[ranks], data, bytes);
        data += bytes;
        size -= bytes;
    }
    if (ranks > 0)
        check(record, ranks, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_text(text);
    check_bytes(data, size);
    free(text);
    return 0;
}
