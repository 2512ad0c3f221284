/*
 * Settings of a net. Options of trv_net_init take precedence over the environment, which launchers set (torchrun,
 * `trivance launch`), and the environment takes precedence over PMIx.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "collective/algorithm_names.h"
#include "base/error.h"
#include "net/inside.h"
#include "bootstrap/pmix/pmix.h"
#include "bootstrap/tcp/interfaces.h"
#include "base/text/parse.h"

enum { BOOTSTRAP_BYTES = 1024, RANKS_MAX = 1 << TRV_RANKS_BITS };

/* Logs a warning on rank 0 only: the ranks usually have the same environment, and the others would repeat it. */
static void net_warn(void *context, const char *sentence)
{
    const trv_net_t *net = context;
    if (net->log && net->rank <= 0)
        net->log(net->log_context, sentence);
}

static void net_log_to_stderr(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "trivance: %s\n", sentence);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static int variable_read(const char *name, int min, int max, int *value)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "%s is not set: start the program with `trivance launch`, torchrun or a launcher that provides "
                        "PMIx, or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each process",
                        name);
    return trv_parse_int(text, name, min, max, value);
}

/* The rank, as far as it is known before options and environment have been checked; negative: unknown. */
static int rank_early(const trv_net_options_t *options)
{
    const char *text = getenv("RANK") ? getenv("RANK") : getenv("PMIX_RANK");
    return options->rank >= 0 || !text ? options->rank : atoi(text);
}

static int ranks_read(trv_net_t *net, const trv_net_options_t *options)
{
    int rc = TRV_OK;
    net->ranks = options->ranks;
    net->rank = options->rank;
    if (net->ranks == 0)
        rc = variable_read("WORLD_SIZE", 1, RANKS_MAX, &net->ranks);
    if (rc == TRV_OK && net->rank < 0)
        rc = variable_read("RANK", 0, INT_MAX, &net->rank);
    if (rc == TRV_OK && (net->ranks < 1 || net->ranks > RANKS_MAX))
        return trv_fail(TRV_ERR_ARGUMENT, "a job cannot have %d ranks; it has 1 to %d", net->ranks, RANKS_MAX);
    if (rc == TRV_OK && net->rank >= net->ranks)
        return trv_fail(TRV_ERR_ARGUMENT, "rank %d is not in a job of %d ranks; expected 0 … %d", net->rank, net->ranks,
                        net->ranks - 1);
    return rc;
}

/* ---- Address of rank 0 ------------------------------------------------------------------------------------------- */

static int port_read(const trv_net_t *net, const trv_net_options_t *options, int *port)
{
    const char *store = getenv("TORCHELASTIC_USE_AGENT_STORE");
    *port = options->port;
    if (*port != 0)
        return *port > 0 && *port <= 65535
                   ? TRV_OK
                   : trv_fail(TRV_ERR_ARGUMENT, "there is no port %d; ports are 1 … 65535", *port);
    if (net->settings.master_port)
        return trv_parse_int(net->settings.master_port, "TRIVANCE_MASTER_PORT", 1, 65535, port);
    int rc = variable_read("MASTER_PORT", 1, 65535, port);
    if (rc == TRV_OK && store && strcmp(store, "True") == 0)
        *port += *port < 65535 ? 1 : -1; /* the store of torchrun uses MASTER_PORT itself */
    return rc;
}

static void key_add_text(trv_sha256_t *hash, const char *text) { trv_sha256_add(hash, text, strlen(text) + 1); }

/* Derives the key of the job from its secret. Without a secret the key is derived from values that all ranks know, but
 * that other processes can find out. */
static void key_derive(trv_net_t *net, const char *secret, const trv_bootstrap_options_t *bootstrap,
                       uint8_t key[TRV_SHA256_BYTES])
{
    const char *run_id = getenv("TORCHELASTIC_RUN_ID");
    char common[64];
    trv_sha256_t hash;
    trv_sha256_begin(&hash);
    key_add_text(&hash, "trivance");
    if (secret) {
        key_add_text(&hash, secret);
    } else {
        snprintf(common, sizeof common, "%d %d", bootstrap->port, net->ranks);
        key_add_text(&hash, common);
        key_add_text(&hash, run_id ? run_id : "");
        if (net->rank == 0 && net->ranks > 1)
            net_warn(
                net,
                "TRIVANCE_SECRET is not set, so any process that reaches rank 0's port can join the job; on a shared "
                "network set it, to the same value on all ranks");
    }
    trv_sha256_end(&hash, key);
}

