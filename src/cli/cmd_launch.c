/*
 * trivance launch: starts a program without MPI on this machine, one process per rank. libtrivance_net connects the
 * processes to a job.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <trivance/common.h>

#include "cli/subcommands.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text/parse.h"
#include "cli/host/mpi_start.h"
#include "cli/shared/tool.h"

enum { RANKS_MAX = 4096, SECRET_BYTES = 16 };
#define UNLIMITED 1e9 /* seconds */

enum { OPTION_ADDRESS = CLI_NO_LETTER };

static const cli_option_t option[] =
    {{"ranks", 'n', "N", "number of processes, 1 to 4096", NULL},
     {"port", 'p', "PORT", "TCP port on which rank 0 listens (default: a free one)", NULL},
     {"address", OPTION_ADDRESS, "A",
      "address of rank 0, for a PROGRAM that starts the ranks on other hosts (default 127.0.0.1)", NULL},
     CLI_OPTIONS_END};

const cli_command_t cli_launch_command = {
    .name = "launch",
    .summary = "a program without MPI, as several processes on this machine",
    .usage = "-n N [--port=PORT] [--address=A] [--] PROGRAM [ARGUMENTS]",
    .about =
        "Starts N processes of a program that uses libtrivance_net on this machine, each with RANK, LOCAL_RANK, "
        "WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torchrun sets them, and with TRIVANCE_SECRET, a "
        "random one unless it is set. When a process fails, the others and their descendants have one second to "
        "end, then receive SIGTERM, and 5 s later SIGKILL. The exit status is that of the first process that "
        "fails, or 128 plus the signal's number if it was killed. SIGHUP, SIGINT and SIGTERM are forwarded to "
        "all processes; a second such signal kills them, as does the end of trivance launch itself.",
    .option = option,
    .examples = "trivance launch -n 4 ./a.out\n",
    .passes_on = true,
};

typedef struct options {
    int ranks, port;
    const char *address;
} options_t;

static int option_apply(void *context, int key)
{
    options_t *options = context;
    if (key == OPTION_ADDRESS && !*optarg)
        return trv_fail(TRV_ERR_ARGUMENT, "the address is missing; for example --address=192.0.2.1");
    if (key == OPTION_ADDRESS)
        return options->address = optarg, TRV_OK;
    if (key == 'n' && strcmp(optarg, "p") == 0)
        return trv_fail(TRV_ERR_ARGUMENT, "the number of processes is -n N or --ranks=N, not -np N; for example -n 4");
    if (key == 'n')
        return trv_parse_int(optarg, "--ranks", 1, RANKS_MAX, &options->ranks);
    return trv_parse_int(optarg, "the port", 1, 65535, &options->port) == TRV_OK
               ? TRV_OK
               : trv_fail(TRV_ERR_ARGUMENT, "%s; for example --port=29500", trv_last_error());
}

/* Finds a port that is currently free. */
static int port_find(int *port)
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

static int variable_set_int(const char *name, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    return setenv(name, text, 1) == 0 ? TRV_OK : trv_fail_memory();
}

static int secret_set(void)
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

static int job_set_variables(options_t *options)
{
    int rc = options->port ? TRV_OK : port_find(&options->port);
    rc = rc < 0 ? rc : secret_set();
    rc = rc < 0 ? rc : variable_set_int("WORLD_SIZE", options->ranks);
    rc = rc < 0 ? rc : variable_set_int("LOCAL_WORLD_SIZE", options->ranks);
    rc = rc < 0 ? rc : variable_set_int("MASTER_PORT", options->port);
    return rc < 0 || setenv("MASTER_ADDR", options->address, 1) == 0 ? rc : trv_fail_memory();
}

/* ---- Processes --------------------------------------------------------------------------------------------------- */

/*
 * The launcher blocks SIGCHLD and the signals that it forwards, and receives them only by waiting for them. So no
 * signal is handled while processes are being started, when some of them would miss it.
 */
