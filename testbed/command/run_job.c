/*
 * trivance testbed run: an MPI job on the testbed, one rank per node.
 *
 * The launcher runs on the testbed's head and starts its daemons on the nodes through an agent that replaces rsh. Its
 * settings are environment variables, which the daemons and the ranks inherit: for the MPI library, the network for
 * messages (the torus) and the network for its internal connections; for Trivance, the topology file and the network's
 * parameters. Variables that the user has set are kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trivance/common.h>

#include "base/number.h"
#include "cli/subcommands.h"
#include "base/error.h"
#include "cli/shared/option_words.h"
#include "cli/shared/tool.h"
#include "cli/host/mpi_start.h"
#include "base/text/parse.h"
#include "testbed/command/commands.h"
#include "testbed/emulator/names.h"

#define PATH_BYTES 4608
#define HOST_BYTES 16
#define WATCH_MS   500

/* ---- The environment --------------------------------------------------------------------------------------------- */

typedef struct variable {
    const char *name, *value;
} variable_t;

static void set_all(const variable_t *variable)
{
    for (; variable->name; variable++)
        setenv(variable->name, variable->value, 0);
}

static void set_openmpi(bool rendezvous, const char *agent)
{
    static const variable_t always[] = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                        {"OMPI_MCA_plm", "rsh"},
                                        {"OMPI_MCA_plm_rsh_no_tree_spawn", "1"},
                                        {"OMPI_MCA_plm_rsh_num_concurrent", "64"},
                                        {"OMPI_MCA_orte_keep_fqdn_hostnames", "1"},
                                        {"OMPI_MCA_oob_tcp_if_include", TB_MANAGEMENT_NETWORK},
                                        {"OMPI_MCA_pml", "ob1"},
                                        {"OMPI_MCA_btl", "tcp,self"},
                                        {"OMPI_MCA_btl_tcp_if_include", TB_TORUS_NETWORK},
                                        {"OMPI_MCA_mpi_yield_when_idle", "1"},
                                        {"OMPI_MCA_rmaps_base_mapping_policy", "node"},
                                        {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                        {NULL, NULL}};
    static const variable_t eager[] = {{"OMPI_MCA_btl_tcp_eager_limit", "8388608"},
                                       {"OMPI_MCA_btl_tcp_rndv_eager_limit", "8388608"},
                                       {"OMPI_MCA_btl_tcp_max_send_size", "8388608"},
                                       {NULL, NULL}};
    setenv("OMPI_MCA_plm_rsh_agent", agent, 1);
    set_all(always);
    if (!rendezvous)
        set_all(eager);
}

static void set_mpich(bool rendezvous)
{
    static const variable_t always[] = {{"UCX_TLS", "tcp,self"},
                                        {"UCX_NET_DEVICES", TB_TUN},
                                        {"MPIR_CVAR_NOLOCAL", "1"},
                                        {NULL, NULL}};
    static const variable_t eager[] = {{"UCX_RNDV_THRESH", "inf"}, {NULL, NULL}};
    set_all(always);
    if (!rendezvous)
        set_all(eager);
}

/* Core time of a step and of a message in it, per rank on the core: from exchanges of `bench`, of one and of two
 * messages per step, under both MPIs, on a virtual machine with two cores of an AMD EPYC. */
#define STEP_US    38.0
#define MESSAGE_US 4.0

/* Sets Trivance's variables. MPI libraries and libfabric do a rendezvous before they send long messages, which takes a
 * round trip; all of them send 16 KiB eagerly, hence the size of a fragment. */