static int environment_read(trv_net_t *net, const trv_net_options_t *options, trv_bootstrap_options_t *bootstrap,
                            char address[TRV_ADDRESSES_MAX])
{
    const char *host = options->address ? options->address : getenv("MASTER_ADDR");
    const char *secret = options->secret ? options->secret : net->settings.secret;
    if (net->ranks == 1 && (!host || !*host))
        host = "127.0.0.1";
    if (!host || !*host)
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "MASTER_ADDR is not set; set it to an address of rank 0's host, for example MASTER_ADDR=10.0.0.1");
    if (strlen(host) >= 256)
        return trv_fail(TRV_ERR_ARGUMENT, "MASTER_ADDR has more than 255 characters");
    snprintf(address, TRV_ADDRESSES_MAX, "%s", host);
    int rc = net->ranks == 1 ? TRV_OK : port_read(net, options, &bootstrap->port);
    bootstrap->relays = secret && *secret;
    if (rc == TRV_OK)
        key_derive(net, bootstrap->relays ? secret : NULL, bootstrap, bootstrap->secret);
    return rc;
}

/* Opens the bootstrap on rank 0, so that it listens before its address is broadcast. Without the option, all addresses
 * of its host are broadcast, those in the network of MASTER_ADDR first. */
static int address_listen(trv_net_t *net, const trv_net_options_t *options, trv_bootstrap_options_t *bootstrap,
                          char address[TRV_ADDRESSES_MAX])
{
    if (options->address && strlen(options->address) >= 256)
        return trv_fail(TRV_ERR_ARGUMENT, "the address of rank 0 has more than 255 characters");
    if (options->address)
        snprintf(address, TRV_ADDRESSES_MAX, "%s", options->address);
    else
        trv_host_addresses(getenv("MASTER_ADDR"), address, TRV_ADDRESSES_MAX);
    bootstrap->listen_everywhere |= !options->address;
    if (getrandom(bootstrap->secret, sizeof bootstrap->secret, 0) != sizeof bootstrap->secret)
        return trv_fail(TRV_ERR_TRANSPORT, "the system provides no random numbers for a secret");
    return trv_bootstrap_open(&net->bootstrap, bootstrap);
}

/* Encodes the broadcast of rank 0: code, port, key, and its address or its error message. */
static void address_encode(const trv_net_t *net, int code, const trv_bootstrap_options_t *bootstrap, const char *text,
                           char record[BOOTSTRAP_BYTES])
{
    size_t used = (size_t)snprintf(record, BOOTSTRAP_BYTES, "%d %d ", code,
                                   code == TRV_OK ? trv_bootstrap_port(net->bootstrap) : 0);
    for (int i = 0; i < TRV_SHA256_BYTES; i++)
        used += (size_t)snprintf(record + used, BOOTSTRAP_BYTES - used, "%02x", bootstrap->secret[i]);
    snprintf(record + used, BOOTSTRAP_BYTES - used, " %s", text);
}

