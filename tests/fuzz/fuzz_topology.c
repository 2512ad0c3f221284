/*
 * Fuzzes the reader of topology files: a file is either refused with an error sentence that contains the position, or
 * it is the same after a write and a read, and its ranks and hosts have coordinates.
 */
#include <stdlib.h>
#include <string.h>

#include <trivance/common.h>

#include "fuzz.h"
#include "topology/topology_file.h"

static char *write_text(const trv_topology_t *topology)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fuzz_expect(trv_topology_write(topology, out) == TRV_OK);
    fclose(out);
    return text;
}

static void check_round_trip(const trv_topology_t *topology)
{
    trv_topology_t again;
    char *text = write_text(topology);
    fuzz_expect(trv_topology_parse(&again, "again", text, strlen(text), NULL, NULL) == TRV_OK);
    char *second = write_text(&again);
    fuzz_expect(strcmp(text, second) == 0);
    free(text);
    free(second);
    trv_topology_clear(&again);
}

static void warn(void *context, const char *sentence)
{
    (void)context;
    fuzz_expect(strncmp(sentence, "fuzz:", 5) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trv_topology_t topology;
    if (trv_topology_parse(&topology, "fuzz", (const char *)data, size, warn, NULL) < 0) {
        fuzz_expect(strncmp(trv_last_error(), "fuzz:", 5) == 0 && strlen(trv_last_error()) > 15);
        fuzz_expect(topology.count == 0 && !topology.coordinate && !topology.host);
        return 0;
    }
    fuzz_expect(topology.count > 0);
    for (int i = 0; i < topology.count; i++) {
        fuzz_expect(topology.coordinate[i] >= 0 && topology.coordinate[i] < topology.torus.ranks);
        fuzz_expect(trv_topology_coordinate(&topology, i, topology.host ? topology.host[i] : "") ==
                    topology.coordinate[i]);
    }
    fuzz_expect(trv_topology_coordinate(&topology, topology.count, "") <= topology.torus.ranks);
    check_round_trip(&topology);
    trv_topology_clear(&topology);
    return 0;
}