static void set_trivance(const tb_network_t *network, int core, bool net)
{
    char torus[TRV_TORUS_TEXT_MAX], bandwidth[48], latency[48], alpha[48], overhead[48];
    long cores = sysconf(_SC_NPROCESSORS_ONLN) - (core >= 0);
    double sharers = network->torus.ranks / (double)(cores < 1 ? 1 : cores);
    snprintf(alpha, sizeof alpha, "%.0fus", STEP_US * sharers);
    snprintf(overhead, sizeof overhead, "%.0fus", MESSAGE_US * sharers);
    const trv_time_unit_t *unit = trv_time_unit(network->latency_ns);
    trv_snprintf(bandwidth, sizeof bandwidth, "%.12gMb/s", network->bandwidth_bps / 1e6);
    trv_snprintf(latency, sizeof latency, "%.12g%s", network->latency_ns / unit->ns, unit->name);
    trv_torus_format(&network->torus, torus, sizeof torus);
    const variable_t topology[] = {{net ? "TRIVANCE_TORUS" : "TRIVANCE_TOPOLOGY_FILE", net ? torus : TB_TOPOLOGY},
                                   {NULL, NULL}};
    const variable_t variable[] = {{"TRIVANCE_BANDWIDTH", bandwidth}, {"TRIVANCE_HOP_LATENCY", latency},
                                   {"TRIVANCE_ALPHA", alpha},         {"TRIVANCE_MESSAGE_OVERHEAD", overhead},
                                   {"TRIVANCE_PIECE", "16K"},         {NULL, NULL}};
    /* All ports share one interface, but only the links limit the bandwidth. */
    const variable_t one_interface[] = {{"TRIVANCE_PORTS", TB_TORUS_NETWORK},
                                        {"TRIVANCE_RULES_FILE", TB_PATHS},
                                        {NULL, NULL}};
    const variable_t interface_per_port[] = {{"TRIVANCE_PORTS", TB_PORTS_NETWORK}, {NULL, NULL}};
    if (!network->no_forwarding || network->torus.dims > 1) /* a ring or line is to be detected */
        set_all(topology);
    set_all(variable);
    if (!network->no_forwarding) /* cables are to be detected */
        set_all(network->ports ? interface_per_port : one_interface);
}

/* ---- The launcher ------------------------------------------------------------------------------------------------ */

/* "mpirun.openmpi" if it is installed (Debian's name), else any launcher that reports to be this MPI's. */
static const char *find_launcher(const char *mpi)
{
    static char name[32];
    const char *const candidate[] = {name, "mpirun", "mpiexec", "mpiexec.hydra"};
    snprintf(name, sizeof name, "mpirun.%s", mpi);
    for (size_t i = 0; i < sizeof candidate / sizeof candidate[0]; i++) {
        const char *found = cli_mpi_of_launcher(candidate[i]);
        if (found && strcmp(found, mpi) == 0)
            return candidate[i];
    }
    return NULL;
}

/* "trv-0:1,trv-1:1,…" (Open MPI needs slots), or without slots; the caller frees it. */
static char *host_list(int ranks, const char *slots)
{
    char *list = malloc((size_t)ranks * HOST_BYTES);
    size_t used = 0;
    for (int i = 0; list && i < ranks; i++)
        used += (size_t)snprintf(list + used, HOST_BYTES, "%s" TB_NODE "%s", i ? "," : "", i, slots);
    return list;
}

typedef struct line {
    char **word;
    int words;
} line_t;

static void add(line_t *line, const char *word) { line->word[line->words++] = (char *)(uintptr_t)word; }

static bool without_mpi(const cli_job_t *job) { return strcmp(job->mpi, TESTBED_NO_MPI) == 0; }

/* The command line of `trivance launch`: the ranks connect at the address of node 0, over the management network if
 * there is one. NULL if memory is exhausted. */
static char **net_line(const cli_job_t *job, const tb_network_t *network, const char *agent, int *words)
{
    static char ranks[16], address[32];
    const unsigned at = trv_testbed_address(network, 0);
    line_t line = {calloc((size_t)job->words + 8, sizeof *line.word), 0};
    if (!line.word)
        return NULL;
    snprintf(ranks, sizeof ranks, "--ranks=%d", job->ranks);
    snprintf(address, sizeof address, "--address=%u.%u.%u.%u", at >> 24, at >> 16 & 255, at >> 8 & 255, at & 255);
    add(&line, "launch");
    add(&line, ranks);
    add(&line, address);
    add(&line, "--");
    add(&line, agent);
    add(&line, "+");
    for (int i = 0; i < job->words; i++)
        add(&line, job->word[i]);
    *words = line.words;
    return line.word;
}

