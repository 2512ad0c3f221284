/*
 * Collective initialization of the fabric: the ranks open their interfaces, exchange the descriptions and addresses of
 * the interfaces, and assign the interfaces to the ports of the torus. An error on one rank is returned on all ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "transport/fabric/inside.h"

enum { PROVIDER_MAX = 64, HOST_MAX = 256, RECORD_MAX = 1 << 14 };

/* ---- Records of all ranks ---------------------------------------------------------------------------------------- */

typedef struct records {
    uint8_t *data;
    size_t stride; /* bytes of a rank's record, including padding with zeros */
} records_t;

static trv_reader_t records_of(const records_t *records, int rank)
{
    return trv_reader(records->data + (size_t)rank * records->stride, records->stride);
}

/* Gathers the records of all ranks, unless the code of a rank is an error. Clears the writer, which has the record of
 * this rank. */
static int records_exchange(const trv_oob_t *oob, int code, trv_writer_t *writer, records_t *records)
{
    int64_t longest = writer->used <= RECORD_MAX ? (int64_t)writer->used : 0;
    *records = (records_t){.data = NULL};
    code = code == TRV_OK && writer->failed ? trv_fail_memory() : code;
    if (code == TRV_OK && writer->used > RECORD_MAX)
        code = trv_fail(TRV_ERR_UNSUPPORTED, "the addresses of the interfaces are too long");
    int rc = oob->allreduce_max(oob->context, &longest);
    if (rc == TRV_OK) {
        records->stride = (size_t)longest;
        records->data = calloc((size_t)oob->ranks + 1, records->stride + 1);
        code = code == TRV_OK && !records->data ? trv_fail_memory() : code;
        rc = trv_oob_agree(oob, code);
    }
    if (rc == TRV_OK) {
        uint8_t *mine = records->data + (size_t)oob->ranks * records->stride;
        if (writer->used > 0)
            memcpy(mine, writer->data, writer->used);
        rc = oob->allgather(oob->context, mine, records->data, records->stride);
    }
    trv_writer_clear(writer);
    return rc;
}

/* ---- The first exchange: hosts and interfaces -------------------------------------------------------------------- */

static int read_interfaces(trv_fabric_t *fabric, const char *own_host, const records_t *records)
{
    const trv_oob_t *oob = &fabric->options.oob;
    int here = 0, rc = TRV_OK;
    bool known = true;
    for (int r = 0; rc == TRV_OK && r < oob->ranks; r++) {
        char host[HOST_MAX];
        trv_reader_t reader = records_of(records, r);
        trv_read_text(&reader, host, sizeof host);
        const int coordinate = (int)trv_read_number(&reader) - 1;
        const bool same = strcmp(host, own_host) == 0;
        snprintf(fabric->host[r], sizeof fabric->host[r], "%.*s", TRV_HOST_MAX - 1, host);
        known = known && coordinate >= 0;
        here += same;
        if (fabric->local && !same)
            return trv_fail(TRV_ERR_UNSUPPORTED,
                            "libfabric's provider %s connects ranks of one host only, and rank %d is on %s; select "
                            "another one, for example TRIVANCE_PROVIDER=tcp",
                            trv_fabric_provider(fabric), r, host);
        rc = trv_fabric_collect_interfaces(fabric, r, host, coordinate < 0 ? r : coordinate, &reader);
    }
    fabric->oversubscribed = here > sysconf(_SC_NPROCESSORS_ONLN);
    fabric->torus = fabric->options.torus;
    if (rc == TRV_OK && (!known || fabric->torus.dims == 0))
        rc = trv_torus_init(&fabric->torus, 1, &oob->ranks);
    return rc;
}

static int exchange_interfaces(trv_fabric_t *fabric)
{
    trv_writer_t writer = {.data = NULL};
    records_t records;
    char host[HOST_MAX] = "";
    gethostname(host, sizeof host - 1);
    trv_write_text(&writer, host);
    trv_write_number(&writer, fabric->options.coordinate < 0 ? 0 : (uint32_t)fabric->options.coordinate + 1);
    trv_fabric_publish_interfaces(fabric, &writer);
    int rc = records_exchange(&fabric->options.oob, TRV_OK, &writer, &records);
    const bool exchanged = rc == TRV_OK;
    if (exchanged)
        rc = read_interfaces(fabric, host, &records);
    if (rc == TRV_OK)
        rc = trv_fabric_check_list(fabric);
    if (rc == TRV_OK && fabric->options.oob.rank == 0)
        trv_fabric_find_order(fabric);
    if (rc == TRV_OK)
        rc = trv_fabric_query_routes(fabric);
    rc = exchanged ? trv_oob_agree(&fabric->options.oob, rc) : rc;
    if (rc == TRV_OK && trv_fabric_shares_network(fabric))
        rc = trv_fabric_probe(fabric);
    free(records.data);
    return rc;
}

/* ---- The second exchange: addresses ------------------------------------------------------------------------------ */

static int exchange_addresses(trv_fabric_t *fabric)
{
    trv_writer_t writer = {.data = NULL};
    records_t records;
    const int code = trv_fabric_open_interfaces(fabric);
    trv_fabric_publish_addresses(fabric, &writer);
    int rc = records_exchange(&fabric->options.oob, code, &writer, &records);
    const bool exchanged = rc == TRV_OK;
    fabric->addresses = records.data; /* the peers' addresses point into it */
    for (int r = 0; rc == TRV_OK && r < fabric->options.oob.ranks; r++) {
        trv_reader_t reader = records_of(&records, r);
        rc = trv_fabric_collect_addresses(fabric, r, &reader);
    }
    if (rc == TRV_OK)
        rc = trv_fabric_assign(fabric);
    return exchanged ? trv_oob_agree(&fabric->options.oob, rc) : rc;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Creates the fabric on rank 0 first, because all ranks use its provider and parameters. */
static int create_all(trv_fabric_t **fabric, const trv_fabric_options_t *options)
{
    const trv_oob_t *oob = &options->oob;
    struct {
        char provider[PROVIDER_MAX], parameters[TRV_PARAMETERS_MAX];
    } first = {.provider = ""};
    int rc = TRV_OK;
    if (oob->rank == 0)
        rc = trv_fabric_create(fabric, options, options->provider, NULL);
    if (*fabric) {
        snprintf(first.provider, sizeof first.provider, "%s", trv_fabric_provider(*fabric));
        snprintf(first.parameters, sizeof first.parameters, "%s", trv_fabric_parameters(NULL));
    }
    const int received = oob->broadcast(oob->context, &first, sizeof first, 0);
    if (received < 0)
        return received;
    if (oob->rank != 0 && *first.provider)
        rc = trv_fabric_create(fabric, options, first.provider, first.parameters);
    return trv_oob_agree(oob, rc);
}

int trv_fabric_open(trv_fabric_t **opened, const trv_fabric_options_t *options)
{
    trv_fabric_t *fabric = NULL;
    *opened = NULL;
    int rc = create_all(&fabric, options);
    if (rc == TRV_OK)
        rc = exchange_interfaces(fabric);
    if (rc == TRV_OK)
        rc = exchange_addresses(fabric);
    if (rc < 0) {
        trv_fabric_close(fabric);
        return rc;
    }
    fabric->options.provider = fabric->options.ports = fabric->options.local = NULL; /* the caller may free them */
    *opened = fabric;
    return TRV_OK;
}
