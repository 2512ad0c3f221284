/*
 * trivance-testbed-agent: the program that the launcher of an MPI library starts instead of rsh.
 *
 *     trivance-testbed-agent NODE COMMAND…       runs COMMAND, by a shell as rsh would, on a node of the testbed
 *     trivance-testbed-agent -- PROGRAM ARGS…    becomes one rank: PROGRAM with libtrivance_testbed.so preloaded
 *     trivance-testbed-agent + PROGRAM ARGS…     becomes one rank without MPI, on the node of that number (RANK)
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/common.h>

#include "testbed/emulator/names.h"
#include "testbed/testbed.h"

#define PATH_BYTES 4096

static int fail(const char *what)
{
    fprintf(stderr, "trivance testbed: %s: %s\n", what, strerror(errno));
    return 127;
}

/* Returns true after an error message. */
static bool cannot_enter(const char *node)
{
    const char *core = getenv(TB_CORE_VARIABLE);
    if (trv_testbed_enter(node) < 0) {
        fprintf(stderr, "trivance testbed: %s\n", trv_last_error());
        return true;
    }
    trv_testbed_raise_priority(core ? atoi(core) : -1);
    return false;
}

static int run_on_node(char **argv)
{
    static char line[1 << 17];
    size_t used = 0;
    for (char **word = argv + 2; *word && used < sizeof line; word++)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", used ? " " : "", *word);
    if (used >= sizeof line)
        return errno = E2BIG, fail(argv[1]);
    if (cannot_enter(argv[1]))
        return 1;
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    return fail("/bin/sh");
}

/* The launcher may pass on a preload (of `trivance run`); the testbed's library is put before it. */
static int become_rank(char **argv)
{
    const char *ours = getenv(TB_PRELOAD_VARIABLE), *other = getenv("LD_PRELOAD");
    char both[3 * PATH_BYTES];
    snprintf(both, sizeof both, "%s%s%s", ours ? ours : "", ours && other && *other ? ":" : "", other ? other : "");
    if (*both && setenv("LD_PRELOAD", both, 1) != 0)
        return fail("LD_PRELOAD");
    execvp(argv[2], argv + 2);
    return fail(argv[2]);
}

/* Hides shared memory: a node is a host that shares no memory with the others. */
static int become_net_rank(char **argv)
{
    char node[32];
    const char *rank = getenv("RANK");
    snprintf(node, sizeof node, TB_NODE, rank ? atoi(rank) : 0);
    if (cannot_enter(node))
        return 1;
    if (setenv("LOCAL_WORLD_SIZE", "1", 1) != 0 || setenv("LOCAL_RANK", "0", 1) != 0)
        return fail("LOCAL_WORLD_SIZE");
    execvp(argv[2], argv + 2);
    return fail(argv[2]);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "Usage: trivance-testbed-agent NODE COMMAND…\n"
                        "`trivance testbed run` passes it to the launchers of MPI.\n");
        return 2;
    }
    return strcmp(argv[1], "--") == 0  ? become_rank(argv)
           : strcmp(argv[1], "+") == 0 ? become_net_rank(argv)
                                       : run_on_node(argv);
}