/* The launcher's command line, preceded by `trivance run`'s for the drop-in. NULL if memory is exhausted. */
static char **command_line(const cli_job_t *job, const char *launcher, const char *agent, int *words)
{
    static char ranks[16];
    bool openmpi = strcmp(job->mpi, "openmpi") == 0;
    line_t line = {calloc((size_t)job->words + 32, sizeof *line.word), 0};
    char *hosts = host_list(job->ranks, openmpi ? ":1" : "");
    if (!line.word || !hosts)
        return NULL;
    snprintf(ranks, sizeof ranks, "%d", job->ranks);
    if (job->drop_in) {
        add(&line, "run");
        add(&line, openmpi ? "--mpi=openmpi" : "--mpi=mpich");
        add(&line, "--");
    }
    add(&line, launcher);
    if (!openmpi) {
        static const char *const more[] = {"-launcher",     "rsh", "-iface", TB_BRIDGE, "-disable-hostname-propagation",
                                           "-launcher-exec"};
        for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
            add(&line, more[i]);
        add(&line, agent);
    }
    add(&line, "-n");
    add(&line, ranks);
    add(&line, openmpi ? "--host" : "-hosts");
    add(&line, hosts);
    add(&line, agent);
    add(&line, "--");
    for (int i = 0; i < job->words; i++)
        add(&line, job->word[i]);
    *words = line.words;
    return line.word;
}

/* ---- The job ----------------------------------------------------------------------------------------------------- */

/* Redirects both outputs to the file, which is truncated, and the input from /dev/null. */
static bool redirect(const char *path)
{
    int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool done = out >= 0 && in >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
                dup2(out, STDERR_FILENO) >= 0;
    close(out);
    close(in);
    return done;
}

/* Runs in the child process; returns an exit code only on failure. */
static int become_launcher(const char *command, const cli_job_t *job, const tb_status_t *status, const char *launcher,
                           const char *agent)
{
    int words;
    const bool net = without_mpi(job);
    char **line = net ? net_line(job, &status->network, agent, &words) : command_line(job, launcher, agent, &words);
    if (job->output && !redirect(job->output))
        return cli_bad(command, "%.3000s cannot be written: %s", job->output, strerror(errno));
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    trv_testbed_raise_priority_before_children(status->core);
    if (strcmp(job->mpi, "openmpi") == 0)
        set_openmpi(job->rendezvous, agent);
    else if (!net)
        set_mpich(job->rendezvous);
    set_trivance(&status->network, status->core, net);
    if (!line)
        return cli_bad(command, "out of memory for the command line");
    if (trv_testbed_enter(TB_HEAD) < 0)
        return cli_bad_last(command);
    fflush(NULL);
    optind = 0;
    if (net)
        return cli_launch(words, line);
    if (job->drop_in)
        return cli_run(words, line);
    execvp(line[0], line);
    return cli_bad(command, "%.200s cannot be started: %s", line[0], strerror(errno));
}

static volatile sig_atomic_t launcher_process, ended_by;

/* Forwards a signal to the launcher, except for SIGINT, which the terminal sends to the launcher too. */
static void forward_signal(int signal)
{
    ended_by = signal;
    if (signal != SIGINT && launcher_process > 0)
        kill((pid_t)launcher_process, signal);
}

/* Waits until the launcher ends. False: the emulator ended first, so that no message of a rank arrives any more. */
static bool wait_for_end(pid_t launcher, pid_t emulator, const cli_job_t *job)
{
    struct pollfd wait[] = {{.fd = (int)syscall(SYS_pidfd_open, launcher, 0), .events = POLLIN},
                            {.fd = (int)syscall(SYS_pidfd_open, emulator, 0), .events = POLLIN}};
    for (int ended = wait[0].fd < 0; !ended;) {
        int found = poll(wait, 2, job->watch ? WATCH_MS : -1);
        if (found == 0)
            job->watch(job->context);
        ended = found > 0 || (found < 0 && errno != EINTR);
    }
    for (int i = 0; i < 2; i++)
        if (wait[i].fd >= 0)
            close(wait[i].fd);
    return wait[0].fd < 0 || wait[0].revents;
}

/* The exit code for the end of the launcher. A launcher may exit with 0 although a signal ended it. */
static int end_of(const char *command, pid_t launcher, bool in_time)
{
    int status = 0;
    while (waitpid(launcher, &status, 0) < 0 && errno == EINTR)
        continue;
    if (ended_by)
        return 128 + ended_by;
    if (!in_time)
        return cli_bad(command, "the testbed's emulator ended, so the job was terminated; `trivance testbed down` "
                                "removes the testbed");
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    fprintf(stderr, "trivance %s: a signal (%s) terminated the launcher and the job\n", command,
            strsignal(WTERMSIG(status)));
    return 128 + WTERMSIG(status);
}

