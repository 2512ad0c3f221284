/*
 * Enters a node: gives the process the node's view of the system.
 *
 * MPI libraries distinguish hosts by their names and look for devices in /sys/class/net, so a node has a host name and
 * a /sys that belong to it. Host names resolve to addresses of the management network.
 */
#include "testbed/testbed.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "testbed/emulator/names.h"

#define NICE (-15) /* other processes of the machine must not disturb the measured times */

int trv_testbed_enter_network(const char *name)
{
    char path[64];
    snprintf(path, sizeof path, TB_SPACES "%s", name);
    int space = open(path, O_RDONLY | O_CLOEXEC);
    if (space < 0)
        return trv_fail(TRV_ERR_STATE, "the testbed has no node %.40s (%s)", name, strerror(errno));
    int failed = setns(space, CLONE_NEWNET), reason = errno;
    close(space);
    return failed ? trv_fail(TRV_ERR_STATE, "the node %.40s cannot be entered: %s", name, strerror(reason)) : TRV_OK;
}

int trv_testbed_enter(const char *name)
{
    int code = trv_testbed_enter_network(name);
    if (code < 0)
        return code;
    const char *what = unshare(CLONE_NEWNS | CLONE_NEWUTS) != 0                  ? "a mount namespace"
                       : mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)     ? "private mounts"
                       : sethostname(name, strlen(name)) != 0                    ? "a host name"
                       : mount(TB_HOSTS, "/etc/hosts", NULL, MS_BIND, NULL) != 0 ? "an /etc/hosts of its own"
                       : mount("sysfs", "/sys", "sysfs", 0, NULL) != 0           ? "a /sys of its own"
                                                                                 : NULL;
    return what ? trv_fail(TRV_ERR_STATE, "the node %.40s cannot get %s: %s", name, what, strerror(errno)) : TRV_OK;
}

void trv_testbed_raise_priority(int core)
{
    cpu_set_t others;
    setpriority(PRIO_PROCESS, 0, NICE);
    CPU_ZERO(&others);
    for (int i = 0; core >= 0 && i < CPU_SETSIZE; i++)
        if (i != core)
            CPU_SET(i, &others); /* the kernel ignores cores that do not exist */
    if (core >= 0)
        sched_setaffinity(0, sizeof others, &others);
}

void trv_testbed_raise_priority_before_children(int core)
{
    const struct sched_param lowest = {.sched_priority = 1};
    cpu_set_t allowed, one;
    trv_testbed_raise_priority(core);
    CPU_ZERO(&allowed);
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &allowed))
            CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
}
