/*
 * The variables of the environment, one row each.
 */
#include <string.h>

#include <trivance/torus.h>

#include "text/parse.h"
#include "common/error.h"
#include "settings/settings.h"

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static int check_tori(const char *text)
{
    char item[TRV_TORUS_TEXT_MAX];
    const char *rest = text;
    int more, code = TRV_OK;
    while (code == TRV_OK && (more = trv_next_item(&rest, "tori", item, sizeof item)) != 0)
        code = more < 0 ? more : trv_torus_parse(item, &(trv_torus_t){0});
    return code;
}

static int check_rules(const char *text)
{
    trv_rules_t rules;
    int code = trv_rules_parse_line(&rules, text);
    if (code == TRV_OK)
        trv_rules_clear(&rules);
    return code;
}

static int check_kernels(const char *text)
{
    if (strcmp(text, "plain") == 0 || strcmp(text, "avx2") == 0 || strcmp(text, "avx512") == 0)
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is none of plain, avx2 and avx512", text);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

#define AT(field)       offsetof(trv_settings_t, field)
#define NUMBER_AND_UNIT "a number and ns, us, ms or s"

static const trv_setting_t table[] = {
    {"TRIVANCE_TORUS", TRV_SETTING_TEXT, AT(torus), true, "none", "sizes with x between, or a list of such with commas",
     "8x8x8",
     "How the ranks of MPI_COMM_WORLD are wired, row by row with the last dimension fastest; of a list the "
     "torus with the right number of ranks.",
     check_tori, true},
    {"TRIVANCE_TOPOLOGY_FILE", TRV_SETTING_TEXT, AT(topology_file), true, "none", "a path", "/etc/trivance/torus.json",
     "The torus and the coordinates of every rank, from a file of `trivance topology --dump`; it comes before "
     "TRIVANCE_TORUS.",
     NULL, true},
    {"TRIVANCE_CART", TRV_SETTING_FLAG, AT(cart), true, "0", "0 or 1", "1",
     "Whether a periodic Cartesian communicator says how its ranks are wired.", NULL, true},
    {"TRIVANCE_ALGORITHM", TRV_SETTING_TEXT, AT(algorithm), true, "auto",
     "auto, planned, a name or a family of `trivance list`", "trivance-b",
     "The algorithm: auto takes what the planner finds fastest where a torus is known, unless a rules file says "
     "otherwise; planned, a name or a family is taken on any communicator.",
     trv_rules_check_algorithm, true},
    {"TRIVANCE_TUNE", TRV_SETTING_TEXT, AT(tune), true, "none",
     "rules COLLECTIVE:SIZES:[RANKS]:@ALGORITHM with ; between",
     "allreduce:0-64k:@trivance-l;allreduce:64k-inf:[8-64]:@auto",
     "Rules, of which the first that matches wins; they come before TRIVANCE_ALGORITHM.", check_rules, true},
    {"TRIVANCE_RULES_FILE", TRV_SETTING_TEXT, AT(rules_file), true, "none", "a path", "rules.json",
     "Rules and network parameters from a file, as `trivance tune` writes it; a name in TRIVANCE_ALGORITHM comes "
     "before it.",
     NULL, true},
    {"TRIVANCE_ALPHA", TRV_SETTING_TIME, AT(alpha_ns), true, "1.5us", NUMBER_AND_UNIT, "2us",
     "For the planner: what starting a step takes.", NULL, true},
    {"TRIVANCE_BANDWIDTH", TRV_SETTING_RATE, AT(bandwidth_bps), true, "800Gb/s",
     "a number and Mb/s, Gb/s, Tb/s or GB/s", "100Gb/s", "For the planner: the bandwidth of a link in one direction.",
     NULL, true},
    {"TRIVANCE_HOP_LATENCY", TRV_SETTING_TIME, AT(hop_ns), true, "200ns", NUMBER_AND_UNIT, "300ns",
     "For the planner: what a hop adds to a message.", NULL, true},
    {"TRIVANCE_MESSAGE_OVERHEAD", TRV_SETTING_TIME, AT(overhead_ns), true, "0ns", NUMBER_AND_UNIT, "150us",
     "For the planner: how long a message keeps its sender's processor busy, one message after another.", NULL, true},
    {"TRIVANCE_PIECE", TRV_SETTING_BYTES, AT(piece_bytes), true, "0", "bytes, with K or M", "8K",
     "Messages travel in pieces of at most so many bytes: what an MPI library sends without asking the receiver first, "
     "where a message there and back takes longer than to cut it up; 0 is whole.",
     NULL, true},
    {"TRIVANCE_ALLOW_INCONSISTENT", TRV_SETTING_FLAG, AT(allow_inconsistent), true, "0", "0 or 1", "1",
     "Whether algorithms may serve floating-point operations whose results can differ in the last bits between ranks.",
     NULL, true},
    {"TRIVANCE_MEMORY", TRV_SETTING_BYTES, AT(memory_bytes), false, "256M", "bytes, with K, M or G", "1G",
     "How much memory the library keeps for plans and their scratch, for the whole process; what was not used for the "
     "longest time goes first.",
     NULL, false},
    {"TRIVANCE_DEBUG", TRV_SETTING_WORD, AT(debug), false, "warn", "off|warn|info|trace", "info",
     "What is said: warnings; with info a line per new decision and a table at MPI_Finalize; with trace a line per "
     "call.",
     NULL, false},
    {"TRIVANCE_DEBUG_FILE", TRV_SETTING_TEXT, AT(debug_file), false, "stderr",
     "a file name; %h becomes the host, %p the process", "trivance.%h.%p",
     "Where it is said; with %p in the name every rank writes a file of its own, otherwise rank 0 of each communicator "
     "speaks.",
     NULL, false},
    {"TRIVANCE_FALLBACK", TRV_SETTING_WORD, AT(fallback), false, "silent", "silent|print|error", "print",
     "What happens when a call goes to the MPI library although Trivance is set up: nothing, a line per new reason, or "
     "MPI_Abort with the reason.",
     NULL, true},
    {"TRIVANCE_TIMEOUT", TRV_SETTING_TIME, AT(timeout_ns), false, "0s", NUMBER_AND_UNIT, "30s",
     "After what time in one collective a rank prints what it waits for; 0s is never.", NULL, false},
    {"TRIVANCE_ON_TIMEOUT", TRV_SETTING_WORD, AT(on_timeout), false, "continue", "continue|abort", "abort",
     "What happens then.", NULL, false},
    {"TRIVANCE_RECORDER", TRV_SETTING_FLAG, AT(recorder), false, "0", "0 or 1", "1",
     "Whether every rank keeps the last 256 collectives of each communicator, to print them on SIGUSR1; "
     "TRIVANCE_TIMEOUT "
     "does so, too.",
     NULL, false},
    {"TRIVANCE_CHECK", TRV_SETTING_FLAG, AT(check), false, "0", "0 or 1", "1",
     "Whether all ranks compare arguments and settings before every call, and all of them return the error.", NULL,
     true},
    {"TRIVANCE_CACHE", TRV_SETTING_FLAG, AT(cache), false, "1", "0 or 1", "0",
     "Whether star chains that were searched for are kept in the user's cache folder, and read from there.", NULL,
     false},
    {"TRIVANCE_KERNELS", TRV_SETTING_TEXT, AT(kernels), false, "the best of the processor", "plain, avx2 or avx512",
     "avx2", "The instructions that reductions may use at most.", check_kernels, false},
};

int trv_settings_count(void) { return (int)(sizeof table / sizeof table[0]); }

const trv_setting_t *trv_settings_at(int index) { return &table[index]; }