typedef struct job {
    int ranks, left;
    pid_t *process;          /* 0: it has ended */
    int code, first, status; /* of the first process that failed; code 0: none has failed */
    bool reported;           /* the failure was printed */
    bool signal_forwarded;   /* the user's signal has been forwarded */
    int stage;               /* of termination, see below; 0: not begun */
    double stage_end_s;
    sigset_t waited, original_mask;
} job_t;

/* Stages of termination after a process has failed: the signal that the others receive, and the time until the next
 * stage. The first stage has no signal, because libtrivance_net reports the failed rank to the others, which may end
 * by themselves with an error message. */
static const struct stage {
    int signal;
    double seconds;
} stage[] = {{0, 1}, {SIGTERM, 5}, {SIGKILL, UNLIMITED}};
enum { STAGES = sizeof stage / sizeof *stage };

static int job_rank(const job_t *job, pid_t id)
{
    for (int r = 0; r < job->ranks; r++)
        if (job->process[r] == id)
            return r;
    return -1;
}

static pid_t parent_of(const char *process)
{
    char path[300], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", process);
    FILE *file = fopen(path, "r");
    const char *behind = file && fgets(line, sizeof line, file) ? strrchr(line, ')')
                                                                : NULL; /* a name may contain blanks */
    if (behind && sscanf(behind, ") %*c %d", &parent) != 1)
        parent = 0;
    if (file)
        fclose(file);
    return parent;
}

/* Forwards a signal to orphaned descendants of the job's processes, which have become children of the launcher
 * (take_signals). */
static void orphans_signal(const job_t *job, int signal)
{
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes)) != NULL;) {
        const pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
        if (id > 0 && parent_of(entry->d_name) == getpid() && job_rank(job, id) < 0)
            kill(id, signal);
    }
    if (processes)
        closedir(processes);
}

static void job_signal(const job_t *job, int signal)
{
    for (int r = 0; r < job->ranks; r++)
        if (job->process[r] > 0)
            kill(job->process[r], signal);
    orphans_signal(job, signal);
}

/* Whether the job is still running. A failed job has ended when all of its descendants have; a successful one may
 * leave processes behind. */
static bool job_is_running(const job_t *job)
{
    siginfo_t any;
    return job->left > 0 ||
           (job->code && (waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD));
}

/* Reports the first process that failed, unless the user terminated the job. */
static void job_report_failure(job_t *job, const char *others)
{
    char how[96];
    const int status = job->status;
    if (!job->code || job->signal_forwarded || job->reported)
        return;
    job->reported = true;
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "was terminated by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "ended with exit status %d", WEXITSTATUS(status));
    fprintf(stderr, "trivance launch: rank %d %s%s\n", job->first, how, others);
}

static void job_enter_stage(job_t *job, int next)
{
    if (next > STAGES)
        return;
    job->stage = next;
    job->stage_end_s = trv_now_s() + stage[next - 1].seconds;
    if (!stage[next - 1].signal)
        return;
    job_report_failure(job, ", so the other ranks are terminated");
    job_signal(job, stage[next - 1].signal);
}

/* Blocks the signals that the launcher handles; a signal that is ignored (nohup) stays ignored. Makes the launcher
 * the parent of orphaned descendants. */
