/*
 * Runs a program and reads its output from a pipe.
 */
#include "cli/host/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static pid_t program_start(char *const *command, int *out)
{
    int pipes[2];
    if (pipe(pipes) != 0)
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, STDIN_FILENO);
        dup2(pipes[1], STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        close(pipes[0]);
        execvp(command[0], command);
        _exit(127);
    }
    close(pipes[1]);
    *out = pipes[0];
    if (child < 0)
        close(pipes[0]);
    return child;
}

/* Whether there is output, or its end, before `end_ns`. */
static bool output_wait(int out, double end_ns)
{
    const double left_ms = (end_ns - trv_now_ns()) / 1e6;
    struct pollfd ready = {.fd = out, .events = POLLIN};
    return left_ms > 0 && poll(&ready, 1, left_ms < 1e6 ? (int)left_ms + 1 : 1000000) == 1;
}

char *cli_program_output(char *const *command, size_t bytes_max, double timeout_s)
{
    const double end_ns = trv_now_ns() + 1e9 * timeout_s;
    int out = -1;
    size_t used = 0;
    char *text = malloc(bytes_max + 1);
    const pid_t child = text ? program_start(command, &out) : -1;
    if (child < 0) {
        free(text);
        return NULL;
    }
    bool ended = false;
    while (!ended && used < bytes_max && output_wait(out, end_ns)) {
        const ssize_t got = read(out, text + used, bytes_max - used);
        ended = got <= 0;
        used += got > 0 ? (size_t)got : 0;
    }
    close(out);
    if (!ended)
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    text[used] = '\0';
    return text;
}
