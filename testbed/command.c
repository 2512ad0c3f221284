/*
 * Runs commands of other programs, and batches of iproute2's.
 */
#include "testbed/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

#define MESSAGE_BYTES 300

char *trv_testbed_first_line(char *text)
{
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* In the child process, which is killed when its parent ends: `input` and `output` are pipes. */
static void become(const char *const *command, int input, int output)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execvp(command[0], (char *const *)(uintptr_t)command);
    dprintf(STDERR_FILENO, "%s cannot be started: %s\n", command[0], strerror(errno));
    _exit(127);
}

/* Writes the text, or as much of it as the command reads before it ends. */
static void write_all(int pipe, const char *text)
{
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    for (ssize_t written = 0; *text && written >= 0; text += written > 0 ? written : 0)
        written = write(pipe, text, strlen(text));
    signal(SIGPIPE, before);
}

int trv_testbed_command(const char *const *command, const char *input)
{
    char said[MESSAGE_BYTES] = "", rest[512];
    int in[2], out[2], status = -1;
    size_t used = 0;
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        return trv_fail(TRV_ERR_STATE, "a pipe cannot be created: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        become(command, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    write_all(in[1], input ? input : "");
    close(in[1]);
    for (ssize_t got; (got = read(out[0], rest, sizeof rest)) > 0;)
        for (ssize_t i = 0; i < got && used + 1 < sizeof said; i++)
            said[used++] = rest[i];
    close(out[0]);
    said[used] = '\0';
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        return trv_fail(TRV_ERR_STATE, "`%s %s …` fails: %s", command[0], command[1], trv_testbed_first_line(said));
    return TRV_OK;
}

bool trv_testbed_begin_batch(tb_batch_t *batch)
{
    batch->text = NULL;
    batch->out = open_memstream(&batch->text, &batch->size);
    return batch->out != NULL;
}

int trv_testbed_run_batch(tb_batch_t *batch, const char *space)
{
    const char *const here[] = {"ip", "-batch", "-", NULL}, *const there[] = {"ip", "-n", space, "-batch", "-", NULL};
    int code = fclose(batch->out) == 0 ? trv_testbed_command(space ? there : here, batch->text) : trv_fail_memory();
    free(batch->text);
    return code;
}
