/*
 * One at a time: making or removing a testbed, and jobs on it.
 */
#include "testbed/testbed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "testbed/names.h"

static int lock_file(const char *path, const char *what)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
        return file;
    int reason = errno;
    if (file >= 0)
        close(file);
    if (reason == EWOULDBLOCK)
        return trv_fail(TRV_ERR_STATE, "%s; wait until it is done, or end it", what);
    return trv_fail(TRV_ERR_STATE, "%s can not be locked: %s", path, strerror(reason));
}

int trv_testbed_lock_setup(void)
{
    if (mkdir(TB_FOLDER, 0700) != 0 && errno != EEXIST)
        return trv_fail(TRV_ERR_STATE, TB_FOLDER " can not be made: %s", strerror(errno));
    return lock_file(TB_LOCK, "another `trivance testbed up` or `down` is at work");
}

int trv_testbed_lock_job(void)
{
    tb_status_t status; /* says what is wrong where no testbed is up */
    int code = trv_testbed_status(&status);
    return code < 0 ? code : lock_file(TB_JOB, "another job, or a check, is running on the testbed");
}
