/*
 * What was simulated, kept in the folder until the page is there, so that an interrupted run goes on where it stopped:
 * a JSON object per line, which names its point by all that its result depends on. A line begins with its line break, so
 * one that was torn does not spoil the next.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/figures/figures.h"
#include "cli/shared/grid.h"
#include "cli/shared/network_options.h"
#include "base/error.h"
#include "base/hash.h"

#define KEY_MAX (CLI_NETWORK_TEXT_MAX + 256 + CLI_CHOICES_MAX * TRV_ALGORITHM_NAME_MAX)

/* With the members, as the best of all baselines is not always of the same; and with the version, as another one may
 * simulate otherwise. */
static void format_key(const cli_point_t *point, char key[KEY_MAX])
{
    char torus[TRV_TORUS_TEXT_MAX], network[CLI_NETWORK_TEXT_MAX];
    cli_network_format(&(cli_network_t){.options = point->options}, network);
    int used = snprintf(key, KEY_MAX,
                        TRV_VERSION " %s %" PRIu64 " %s, %s:", trv_torus_format(&point->torus, torus, sizeof torus),
                        point->bytes, network, point->choice->label);
    for (int i = 0; i < point->choice->members; i++)
        used += snprintf(key + used, KEY_MAX - (size_t)used, " %s", cli_member_name(point->choice, i));
    if (point->options.slow_links > 0) {
        const size_t links = (size_t)point->options.slow_links * sizeof *point->options.slow_link;
        snprintf(key + used, KEY_MAX - (size_t)used, " links %016" PRIx64,
                 trv_hash(TRV_HASH_SEED, point->options.slow_link, links));
    }
}

int fig_kept_open(fig_kept_t *kept, const char *path)
{
    char *line = NULL;
    size_t capacity = 0;
    kept->path = path;
    kept->results = json_object();
    kept->file = fopen(path, "a+");
    if (!kept->results || !kept->file)
        return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be written", path);
    while (getline(&line, &capacity, kept->file) >= 0) {
        json_t *result = json_loads(line, 0, NULL);
        const char *key = json_string_value(json_object_get(result, "point"));
        if (key)
            json_object_set(kept->results, key, result);
        json_decref(result);
    }
    free(line);
    return TRV_OK;
}

bool fig_kept_find(const fig_kept_t *kept, cli_point_t *point)
{
    char key[KEY_MAX];
    const char *algorithm;
    json_int_t packet_hops;
    format_key(point, key);
    if (json_unpack(json_object_get(kept->results, key), "{s:s, s:F, s:I}", "algorithm", &algorithm, "time_ns",
                    &point->time_ns, "packet_hops", &packet_hops))
        return false;
    point->packet_hops = (uint64_t)packet_hops;
    snprintf(point->algorithm, sizeof point->algorithm, "%s", algorithm);
    return true;
}

int fig_kept_add(fig_kept_t *kept, const cli_point_t *point)
{
    char key[KEY_MAX];
    format_key(point, key);
    json_t *result = json_pack("{s:s, s:s, s:f, s:I}", "point", key, "algorithm", point->algorithm, "time_ns",
                               point->time_ns, "packet_hops", (json_int_t)point->packet_hops);
    char *text = json_dumps(result, JSON_COMPACT);
    bool good = text && fprintf(kept->file, "\n%s", text) > 0 && fflush(kept->file) == 0;
    free(text);
    json_decref(result);
    return good ? TRV_OK : trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' could not be written", kept->path);
}

void fig_kept_close(fig_kept_t *kept, bool needed)
{
    if (kept->file)
        fclose(kept->file);
    if (kept->file && !needed)
        unlink(kept->path);
    json_decref(kept->results);
    kept->file = NULL;
    kept->results = NULL;
}
