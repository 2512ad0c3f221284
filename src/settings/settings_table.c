/*
 * The table of environment variables, one row each.
 */
#include <string.h>

#include <trivance/torus.h>

#include "base/text/parse.h"
#include "base/error.h"
#include "settings/settings.h"
#include "settings/slurm_dims.h"

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static int check_tori(const char *text, trv_name_check_t *check_algorithm)
{
    (void)check_algorithm;
    char item[TRV_TORUS_TEXT_MAX];
    const char *rest = text;
    int more, code = TRV_OK;
    while (code == TRV_OK && (more = trv_next_item(&rest, "tori", item, sizeof item)) != 0)
        code = more < 0 ? more : trv_torus_parse(item, &(trv_torus_t){0});
    return code;
}

static int check_slurm_dims(const char *text, trv_name_check_t *check_algorithm)
{
    (void)check_algorithm;
    char name[TRV_SLURM_NAME_MAX];
    trv_torus_t torus;
    int more;
    while ((more = trv_slurm_dims_next(&text, name, &torus)) > 0) {
    }
    return more;
}

static int check_name(const char *text, trv_name_check_t *check_algorithm)
{
    return check_algorithm ? check_algorithm(text) : TRV_OK;
}

static int check_rules(const char *text, trv_name_check_t *check_algorithm)
{
    trv_rules_t rules;
    int code = trv_rules_parse_line(&rules, text, check_algorithm);
    if (code == TRV_OK)
        trv_rules_clear(&rules);
    return code;
}

static int check_kernels(const char *text, trv_name_check_t *check_algorithm)
{
    (void)check_algorithm;
    if (strcmp(text, "plain") == 0 || strcmp(text, "avx2") == 0 || strcmp(text, "avx512") == 0)
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is not one of plain, avx2 and avx512", text);
}

static int check_port(const char *text, trv_name_check_t *check_algorithm)
{
    (void)check_algorithm;
    int port;
    return trv_parse_int(text, "the port", 1, 65535, &port);
}

static int check_start_timeout(const char *text, trv_name_check_t *check_algorithm)
{
    (void)check_algorithm;
    double time_ns;
    const int code = trv_parse_time_ns(text, &time_ns);
    return code < 0 || time_ns > 0 ? code : trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is not a positive time", text);
}