static int wait_for(const char *command, pid_t launcher, pid_t emulator, const cli_job_t *job)
{
    static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP};
    enum { SIGNALS = sizeof forwarded / sizeof forwarded[0] };
    struct sigaction action = {.sa_handler = forward_signal}, before[SIGNALS];
    launcher_process = launcher;
    ended_by = 0;
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(forwarded[i], &action, &before[i]) == 0 && before[i].sa_handler == SIG_IGN)
            sigaction(forwarded[i], &before[i], NULL); /* nohup ignores it */
    bool in_time = wait_for_end(launcher, emulator, job);
    if (!in_time)
        kill(launcher, SIGTERM);
    int code = end_of(command, launcher, in_time);
    launcher_process = 0;
    for (int i = 0; i < SIGNALS; i++)
        sigaction(forwarded[i], &before[i], NULL);
    return code;
}

/* Finds the agent's path, and those of the libraries to preload into the ranks, separated by a colon. */
static int find_parts(const char *command, const cli_job_t *job, char agent[PATH_BYTES], char preload[2 * PATH_BYTES])
{
    char file[64], clock[PATH_BYTES] = "";
    snprintf(file, sizeof file, "libtrivance_testbed_clock.%s.so", job->mpi);
    int code = cli_testbed_program(command, "trivance-testbed-agent", agent, PATH_BYTES);
    if (code == CLI_OK && without_mpi(job))
        return *preload = '\0', CLI_OK;
    if (code == CLI_OK)
        code = cli_testbed_program(command, "libtrivance_testbed.so", preload, PATH_BYTES);
    if (code == CLI_OK && job->times)
        code = cli_testbed_program(command, file, clock, sizeof clock);
    if (code != CLI_OK)
        return code;
    if (strpbrk(agent, " :") || strpbrk(preload, " :") || strpbrk(clock, " :"))
        return cli_bad(command,
                       "the path %s has a blank or colon, which launchers do not support; install Trivance elsewhere",
                       agent);
    size_t used = strlen(preload);
    if (job->times)
        snprintf(preload + used, 2 * PATH_BYTES - used, ":%s", clock);
    return CLI_OK;
}

