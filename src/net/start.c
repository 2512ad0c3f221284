/*
 * Start, failure and end of a net, and information about its ports.
 *
 * All ranks connect to rank 0 (bootstrap/tcp), which sends them the settings of the job; then they open the fabric
 * collectively. An error on one rank is returned on all ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "net/inside.h"
#include "collective/model.h"

/* ---- Failure ----------------------------------------------------------------------------------------------------- */

int trv_net_check(const trv_net_t *net)
{
    return net ? trv_bootstrap_state(net->bootstrap)
               : trv_fail(TRV_ERR_ARGUMENT, "the net is NULL; trv_net_init creates one");
}

int trv_net_break(trv_net_t *net)
{
    char sentence[TRV_REASON_MAX];
    const char *reason = trv_last_error();
    if (strncmp(reason, "rank ", 5) == 0) /* it names the rank */
        snprintf(sentence, sizeof sentence, "%s", reason);
    else
        snprintf(sentence, sizeof sentence, "rank %d: %.*s", net->rank, TRV_REASON_MAX - 40, reason);
    if (!trv_bootstrap_has_failed(net->bootstrap))
        trv_bootstrap_fail(net->bootstrap, sentence);
    return trv_bootstrap_state(net->bootstrap);
}

static void fabric_failed(void *context, const char *sentence)
{
    trv_net_t *net = context;
    trv_bootstrap_report(net->bootstrap, sentence, true);
}

static void message_length_wrong(void *context, const char *sentence)
{
    trv_net_t *net = context;
    trv_bootstrap_report(net->bootstrap, sentence, false);
}

static int net_reason(void *context)
{
    const trv_net_t *net = context;
    return trv_bootstrap_state(net->bootstrap);
}

/* Callbacks of the bootstrap. */

static void bootstrap_log(void *context, const char *sentence)
{
    const trv_net_t *net = context;
    if (net->log)
        net->log(net->log_context, sentence);
}

static void bootstrap_failed(void *context)
{
    trv_net_t *net = context;
    trv_fabric_t *fabric = atomic_load(&net->breakable);
    if (fabric)
        trv_fabric_break(fabric);
}

