/*
 * Locks: only one process at a time makes or removes a testbed, and only one job at a time runs on it.
 */
#include "testbed/testbed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "testbed/emulator/names.h"

#define ROUND_MS 20
#define ROUNDS   250 /* making or removing a testbed has usually ended after these */

/* Locks the file. -1 with errno; EWOULDBLOCK: another process has the lock. The file is removed with the testbed, so a
 * lock on a removed file does not count. */
static int try_lock(const char *path, int flags)
{
    struct stat own, there;
    int file = open(path, O_RDWR | O_CREAT | flags, 0600);
    if (file < 0)
        return -1;
    int reason = flock(file, LOCK_EX | LOCK_NB) != 0 ? errno : 0;
    if (!reason && (fstat(file, &own) != 0 || stat(path, &there) != 0 || own.st_ino != there.st_ino))
        reason = EWOULDBLOCK;
    if (!reason)
        return file;
    close(file);
    errno = reason;
    return -1;
}

static int refuse(const char *path, const char *what)
{
    if (errno == EWOULDBLOCK)
        return trv_fail(TRV_ERR_STATE, "%s; wait until it has ended, or terminate it", what);
    return trv_fail(TRV_ERR_STATE, "%s cannot be locked: %s", path, strerror(errno));
}

/* Child processes of the holder inherit the lock: if `up` is killed, `down` waits until the `ip` that it started
 * ends. */
int trv_testbed_lock_setup(void)
{
    int lock = -1;
    for (int round = 0; lock < 0 && round < ROUNDS; round++) {
        if (round > 0)
            nanosleep(&(struct timespec){0, ROUND_MS * 1000000}, NULL);
        if (mkdir(TB_FOLDER, 0700) != 0 && errno != EEXIST)
            return trv_fail(TRV_ERR_STATE, TB_FOLDER " cannot be created: %s", strerror(errno));
        lock = try_lock(TB_LOCK, 0);
        if (lock < 0 && errno != EWOULDBLOCK && errno != ENOENT)
            break;
    }
    return lock >= 0 ? lock : refuse(TB_LOCK, "another `trivance testbed up` or `down` is running");
}

int trv_testbed_lock_job(void)
{
    tb_status_t status; /* the call reports an error if no testbed is up */
    int code = trv_testbed_status(&status);
    int lock = code < 0 ? code : try_lock(TB_JOB, O_CLOEXEC);
    return lock >= 0 || code < 0 ? lock : refuse(TB_JOB, "another job or check is running on the testbed");
}