int cli_testbed_job(const char *command, const cli_job_t *job, tb_status_t *counts)
{
    static char agent[PATH_BYTES], preload[2 * PATH_BYTES];
    tb_status_t status;
    int code = find_parts(command, job, agent, preload);
    if (code != CLI_OK)
        return code;
    const char *launcher = without_mpi(job) ? "" : find_launcher(job->mpi);
    if (!launcher)
        return cli_bad(command, "no launcher of %s (mpirun.%s, mpirun or mpiexec) is installed",
                       cli_mpi_title(job->mpi), job->mpi);
    if (trv_testbed_status(&status) < 0)
        return cli_bad_last(command);
    if (job->ranks == status.network.torus.ranks && trv_testbed_check_rows(&status.network) < 0)
        return cli_bad_last(command);
    int lock = trv_testbed_lock_job();
    if (lock < 0 || trv_testbed_end_processes(status.network.torus.ranks, false) < 0 ||
        trv_testbed_prepare_job(&status.network) < 0 || (counts && trv_testbed_ask("reset", NULL) < 0))
        return cli_bad_last(command);
    char core[16];
    snprintf(core, sizeof core, "%d", status.core);
    setenv(TB_PRELOAD_VARIABLE, preload, 1);
    setenv(TB_CORE_VARIABLE, core, 1);
    if (job->times)
        setenv(TB_TIMES_VARIABLE, job->times, 1);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(become_launcher(command, job, &status, launcher, agent));
    code = child > 0 ? wait_for(command, child, status.process, job)
                     : cli_bad(command, "a process for the launcher cannot be created: %s", strerror(errno));
    if ((code == CLI_OK && counts && trv_testbed_status(counts) < 0) ||
        trv_testbed_end_processes(status.network.torus.ranks, false) < 0)
        code = cli_bad_last(command);
    close(lock);
    return code;
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

enum { OPTION_MPI = CLI_NO_LETTER, OPTION_RANKS, OPTION_DROP_IN, OPTION_NO_RENDEZVOUS };

static const cli_option_t option[] =
    {{"mpi", OPTION_MPI, "M",
      "openmpi or mpich, if it cannot be detected from the program (Python, a script); none for a program that uses "
      "libtrivance_net",
      "openmpi mpich none"},
     {"ranks", OPTION_RANKS, "N", "on the first N nodes only", NULL},
     {"drop-in", OPTION_DROP_IN, NULL, "preload Trivance, as `trivance run` does; TRIVANCE_… variables are passed on",
      NULL},
     {"no-rendezvous", OPTION_NO_RENDEZVOUS, NULL, "send messages of any size eagerly, without a rendezvous", NULL},
     CLI_OPTIONS_END};

const cli_command_t cli_testbed_run_command = {
    .name = "testbed run",
    .summary = "starts an unmodified program with one rank on every node",
    .usage = "[--mpi=M] [--drop-in] [OPTIONS] -- PROGRAM [ARGUMENTS]",
    .about =
        "Starts an unmodified MPI program, or a program of libtrivance_net, with one rank on every node of the testbed "
        "that is up. With --drop-in Trivance is preloaded and set to the torus of the testbed. The exit status is that "
        "of the program. On a testbed without forwarding only programs of libtrivance_net run.",
    .option = option,
    .examples = "trivance testbed run -- ./program\n"
                "TRIVANCE_DEBUG=info trivance testbed run --drop-in -- ./program\n"
                "trivance testbed run --mpi=none -- ./allreduce_net\n",
    .passes_on = true,
};

static int take_option(void *context, int key)
{
    cli_job_t *job = context;
    switch (key) {
    case OPTION_DROP_IN: job->drop_in = true; return TRV_OK;
    case OPTION_NO_RENDEZVOUS: job->rendezvous = false; return TRV_OK;
    case OPTION_RANKS: return trv_parse_int(optarg, "--ranks", 1, TB_NODES_MAX, &job->ranks);
    default:
        job->mpi = optarg;
        return cli_words_find("openmpi mpich " TESTBED_NO_MPI, optarg, "mpi", "") < 0 ? TRV_ERR_ARGUMENT : TRV_OK;
    }
}

/* Returns -1 to continue, else the exit code. */
static int read_run(int argc, char **argv, cli_job_t *job)
{
    int code = cli_read_options(&cli_testbed_run_command, argc, argv, take_option, job);
    if (code >= 0)
        return code;
    job->word = argv + optind;
    job->words = argc - optind;
    if (job->words)
        return -1;
    return cli_bad(argv[0], "expected a program, for example `trivance testbed run -- ./a.out`");
}

/* A program that is not linked with an MPI library (Python, a script) may still load one, so --mpi names it. */
int cli_testbed_find_mpi(const char *command, cli_job_t *job)
{
    char path[CLI_PATH_BYTES];
    const char *linked;
    if (!cli_find_executable(job->word[0], path))
        return cli_bad(command, "the program '%.200s' does not exist or cannot be executed", job->word[0]);
    int at = cli_find_mpi_program(job->word, job->words, &linked);
    if (linked && job->mpi && strcmp(job->mpi, linked) != 0)
        return cli_bad(command, "%.200s is linked with %s, but --mpi=%s starts ranks with %s; omit --mpi",
                       job->word[at], cli_mpi_title(linked), job->mpi, cli_mpi_title(job->mpi));
    if (linked)
        job->mpi = linked;
    if (!job->mpi)
        return cli_bad(command,
                       "%.200s is not linked with Open MPI or MPICH; if it loads one "
                       "at run time (Python, a script), use --mpi=openmpi or --mpi=mpich, or --mpi=none if it uses "
                       "libtrivance_net",
                       job->word[0]);
    return CLI_OK;
}

int cli_testbed_run(int argc, char **argv)
{
    cli_job_t job = {.rendezvous = true};
    tb_status_t status;
    int code = read_run(argc, argv, &job);
    if (code >= 0)
        return code;
    if (trv_testbed_status(&status) < 0)
        return cli_bad_last(argv[0]);
    if (job.ranks > status.network.torus.ranks)
        return cli_bad(argv[0], "--ranks: expected at most %d, one rank for each node of the testbed",
                       status.network.torus.ranks);
    job.ranks = job.ranks ? job.ranks : status.network.torus.ranks;
    if (job.mpi && without_mpi(&job) && job.drop_in)
        return cli_bad(argv[0], "--drop-in is for MPI programs and cannot be combined with --mpi=none");
    code = cli_testbed_find_mpi(argv[0], &job);
    if (code == CLI_OK && status.network.no_forwarding && !without_mpi(&job))
        return cli_bad(argv[0],
                       "%s cannot run on a testbed without forwarding, because it sends from every node to every other "
                       "one: programs of libtrivance_net run there (--mpi=none), MPI programs on `trivance testbed up "
                       "TORUS` without --no-forwarding",
                       cli_mpi_title(job.mpi));
    return code == CLI_OK ? cli_testbed_job(argv[0], &job, NULL) : code;
}
