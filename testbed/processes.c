/*
 * The processes of a testbed are all those in its namespaces, whichever process started them. So a killed launcher or a
 * hanging rank leaves nothing behind, and no other process is ever ended.
 */
#include "testbed/testbed.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "testbed/emulator/names.h"

#define ROUND_MS      20
#define POLITE_ROUNDS 50
#define ROUNDS        250

typedef struct spaces {
    int count;
    struct stat of[TB_NODES_MAX + 1];
} spaces_t;

static void add_space(spaces_t *spaces, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, TB_SPACES "%s", name);
    if (stat(path, &spaces->of[spaces->count]) == 0)
        spaces->count++;
}

static bool is_inside(const spaces_t *spaces, const char *process)
{
    char path[300];
    struct stat own;
    snprintf(path, sizeof path, "/proc/%s/ns/net", process);
    if (stat(path, &own) != 0)
        return false;
    for (int i = 0; i < spaces->count; i++)
        if (spaces->of[i].st_ino == own.st_ino && spaces->of[i].st_dev == own.st_dev)
            return true;
    return false;
}

/* Sends a signal (0: none) to every process in the namespaces; returns their number. */
static int signal_all(const spaces_t *spaces, int signal)
{
    DIR *all = opendir("/proc");
    int count = 0;
    for (struct dirent *entry; all && (entry = readdir(all));) {
        pid_t process = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;
        if (process <= 1 || process == getpid() || !is_inside(spaces, entry->d_name))
            continue;
        count++;
        if (signal)
            kill(process, signal);
    }
    if (all)
        closedir(all);
    return count;
}

int trv_testbed_end_processes(int nodes, bool head)
{
    spaces_t *spaces = calloc(1, sizeof *spaces);
    if (!spaces)
        return trv_fail_memory();
    for (int i = 0; i < nodes && i < TB_NODES_MAX; i++) {
        char name[32];
        snprintf(name, sizeof name, TB_NODE, i);
        add_space(spaces, name);
    }
    if (head)
        add_space(spaces, TB_HEAD);
    int left = signal_all(spaces, SIGTERM);
    for (int round = 1; left > 0 && round < ROUNDS; round++) {
        nanosleep(&(struct timespec){0, ROUND_MS * 1000000}, NULL);
        left = signal_all(spaces, round < POLITE_ROUNDS ? 0 : SIGKILL);
    }
    free(spaces);
    return left == 0 ? TRV_OK
                     : trv_fail(TRV_ERR_STATE, "%d process%s of the testbed did not end after SIGKILL", left,
                                left == 1 ? "" : "es");
}