void trv_net_abort(trv_net_t *net, const char *why)
{
    char sentence[TRV_REASON_MAX];
    if (!net)
        return;
    snprintf(sentence, sizeof sentence, "rank %d has aborted: %.*s", net->rank, TRV_REASON_MAX - 40,
             why && *why ? why : "no reason was given");
    trv_bootstrap_fail(net->bootstrap, sentence);
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

/* Encodes the shared paths that the rules file of rank 0 declares. */
static void paths_write(const trv_rules_t *rules, trv_writer_t *writer)
{
    char torus[TRV_TORUS_TEXT_MAX] = "";
    if (rules->paths.dims > 0)
        trv_torus_format(&rules->paths, torus, sizeof torus);
    trv_write_text(writer, torus);
    trv_write_number(writer, rules->shared_paths);
    trv_write_number(writer, rules->one_path);
}

static bool paths_read(trv_rules_t *rules, trv_reader_t *reader)
{
    char torus[TRV_TORUS_TEXT_MAX];
    trv_read_text(reader, torus, sizeof torus);
    rules->shared_paths = trv_read_number(reader);
    rules->one_path = trv_read_number(reader) != 0;
    return !*torus || trv_torus_parse(torus, &rules->paths) == TRV_OK;
}

static int net_join(trv_net_t *net)
{
    const int found = net->rank == 0 && net->discovers ? trv_net_discover(net) : TRV_OK;
    if (found < 0)
        return found;
    trv_writer_t writer = {.data = NULL};
    trv_settings_t *settings = &net->settings;
    double fragment = (double)net->fragment,
           *number[] = {&net->timeout_ns,  &settings->alpha_ns,    &settings->bandwidth_bps,
                        &settings->hop_ns, &settings->overhead_ns, &fragment};
    trv_write_text(&writer, net->torus);
    trv_write_text(&writer, net->algorithm);
    paths_write(&settings->file_rules, &writer);
    for (int i = 0; i < 6; i++)
        trv_write_real(&writer, *number[i]);
    int rc = writer.failed ? trv_fail_memory() : trv_bootstrap_join(net->bootstrap, writer.data, writer.used);
    trv_writer_clear(&writer);
    if (rc < 0 || net->rank == 0)
        return rc;
    size_t bytes;
    const void *welcome = trv_bootstrap_welcome(net->bootstrap, &bytes);
    trv_reader_t reader = trv_reader(welcome, bytes);
    trv_read_text(&reader, net->torus, sizeof net->torus);
    trv_read_text(&reader, net->algorithm, sizeof net->algorithm);
    const bool right = paths_read(&settings->file_rules, &reader);
    for (int i = 0; i < 6; i++)
        *number[i] = trv_read_real(&reader);
    net->fragment = fragment > 0 && fragment < 0x1p53 ? (size_t)fragment : 0;
    return right && trv_reader_ends(&reader) ? TRV_OK
                                             : trv_fail(TRV_ERR_INVALID, "the settings that rank 0 sent are corrupted");
}

/* Out-of-band communication: each operation is an exchange of all ranks' records through rank 0. */

static int oob_allgather(void *context, const void *mine, void *all, size_t bytes)
{
    const trv_net_t *net = context;
    int rc = trv_bootstrap_exchange(net->bootstrap, mine, bytes);
    for (int r = 0; rc == TRV_OK && r < net->ranks; r++) {
        size_t got;
        const void *record = trv_bootstrap_record(net->bootstrap, r, &got);
        if (got != bytes)
            return trv_fail(TRV_ERR_INVALID, "the record of rank %d has an unexpected length", r);
        memcpy((char *)all + (size_t)r * bytes, record, bytes);
    }
    return rc;
}

static int oob_allreduce_max(void *context, int64_t *value)
{
    const trv_net_t *net = context;
    int rc = trv_bootstrap_exchange(net->bootstrap, value, sizeof *value);
    for (int r = 0; rc == TRV_OK && r < net->ranks; r++) {
        size_t bytes;
        int64_t other = 0;
        const void *record = trv_bootstrap_record(net->bootstrap, r, &bytes);
        memcpy(&other, record, bytes < sizeof other ? bytes : sizeof other);
        *value = other > *value ? other : *value;
    }
    return rc;
}

static int oob_broadcast(void *context, void *data, size_t bytes, int root)
{
    const trv_net_t *net = context;
    size_t got;
    int rc = trv_bootstrap_exchange(net->bootstrap, data, net->rank == root ? bytes : 0);
    if (rc < 0)
        return rc;
    const void *record = trv_bootstrap_record(net->bootstrap, root, &got);
    if (got != bytes)
        return trv_fail(TRV_ERR_INVALID, "the record of rank %d has an unexpected length", root);
    memcpy(data, record, bytes);
    return TRV_OK;
}

static void shared_paths_log(const trv_net_t *net, const trv_torus_t *torus)
{
    char text[TRV_MODEL_SHARED_PATHS_MAX], line[TRV_MODEL_SHARED_PATHS_MAX + 80];
    const trv_network_t network = {TRV_NETWORK, .torus = *torus};
    const trv_simulate_options_t simulation = trv_net_simulation(net, &network);
    trv_model_shared_paths_text(&simulation, torus, &net->settings.file_rules, text);
    snprintf(line, sizeof line, "%s%s", text,
             simulation.shared_paths ? "; plans take into account that both directions share it" : "");
    if (*text)
        net->log(net->log_context, line);
}

static void cables_log(const trv_net_t *net)
{
    const char *no_route = trv_fabric_no_route(net->fabric), *order = trv_fabric_cable_order(net->fabric);
    char line[TRV_REASON_MAX];
    if (net->rank != 0 || !net->log)
        return;
    if (trv_fabric_relays(net->fabric) && net->settings.info) {
        snprintf(line, sizeof line,
                 "%s: the hosts of the torus %s do not forward; schedules use the cables between neighbours, and other "
                 "messages are relayed",
                 no_route, net->torus);
        net->log(net->log_context, line);
    }
    if (trv_fabric_became_line(net->fabric)) {
        snprintf(line, sizeof line,
                 "no cable joins rank 0 and rank %d, so that the ranks are a line instead of a ring; TRIVANCE_TORUS=%s "
                 "suppresses this message",
                 net->ranks - 1, net->torus);
        net->log(net->log_context, line);
    }
    if (!trv_fabric_relays(net->fabric) && (*no_route || *order)) {
        snprintf(line, sizeof line, "%s%s%s%s",
                 *no_route ? no_route : "the ranks are not numbered along the cables between the hosts",
                 *no_route ? ": messages use a network that joins all hosts, and no cables between neighbours" : "",
                 *order ? "; to use the cables, number the ranks, with consecutive ranks on each host, in the order of "
                          "the hosts "
                        : "",
                 order);
        net->log(net->log_context, line);
    }
}

static int net_open_fabric(trv_net_t *net, const trv_net_options_t *options)
{
    const char *ports = options->ports ? options->ports : net->settings.ports,
               *local = trv_bootstrap_local(net->bootstrap);
    trv_fabric_options_t fabric = {.oob = {.rank = net->rank,
                                           .ranks = net->ranks,
                                           .allreduce_max = oob_allreduce_max,
                                           .broadcast = oob_broadcast,
                                           .allgather = oob_allgather,
                                           .context = net},
                                   .coordinate = net->rank,
                                   .provider = *net->provider ? net->provider : NULL,
                                   .ports = ports && *ports ? ports : NULL,
                                   .may_relay = true,
                                   .torus_is_set = *net->torus != '\0',
                                   .local = *local ? local : NULL,
                                   .fail = fabric_failed,
                                   .wrong_length = message_length_wrong,
                                   .reason = net_reason,
                                   .context = net};
    int rc = *net->torus ? trv_torus_parse(net->torus, &fabric.torus) : trv_torus_init(&fabric.torus, 1, &net->ranks);
    if (rc == TRV_OK)
        rc = trv_fabric_open(&net->fabric, &fabric);
    if (rc < 0)
        return rc;
    atomic_store(&net->breakable, net->fabric);
    if (trv_bootstrap_has_failed(net->bootstrap)) /* perhaps before `breakable` was set */
        trv_fabric_break(net->fabric);
    if (trv_fabric_relays(net->fabric)) {
        trv_torus_format(trv_fabric_torus(net->fabric), net->torus, sizeof net->torus);
        rc = trv_net_relay_start(net);
        if (rc < 0)
            return rc;
    }
    cables_log(net);
    if (net->settings.info && net->log) {
        char line[512], map[400];
        const int relay = trv_bootstrap_relay(net->bootstrap);
        if (relay > 0) {
            snprintf(line, sizeof line, "rank %d is connected to rank 0 through rank %d", net->rank, relay);
            net->log(net->log_context, line);
        }
        trv_fabric_describe(net->fabric, map, sizeof map);
        snprintf(line, sizeof line, "rank %d sends %s (%s)", net->rank, map, trv_fabric_provider(net->fabric));
        net->log(net->log_context, line);
        if (net->rank == 0)
            shared_paths_log(net, trv_fabric_torus(net->fabric));
    }
    return TRV_OK;
}

static void net_destroy(trv_net_t *net)
{
    trv_net_relay_stop(net);
    atomic_store(&net->breakable, NULL);
    if (net->fabric)
        trv_fabric_end(net->fabric); /* pending operations may use the memory that is freed next */
    trv_net_relay_free(net);
    trv_net_free_members(net);
    trv_flow_free(net);
    trv_bootstrap_close(net->bootstrap); /* until then its thread may break the fabric */
    trv_fabric_close(net->fabric);
    trv_settings_clear(&net->settings);
    trv_requests_clear(&net->requests);
    pthread_mutex_destroy(&net->flow_lock);
    pthread_mutex_destroy(&net->lock);
    free(net);
}

/* Ends a start that has failed: reports the error to the other ranks if the bootstrap exists, and frees the net. */
static int net_fail_start(trv_net_t *net, int code)
{
    if (net->bootstrap)
        trv_net_break(net);
    net_destroy(net);
    return code;
}

/* Ends a start with an invalid option: completes the bootstrap first, because the other ranks receive the error through
 * it. */
static int net_fail_options(trv_net_t *net, int code)
{
    char sentence[TRV_REASON_MAX];
    snprintf(sentence, sizeof sentence, "%s", trv_last_error());
    const bool met = net->bootstrap && net_join(net) == TRV_OK;
    trv_fail(code, "%s", sentence);
    if (met)
        return net_fail_start(net, code);
    net_destroy(net);
    return trv_fail(code, "%s", sentence);
}

int trv_net_init(trv_net_t **created, const trv_net_options_t *options)
{
    const trv_net_options_t none = {TRV_NET_OPTIONS};
    trv_bootstrap_options_t bootstrap = {.failed = bootstrap_failed, .log = bootstrap_log};
    char address[TRV_ADDRESSES_MAX] = "";
    if (!created)
        return trv_fail(TRV_ERR_ARGUMENT, "the argument for the new net is NULL; pass the address of a trv_net_t *");
    *created = NULL;
    options = options ? options : &none;
    int rc = trv_check_size(options->size, sizeof *options, "TRV_NET_OPTIONS");
    if (rc < 0)
        return rc;
    trv_net_t *net = calloc(1, sizeof *net);
    if (!net)
        return trv_fail_memory();
    pthread_mutex_init(&net->lock, NULL);
    pthread_mutex_init(&net->flow_lock, NULL);
    trv_net_requests_init(net);
    bootstrap.context = net;
    rc = trv_net_read_options(net, options, &bootstrap, address);
    if (rc < 0)
        return net_fail_options(net, rc);
    rc = net_join(net);
    net->settings.timeout_ns = net->timeout_ns; /* that of the options or of rank 0 */
    net->requests.timeout_ms = net->timeout_ns / 1e6;
    trv_recorder_begin(&net->settings);
    if (rc == TRV_OK)
        rc = net_open_fabric(net, options);
    if (rc == TRV_OK)
        rc = trv_comm_create(&net->world, net, net->rank, net->ranks);
    if (rc < 0)
        return net_fail_start(net, rc);
    *created = net;
    return TRV_OK;
}

/* ---- End --------------------------------------------------------------------------------------------------------- */

static void fabric_poll(void *context)
{
    const trv_net_t *net = context;
    trv_fabric_poll(net->fabric);
}

int trv_net_finalize(trv_net_t **net)
{
    if (!net || !*net)
        return trv_fail(TRV_ERR_ARGUMENT, "the net is NULL; trv_net_init creates one");
    int rc = trv_bootstrap_state((*net)->bootstrap);
    if (rc == TRV_OK && atomic_load(&(*net)->pending) > 0)
        return trv_fail(TRV_ERR_STATE, "%d requests are not complete; wait for them before trv_net_finalize",
                        atomic_load(&(*net)->pending));
    if (rc == TRV_OK)
        rc = trv_bootstrap_leave((*net)->bootstrap, fabric_poll, *net);
    net_destroy(*net);
    *net = NULL;
    return rc;
}

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

int trv_net_ports(const trv_net_t *net) { return net ? trv_fabric_interfaces(net->fabric) : 0; }

int trv_net_port(const trv_net_t *net, int index, trv_net_port_t *port)
{
    trv_fabric_interface_info_t info;
    if (!net || !port || index < 0 || index >= trv_net_ports(net))
        return trv_fail(TRV_ERR_ARGUMENT, "there is no interface %d; the net has %d", index, trv_net_ports(net));
    const int rc = trv_check_size(port->size, sizeof *port, "TRV_NET_PORT");
    if (rc < 0)
        return rc;
    trv_fabric_interface_info(net->fabric, index, &info);
    *port = (trv_net_port_t){.size = sizeof *port,
                             .bytes_sent = info.bytes[1],
                             .bytes_received = info.bytes[0],
                             .messages_sent = info.messages[1],
                             .messages_received = info.messages[0]};
    snprintf(port->interface, sizeof port->interface, "%s", info.name);
    snprintf(port->provider, sizeof port->provider, "%s", info.provider);
    snprintf(port->address, sizeof port->address, "%s", info.address);
    size_t used = 0;
    for (int p = 0; p < TRV_PORTS_MAX; p++) {
        char text[TRV_PORT_TEXT_MAX];
        if (info.departures >> p & 1 && used < sizeof port->ports)
            used += (size_t)snprintf(port->ports + used, sizeof port->ports - used, "%s%s", used ? "," : "",
                                     trv_port_format(p, text));
    }
    return TRV_OK;
}