static void job_block_signals(job_t *job)
{
    static const int forwarded[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction found, usual = {.sa_handler = SIG_DFL};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigaction(SIGCHLD, &usual, NULL); /* if it were ignored, it would not be delivered */
    sigemptyset(&job->waited);
    sigaddset(&job->waited, SIGCHLD);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
        if (sigaction(forwarded[i], NULL, &found) == 0 && found.sa_handler != SIG_IGN)
            sigaddset(&job->waited, forwarded[i]);
    sigprocmask(SIG_BLOCK, &job->waited, &job->original_mask);
}

/* Called in a child process: executes the program. The child is killed when the launcher is killed. */
static void child_execute(const job_t *job, pid_t launcher, char **command)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) /* the launcher ended before the setting took effect */
        _exit(128 + SIGKILL);
    sigprocmask(SIG_SETMASK, &job->original_mask, NULL);
    execvp(command[0], command);
    const int error = errno;
    fprintf(stderr, "trivance launch: %s cannot be started: %s\n", command[0], strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

static int rank_start(job_t *job, int rank, char **command)
{
    int rc = variable_set_int("RANK", rank);
    rc = rc < 0 ? rc : variable_set_int("LOCAL_RANK", rank);
    if (rc < 0)
        return rc;
    const pid_t launcher = getpid();
    const pid_t id = fork();
    if (id < 0)
        return trv_fail(TRV_ERR_TRANSPORT, "rank %d cannot be started: %s", rank, strerror(errno));
    if (id == 0)
        child_execute(job, launcher, command);
    job->process[rank] = id;
    job->left++;
    return TRV_OK;
}

static void job_process_ended(job_t *job, int rank, int status)
{
    job->process[rank] = 0;
    job->left--;
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code == 0 || job->code)
        return;
    job->code = code;
    job->first = rank;
    job->status = status;
    if (job->stage == 0)
        job_enter_stage(job, 1);
}

static void job_collect_ended(job_t *job)
{
    int status;
    for (pid_t id; (id = waitpid(-1, &status, WNOHANG)) > 0;) {
        const int rank = job_rank(job, id);
        if (rank >= 0)
            job_process_ended(job, rank, status);
        if (job->stage > 1 && stage[job->stage - 1].signal) /* its orphans have not received the signal */
            orphans_signal(job, stage[job->stage - 1].signal);
    }
}

/* Handles a signal of the user; the second one kills the job. A signal from the terminal has reached all processes
 * already. */
static void job_handle_signal(job_t *job, const siginfo_t *signal)
{
    if (job->signal_forwarded)
        job_enter_stage(job, STAGES);
    else if (signal->si_code != SI_KERNEL)
        job_signal(job, signal->si_signo);
    job->signal_forwarded = true;
}

static int job_wait(job_t *job)
{
    for (job_collect_ended(job); job_is_running(job); job_collect_ended(job)) {
        siginfo_t signal;
        const double due = job->stage ? job->stage_end_s - trv_now_s() : UNLIMITED;
        const double left = due > 0 ? due : 0;
        const struct timespec wait = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
        const int which = sigtimedwait(&job->waited, &signal, &wait);
        if (which < 0 && errno == EAGAIN)
            job_enter_stage(job, job->stage + 1);
        else if (which > 0 && which != SIGCHLD)
            job_handle_signal(job, &signal);
    }
    job_report_failure(job, "");
    return job->code;
}

static int job_run(int ranks, char **command)
{
    static pid_t process[RANKS_MAX];
    job_t job = {.ranks = ranks, .process = process};
    int rc = TRV_OK;
    job_block_signals(&job);
    for (int rank = 0; rc == TRV_OK && rank < ranks; rank++)
        rc = rank_start(&job, rank, command);
    if (rc < 0)
        job_enter_stage(&job, 2);
    const int code = job_wait(&job);
    return rc < 0 ? rc : code;
}

int cli_launch(int argc, char **argv)
{
    options_t options = {.address = "127.0.0.1"};
    int code = cli_read_options(&cli_launch_command, argc, argv, option_apply, &options);
    if (code >= 0)
        return code;
    if (options.ranks == 0 || optind >= argc)
        return cli_bad("launch", "%s is missing; for example `trivance launch -n 4 ./a.out`",
                       options.ranks == 0 ? "the number of processes" : "the program");
    char path[CLI_PATH_BYTES];
    if (!cli_find_executable(argv[optind], path)) /* otherwise every process would report this */
        return cli_bad("launch", "there is no program '%.200s' that can be started", argv[optind]);
    int rc = job_set_variables(&options);
    rc = rc < 0 ? rc : job_run(options.ranks, argv + optind);
    return rc < 0 ? cli_bad_last("launch") : rc;
}