static int address_decode(char record[BOOTSTRAP_BYTES], trv_bootstrap_options_t *bootstrap,
                          char address[TRV_ADDRESSES_MAX])
{
    char key[2 * TRV_SHA256_BYTES + 1];
    int at = 0, rc = TRV_OK;
    record[BOOTSTRAP_BYTES - 1] = '\0';
    if (sscanf(record, "%d %d %64[0-9a-f] %n", &rc, &bootstrap->port, key, &at) != 3 || at == 0 ||
        strlen(key) != 2 * TRV_SHA256_BYTES || (rc == TRV_OK && strlen(record + at) >= TRV_ADDRESSES_MAX))
        return trv_fail(TRV_ERR_INVALID, "the address of rank 0 that bootstrap_broadcast returned is corrupted");
    if (rc < 0)
        return trv_fail(rc, "%s", record + at);
    for (int i = 0; i < TRV_SHA256_BYTES; i++) {
        const char two[3] = {key[2 * i], key[2 * i + 1], '\0'};
        bootstrap->secret[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    snprintf(address, TRV_ADDRESSES_MAX, "%s", record + at);
    return TRV_OK;
}

/* Exchanges the address of rank 0 by the caller's `bootstrap_broadcast`. All ranks take part, also after an error
 * (`rc`, with its message as the last error), because the other ranks wait in the broadcast. ranks_known: the rank and
 * the number of ranks are valid, so that a bootstrap can be opened. All ranks return an error of rank 0. */
static int bootstrap_by_broadcast(trv_net_t *net, const trv_net_options_t *options, trv_bootstrap_options_t *bootstrap,
                                  char address[TRV_ADDRESSES_MAX], bool ranks_known, int rc)
{
    char record[BOOTSTRAP_BYTES] = "", own[TRV_REASON_MAX];
    if (rc == TRV_OK && net->rank == 0)
        rc = address_listen(net, options, bootstrap, address);
    snprintf(own, sizeof own, "%s%s", net->rank == 0 ? "rank 0: " : "", rc < 0 ? trv_last_error() : "");
    if (net->rank == 0 || rc < 0)
        address_encode(net, rc, bootstrap, rc < 0 ? own : address, record);
    const int met = options->bootstrap_broadcast(options->bootstrap_context, record, sizeof record);
    if (met < 0)
        return met;
    if (net->rank == 0)
        return rc < 0 ? trv_fail(rc, "%s", own) : TRV_OK;
    const int decoded = address_decode(record, bootstrap, address);
    if (decoded < 0)
        return decoded;
    const int opened = ranks_known ? trv_bootstrap_open(&net->bootstrap, bootstrap) : TRV_OK;
    return rc < 0 ? trv_fail(rc, "%s", own) : opened;
}

/* ---- Other options ----------------------------------------------------------------------------------------------- */

/* Handles a TRIVANCE_TORUS in which no torus has the net's number of ranks. That is an error if the net contains the
 * whole job, as in MPI programs. But a program with its own `bootstrap_broadcast` may create a net of some of the job's
 * ranks, which form a ring. */
static int torus_without_match(trv_net_t *net, const trv_net_options_t *options, const char *torus)
{
    const char *all = getenv("WORLD_SIZE");
    char sentence[TRV_REASON_MAX];
    const bool whole_job = !options->bootstrap_broadcast || options->bootstrap_broadcast == trv_launcher_broadcast ||
                           (all && atoi(all) == net->ranks);
    snprintf(sentence, sizeof sentence, "TRIVANCE_TORUS=%.80s has no torus of %d ranks%s", torus, net->ranks,
             whole_job ? "; the product of its sizes must be the number of ranks" : ": they form a ring");
    if (whole_job)
        return trv_fail(TRV_ERR_ARGUMENT, "%s", sentence);
    if (net->rank == 0 && (!all || net->settings.info))
        net_warn(net, sentence);
    return TRV_OK;
}

static int texts_read(trv_net_t *net, const trv_net_options_t *options)
{
    const char *torus = options->torus ? options->torus : net->settings.torus;
    const char *algorithm = options->algorithm ? options->algorithm : net->settings.algorithm;
    const char *provider = options->provider ? options->provider : net->settings.provider;
    trv_torus_t parsed;
    snprintf(net->algorithm, sizeof net->algorithm, "%s", algorithm ? algorithm : "");
    snprintf(net->provider, sizeof net->provider, "%s", provider ? provider : "");
    const int found = torus && *torus ? trv_torus_from_list(torus, net->ranks, &parsed) : 0;
    if (found < 0)
        return trv_fail(TRV_ERR_ARGUMENT, "the torus of the job: %s", trv_last_error());
    if (found)
        trv_torus_format(&parsed, net->torus, sizeof net->torus);
    if (options->torus && *options->torus && !*net->torus)
        return trv_fail(TRV_ERR_ARGUMENT, "the torus %s does not have the job's %d ranks; a ring of them is %d",
                        options->torus, net->ranks, net->ranks);
    return torus && *torus && !*net->torus ? torus_without_match(net, options, torus) : TRV_OK;
}

/* Timeouts in seconds from the caller; 0 selects the value from the environment. */
static int timeouts_read(trv_net_t *net, const trv_net_options_t *options)
{
    const double seconds[] = {options->timeout_s, options->start_timeout_s};
    static const char *const name[] = {"timeout_s", "start_timeout_s"}, *const variable[] = {"TRIVANCE_TIMEOUT",
                                                                                             "TRIVANCE_START_TIMEOUT"};
    net->timeout_ns = seconds[0] > 0 ? 1e9 * seconds[0] : net->settings.timeout_ns;
    net->start_timeout_ns = seconds[1] > 0 ? 1e9 * seconds[1] : net->settings.start_timeout_ns;
    for (int i = 0; i < 2; i++)
        if (!(seconds[i] >= 0 && seconds[i] < 1e12)) /* also true for NaN */
            return trv_fail(TRV_ERR_ARGUMENT,
                            "the option %s is %g; expected a number of seconds, or 0 for the value of %s", name[i],
                            seconds[i], variable[i]);
    return TRV_OK;
}

/* True if neither the options nor the environment specify the ranks or the address of rank 0, but a launcher with PMIx
 * does. */
static bool is_launched(const trv_net_options_t *options)
{
    return !options->bootstrap_broadcast && !options->address && options->ranks == 0 && options->rank < 0 &&
           !getenv("RANK") && !getenv("WORLD_SIZE") && !getenv("MASTER_ADDR") && trv_launcher_available();
}

static int launcher_read(trv_net_options_t *options, double *start_timeout_s)
{
    options->bootstrap_broadcast = trv_launcher_broadcast;
    options->bootstrap_context = start_timeout_s;
    return trv_launcher_ranks(&options->rank, &options->ranks);
}

int trv_net_read_options(trv_net_t *net, const trv_net_options_t *given, trv_bootstrap_options_t *bootstrap,
                         char address[TRV_ADDRESSES_MAX])
{
    trv_net_options_t all = *given;
    const trv_net_options_t *options = &all;
    double start_timeout_s = 0;
    const char *debug = getenv("TRIVANCE_DEBUG");
    char own[TRV_REASON_MAX];
    net->log = options->log ? options->log : debug && strcmp(debug, "off") == 0 ? NULL : net_log_to_stderr;
    net->log_context = options->log_context;
    net->rank = rank_early(options);
    const trv_rules_reader_t reader = {trv_algorithm_check, net_warn, net};
    trv_settings_read_net(&net->settings, &reader);
    int rc = is_launched(given) ? launcher_read(&all, &start_timeout_s) : TRV_OK;
    if (rc < 0)
        return rc;
    rc = ranks_read(net, options);
    const bool ranks_known = rc == TRV_OK;
    if (ranks_known && net->rank == 0)
        trv_settings_read_rules(&net->settings, &reader);
    if (ranks_known && net->settings.fault)
        rc = trv_fail(TRV_ERR_ARGUMENT, "%s", net->settings.fault);
    const int timed = timeouts_read(net, options);
    start_timeout_s = net->start_timeout_ns / 1e9;
    rc = rc < 0 ? rc : timed < 0 ? timed : texts_read(net, options);
    if (rc == TRV_OK && net->rank == 0 && net->settings.topology_file && !*net->torus)
        net_warn(net,
                 "TRIVANCE_TOPOLOGY_FILE is for MPI programs: these ranks are treated as a ring; set their torus, for "
                 "example TRIVANCE_TORUS=8x8");
    net->discovers = !options->torus && !net->settings.torus && !net->settings.topology_file;
    if (net->discovers)
        trv_net_read_record(net, is_launched(given), bootstrap);
    net->fragment = net->settings.piece_bytes < SIZE_MAX ? (size_t)net->settings.piece_bytes : 0;
    bootstrap->rank = net->rank;
    bootstrap->ranks = net->ranks;
    bootstrap->address = address;
    bootstrap->listen_everywhere = options->listen_everywhere || net->settings.listen_everywhere;
    bootstrap->timeout_ns = net->start_timeout_ns;
    bootstrap->relays = options->bootstrap_broadcast != NULL; /* rank 0 generates a secret */
    if (options->bootstrap_broadcast)
        return bootstrap_by_broadcast(net, options, bootstrap, address, ranks_known, rc);
    if (!ranks_known)
        return rc;
    snprintf(own, sizeof own, "%s", rc < 0 ? trv_last_error() : "");
    int met = environment_read(net, options, bootstrap, address);
    if (met == TRV_OK)
        met = trv_bootstrap_open(&net->bootstrap, bootstrap);
    return rc < 0 ? trv_fail(rc, "%s", own) : met;
}