static int check_latency(const char *text, trv_name_check_t *check_algorithm)
{
    (void)check_algorithm;
    double time_ns;
    return trv_parse_latency_ns(text, &time_ns);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

#define AT(field)       offsetof(trv_settings_t, field)
#define NUMBER_AND_UNIT "a number with ns, us, ms or s"
#define FLAG            "0 or 1, also off, no, on or yes"

static const trv_setting_t table[] = {
    {"TRIVANCE_TORUS", TRV_SETTING_TEXT, AT(torus), true, "none",
     "sizes joined by x, with m after the size of a line, or a comma-separated list of such tori", "8x8x8",
     "The torus of the ranks of MPI_COMM_WORLD, in row-major order (the last dimension varies fastest); of a list, the "
     "torus with as many ranks.",
     check_tori, true},
    {"TRIVANCE_TOPOLOGY_FILE", TRV_SETTING_TEXT, AT(topology_file), true, "none", "a path", "/etc/trivance/torus.json",
     "The torus and the coordinates of every rank, from a file that `trivance topology --dump` writes; it takes "
     "precedence over TRIVANCE_TORUS.",
     NULL, true},
    {"TRIVANCE_SLURM_DIMS", TRV_SETTING_TEXT, AT(slurm_dims), true, "none",
     "names of tori and their sizes, NAME=XxYxZ, separated by commas", "t1=8x8x16",
     "The dimensions of the tori and rings of Slurm's topology plugins, x first, as `scontrol show topology` prints "
     "them; `trivance run` sets it. Coordinates in them are in SLURM_TOPOLOGY_ADDR.",
     check_slurm_dims, true},
    {"TRIVANCE_CART", TRV_SETTING_FLAG, AT(cart), true, "0", FLAG, "1",
     "Whether the topology of a Cartesian communicator is taken for its torus.", NULL, true},
    {"TRIVANCE_ALGORITHM", TRV_SETTING_TEXT, AT(algorithm), true, "auto",
     "auto, planned, a name or a family of `trivance list`", "trivance-b",
     "The algorithm: auto selects the algorithm that the planner expects to be fastest, where a torus is known and no "
     "rules file overrides it; planned, a name or a family applies to every communicator.",
     check_name, true},
    {"TRIVANCE_TUNE", TRV_SETTING_TEXT, AT(tune), true, "none",
     "rules COLLECTIVE:SIZES:[RANKS]:@ALGORITHM, separated by semicolons",
     "allreduce:0-64k:@trivance-l-grouped;allreduce:64k-inf:[8-64]:@auto",
     "Rules, of which the first that matches applies; they take precedence over TRIVANCE_ALGORITHM.", check_rules,
     true},
    {"TRIVANCE_RULES_FILE", TRV_SETTING_TEXT, AT(rules_file), true, "none", "a path", "rules.json",
     "Rules and network parameters from a file that `trivance tune` writes; a name in TRIVANCE_ALGORITHM takes "
     "precedence.",
     NULL, true},
    {"TRIVANCE_ALPHA", TRV_SETTING_TIME, AT(alpha_ns), true, "1.5us", NUMBER_AND_UNIT, "2us",
     "For the planner: the time to start a step.", check_latency, true},
    {"TRIVANCE_BANDWIDTH", TRV_SETTING_RATE, AT(bandwidth_bps), true, "800Gb/s",
     "a number with Kb/s, Mb/s, Gb/s or Tb/s (a capital B is bytes)", "100Gb/s",
     "For the planner: the bandwidth of a link in one direction.", NULL, true},
    {"TRIVANCE_HOP_LATENCY", TRV_SETTING_TIME, AT(hop_ns), true, "200ns", NUMBER_AND_UNIT, "300ns",
     "For the planner: the latency that a hop adds to a message.", check_latency, true},
    {"TRIVANCE_MESSAGE_OVERHEAD", TRV_SETTING_TIME, AT(overhead_ns), true, "0ns", NUMBER_AND_UNIT, "150us",
     "For the planner: the time a message occupies its sender's processor, one message after another.", check_latency,
     true},
    {"TRIVANCE_PIECE", TRV_SETTING_BYTES, AT(piece_bytes), true, "0", "bytes, optionally with K, M, G or T", "8K",
     "The maximum size of the fragments in which messages of schedules are sent, for networks where a rendezvous of "
     "the MPI library or of libfabric takes longer than fragments below its eager limit; with 0, messages are not "
     "fragmented. In libtrivance_net the value of rank 0 applies.",
     NULL, true},
    {"TRIVANCE_ALLOW_INCONSISTENT", TRV_SETTING_FLAG, AT(allow_inconsistent), true, "0", FLAG, "1",
     "Whether floating-point operations may use algorithms whose results can differ in the last bits between ranks.",
     NULL, true},
    {"TRIVANCE_MEMORY", TRV_SETTING_BYTES, AT(memory_bytes), false, "256M", "bytes, optionally with K, M, G or T", "1G",
     "The memory that the library keeps for plans and their scratch, per process; the least recently used are freed "
     "first.",
     NULL, false},
    {"TRIVANCE_DEBUG", TRV_SETTING_WORD, AT(debug), false, "warn", "off|warn|info|trace", "info",
     "The log level: warn, warnings; info, also a line per new decision and a table at MPI_Finalize; trace, also a "
     "line per call.",
     NULL, false},
    {"TRIVANCE_DEBUG_FILE", TRV_SETTING_TEXT, AT(debug_file), false, "stderr",
     "a file name; %h expands to the host, %p to the process", "trivance.%h.%p",
     "The file of the log; with %p in the name every rank writes its own file, otherwise rank 0 of each communicator "
     "writes.",
     NULL, false},
    {"TRIVANCE_FALLBACK", TRV_SETTING_WORD, AT(fallback), false, "silent", "silent|print|error", "print",
     "Action when a call for which there are schedules falls back to the MPI library although a torus, an algorithm or "
     "rules are set: none, a line per new reason, or MPI_Abort with the reason.",
     NULL, true},
    {"TRIVANCE_TIMEOUT", TRV_SETTING_TIME, AT(timeout_ns), false, "0s", NUMBER_AND_UNIT, "30s",
     "How long a rank waits in one collective before it reports which ranks it waits for; 0s disables the timeout.",
     NULL, false},
    {"TRIVANCE_ON_TIMEOUT", TRV_SETTING_WORD, AT(on_timeout), false, "continue", "continue|abort", "abort",
     "Action when TRIVANCE_TIMEOUT expires, after the report.", NULL, false},
    {"TRIVANCE_RECORDER", TRV_SETTING_FLAG, AT(recorder), false, "0", FLAG, "1",
     "Whether every rank records the last 256 collectives of each communicator, to print them on SIGUSR1; implied by "
     "TRIVANCE_TIMEOUT.",
     NULL, false},
    {"TRIVANCE_CHECK", TRV_SETTING_FLAG, AT(check), false, "0", FLAG, "1",
     "Whether all ranks compare arguments and settings before every call, and all return the error if they differ.",
     NULL, true},
    {"TRIVANCE_KERNELS", TRV_SETTING_TEXT, AT(kernels), false, "the best available", "plain, avx2 or avx512", "avx2",
     "The most advanced instruction set that reductions may use.", check_kernels, false},
    {"TRIVANCE_TRANSPORT", TRV_SETTING_WORD, AT(transport), true, "mpi", "mpi|ofi", "ofi",
     "The transport of schedules in MPI programs: MPI, or libfabric, whose addresses are exchanged by MPI.", NULL,
     true},
    {"TRIVANCE_PROVIDER", TRV_SETTING_TEXT, AT(provider), false, "the first that works", "a libfabric provider", "tcp",
     "The libfabric provider of libtrivance_net, and of MPI programs with TRIVANCE_TRANSPORT=ofi; the value of rank 0 "
     "applies.",
     NULL, false},
    {"TRIVANCE_PORTS", TRV_SETTING_TEXT, AT(ports), false, "detected from the routes",
     "PORT=INTERFACE, separated by commas, or interfaces and networks", "+0=eth1,-0=eth2",
     "For the same programs: the network interface of this host for each port of the torus (the first interface for "
     "ports that are not listed), or, as in eth1,eth2 or 10.1.0.0/16, the interfaces among which these are detected.",
     NULL, false},
    {"TRIVANCE_SECRET", TRV_SETTING_TEXT, AT(secret), false, "none", "any text", "a-long-random-text",
     "For libtrivance_net: the secret that the ranks of a job share; `trivance launch` generates a random one.", NULL,
     false},
    {"TRIVANCE_START_TIMEOUT", TRV_SETTING_TIME, AT(start_timeout_ns), false, "30s", NUMBER_AND_UNIT, "2s",
     "For libtrivance_net: how long a rank waits for the others at the start and at the end.", check_start_timeout,
     false},
    {"TRIVANCE_MASTER_PORT", TRV_SETTING_TEXT, AT(master_port), false, "MASTER_PORT", "a port, 1 to 65535", "29600",
     "For libtrivance_net: the port on which rank 0 accepts the other ranks, if another program uses MASTER_PORT.",
     check_port, false},
    {"TRIVANCE_LISTEN_EVERYWHERE", TRV_SETTING_FLAG, AT(listen_everywhere), false, "0", FLAG, "1",
     "For libtrivance_net: whether rank 0 listens on all addresses of its host, instead of MASTER_ADDR alone.", NULL,
     false},
};

int trv_settings_count(void) { return (int)(sizeof table / sizeof table[0]); }

const trv_setting_t *trv_settings_at(int index) { return &table[index]; }

bool trv_settings_of_net(const trv_setting_t *setting) { return setting->offset >= AT(secret); }

bool trv_settings_is_secret(const trv_setting_t *setting) { return setting->offset == AT(secret); }
