/*
 * Checks whether this machine can run a testbed.
 */
#include "testbed/testbed.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "testbed/command.h"
#include "testbed/emulator/names.h"

#define NODE_MEMORY_MB 60 /* memory of an MPI rank and its daemon */

int trv_testbed_root(void)
{
    return geteuid() == 0 ? TRV_OK
                          : trv_fail(TRV_ERR_UNSUPPORTED, "the testbed needs root, because it consists of "
                                                          "network namespaces; try again with sudo");
}

int trv_testbed_check_machine(void)
{
    static const char *const version[] = {"ip", "-Version", NULL};
    int status = -1;
    if (trv_testbed_root() < 0)
        return TRV_ERR_UNSUPPORTED;
    if (access("/dev/net/tun", R_OK | W_OK) != 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, "this machine has no TUN devices (/dev/net/tun: %s)", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        _exit(unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS) == 0 ? 0 : errno);
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "this machine does not allow network namespaces (%s), as in many containers",
                        strerror(WIFEXITED(status) ? WEXITSTATUS(status) : EPERM));
    if (trv_testbed_command(version, NULL) < 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the testbed needs the command ip of iproute2; install the package "
                                             "iproute2");
    return TRV_OK;
}

static long memory_mb(void)
{
    char line[128];
    long free_kb = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %ld", &free_kb) != 1)
        continue;
    if (file)
        fclose(file);
    return free_kb / 1024;
}

int trv_testbed_fits(const trv_torus_t *torus)
{
    char text[TRV_TORUS_TEXT_MAX];
    long fits = memory_mb() / NODE_MEMORY_MB;
    fits = fits < TB_NODES_MAX ? fits : TB_NODES_MAX;
    trv_torus_format(torus, text, sizeof text);
    if (torus->ranks < 2)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "the torus %s has one node and no links: expected at least two nodes, for example 3x3", text);
    if (torus->ranks > fits)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the torus %s has %d nodes, but only %ld fit on this machine (%d MiB of memory "
                        "for each, and at most %d), for example 3x3x3",
                        text, torus->ranks, fits, NODE_MEMORY_MB, TB_NODES_MAX);
    return TRV_OK;
}
