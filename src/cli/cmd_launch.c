/*
 * trivance launch: starts a program without MPI here, a process for each rank, which libtrivance_net joins to a job.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trivance/common.h>

#include "cli/subcommands.h"
#include "common/error.h"
#include "text/parse.h"
#include "tool/host/mpi_start.h"
#include "tool/tool.h"

enum { RANKS_MAX = 4096, SECRET_BYTES = 16 };

enum { OPTION_ADDRESS = CLI_NO_LETTER };

static const cli_option_t option[] =
    {{"ranks", 'n', "N", "number of processes, 1 to 4096", NULL},
     {"port", 'p', "PORT", "TCP port at which they meet (default: a free one)", NULL},
     {"address", OPTION_ADDRESS, "A",
      "address of rank 0, for a PROGRAM that starts the ranks on other hosts (default 127.0.0.1)", NULL},
     CLI_OPTIONS_END};

const cli_command_t cli_launch_command = {
    .name = "launch",
    .summary = "a program without MPI, as several processes on this machine",
    .usage = "-n N [--port=PORT] [--address=A] [--] PROGRAM [ARGUMENTS]",
    .about =
        "Starts N processes of a program that uses libtrivance_net on this machine, each with RANK, LOCAL_RANK, "
        "WORLD_SIZE, "
        "LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torchrun sets them, and with TRIVANCE_SECRET, a random one "
        "unless it is set. The exit status is that of the first process that fails, 128 and the signal's number for "
        "one that is killed. SIGINT and SIGTERM are passed on to all processes.",
    .option = option,
    .examples = "trivance launch -n 4 ./a.out\n",
    .passes_on = true,
};

typedef struct options {
    int ranks, port;
    const char *address;
} options_t;

static int read_option(void *context, int key)
{
    options_t *options = context;
    if (key == OPTION_ADDRESS)
        return options->address = optarg, TRV_OK;
    return key == 'n' ? trv_parse_int(optarg, "--ranks", 1, RANKS_MAX, &options->ranks)
                      : trv_parse_int(optarg, "--port", 1, 65535, &options->port);
}

/* A port that is free now. */
static int find_port(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool found = fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
                       getsockname(fd, (struct sockaddr *)&at, &length) == 0;
    *port = ntohs(at.sin_port);
    if (fd >= 0)
        close(fd);
    return found ? TRV_OK : trv_fail(TRV_ERR_TRANSPORT, "no port of 127.0.0.1 is free: %s", strerror(errno));
}

static int set_number(const char *name, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    return setenv(name, text, 1) == 0 ? TRV_OK : trv_fail_memory();
}

static int set_secret(void)
{
    uint8_t byte[SECRET_BYTES];
    char text[2 * SECRET_BYTES + 1];
    const char *set = getenv("TRIVANCE_SECRET");
    if (set && *set)
        return TRV_OK;
    if (getrandom(byte, sizeof byte, 0) != sizeof byte)
        return trv_fail(TRV_ERR_TRANSPORT, "the system has no random numbers for a secret");
    for (int i = 0; i < SECRET_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", byte[i]);
    return setenv("TRIVANCE_SECRET", text, 1) == 0 ? TRV_OK : trv_fail_memory();
}

static int set_job(options_t *options)
{
    int rc = options->port ? TRV_OK : find_port(&options->port);
    rc = rc < 0 ? rc : set_secret();
    rc = rc < 0 ? rc : set_number("WORLD_SIZE", options->ranks);
    rc = rc < 0 ? rc : set_number("LOCAL_WORLD_SIZE", options->ranks);
    rc = rc < 0 ? rc : set_number("MASTER_PORT", options->port);
    return rc < 0 || setenv("MASTER_ADDR", options->address, 1) == 0 ? rc : trv_fail_memory();
}

/* ---- Processes --------------------------------------------------------------------------------------------------- */

static pid_t process[RANKS_MAX];
static volatile sig_atomic_t processes;

static const int passed_on[] = {SIGINT, SIGTERM};
static struct sigaction as_found[2];

static void pass_on(int signal)
{
    for (int r = 0; r < processes; r++)
        if (process[r] > 0)
            kill(process[r], signal);
}

/* While processes are started no signal comes, which some of them would miss. */
static void hold_signals(bool held)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < 2; i++)
        sigaddset(&set, passed_on[i]);
    sigprocmask(held ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static void pass_signals_on(void)
{
    const struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    for (int i = 0; i < 2; i++)
        sigaction(passed_on[i], &action, &as_found[i]);
}

static void become(char **command)
{
    for (int i = 0; i < 2; i++)
        sigaction(passed_on[i], &as_found[i], NULL);
    hold_signals(false);
    execvp(command[0], command);
    const int error = errno;
    fprintf(stderr, "trivance launch: %s cannot be started: %s\n", command[0], strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

static int start(int rank, char **command)
{
    int rc = set_number("RANK", rank);
    rc = rc < 0 ? rc : set_number("LOCAL_RANK", rank);
    if (rc < 0)
        return rc;
    process[rank] = fork();
    if (process[rank] < 0)
        return trv_fail(TRV_ERR_TRANSPORT, "rank %d cannot be started: %s", rank, strerror(errno));
    if (process[rank] == 0)
        become(command);
    processes = rank + 1;
    return TRV_OK;
}

static int rank_of(pid_t id)
{
    for (int r = 0; r < processes; r++)
        if (process[r] == id)
            return r;
    return -1;
}

/* The exit status of the first that fails; a signal is told. */
static int wait_for_all(void)
{
    int code = 0, status;
    for (int left = processes; left > 0;) {
        const pid_t id = wait(&status);
        if (id < 0 && errno == EINTR)
            continue;
        if (id < 0)
            break;
        const int rank = rank_of(id);
        if (rank < 0)
            continue;
        process[rank] = 0;
        left--;
        if (WIFSIGNALED(status))
            fprintf(stderr, "trivance launch: rank %d was ended by signal %d (%s)\n", rank, WTERMSIG(status),
                    strsignal(WTERMSIG(status)));
        if (code == 0)
            code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return code;
}

int cli_launch(int argc, char **argv)
{
    options_t options = {.address = "127.0.0.1"};
    int code = cli_read_options(&cli_launch_command, argc, argv, read_option, &options);
    if (code >= 0)
        return code;
    if (options.ranks == 0 || optind >= argc)
        return cli_bad("launch", "it is not said %s, as in `trivance launch -n 4 ./a.out`",
                       options.ranks == 0 ? "how many processes" : "which program");
    char path[CLI_PATH_BYTES];
    if (!cli_find_executable(argv[optind], path)) /* rather than so many processes that all say so */
        return cli_bad("launch", "there is no program '%.200s' that can be started", argv[optind]);
    int rc = set_job(&options);
    hold_signals(true);
    pass_signals_on();
    for (int rank = 0; rc == TRV_OK && rank < options.ranks; rank++)
        rc = start(rank, argv + optind);
    if (rc < 0)
        pass_on(SIGTERM);
    hold_signals(false);
    code = wait_for_all();
    return rc < 0 ? cli_bad_last("launch") : code;
}
