/*
 * Finds and executes trivance-mpi.openmpi, trivance-mpi.mpich or trivance-net; the tool itself is linked neither with
 * MPI nor with libfabric. They are searched for beside the executable, in ../libexec/trivance and in PATH.
 */
#include "cli/host/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shared/tool.h"

static bool any_set(const char *const *name)
{
    for (; *name; name++)
        if (getenv(*name))
            return true;
    return false;
}

/* Open MPI's launchers set OMPI_…; MPICH's Hydra and other PMI launchers set PMI_…. */
const char *cli_launcher(void)
{
    static const char *const openmpi[] = {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_UNIVERSE_SIZE", NULL};
    static const char *const mpich[] = {"PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT", "HYDI_CONTROL_FD", NULL};
    return any_set(openmpi) ? "openmpi" : any_set(mpich) ? "mpich" : NULL;
}

int cli_launched_rank(void)
{
    static const char *const name[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    const char *rank = getenv("WORLD_SIZE") ? getenv("RANK") : NULL;
    for (size_t i = 0; i < sizeof name / sizeof *name && !rank; i++)
        rank = getenv(name[i]);
    return rank ? atoi(rank) : -1;
}

void cli_silence(bool silent)
{
    static int saved[2];
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        const int descriptor = i ? STDERR_FILENO : STDOUT_FILENO;
        const int from = silent ? open("/dev/null", O_WRONLY) : saved[i];
        if (silent)
            saved[i] = dup(descriptor);
        dup2(from, descriptor);
        close(from);
    }
}

bool cli_find_beside(const char *const *folder, const char *file, int access_mode, char *path, size_t size)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return false;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return false;
    slash[1] = '\0';
    for (; *folder; folder++)
        if (snprintf(path, size, "%s%s%s", self, *folder, file) < (int)size && access(path, access_mode) == 0)
            return true;
    return false;
}

static bool find_file(const char *file, char *path, size_t size)
{
    static const char *const folder[] = {"", "../libexec/trivance/", NULL};
    return cli_find_beside(folder, file, X_OK, path, size);
}

bool cli_find_program(const char *mpi, char *path, size_t size)
{
    char file[64];
    snprintf(file, sizeof file, "trivance-mpi.%s", mpi);
    return find_file(file, path, size);
}

int cli_hand_over(const char *mpi, char **argv)
{
    char path[4608], file[64];
    snprintf(file, sizeof file, "trivance-%s%s", mpi ? "mpi." : "net", mpi ? mpi : "");
    if (!find_file(file, path, sizeof path))
        snprintf(path, sizeof path, "%s", file);
    argv[-1] = path; /* argv[-1] is the tool's own name, before the subcommand */
    fflush(stdout);
    execvp(path, argv - 1);
    return cli_bad(argv[0],
                   "%s cannot be started (%s); it belongs beside the trivance executable, in ../libexec/trivance or in "
                   "PATH, and is built if %s is installed",
                   file, strerror(errno),
                   !mpi                          ? "libfabric"
                   : strcmp(mpi, "openmpi") == 0 ? "Open MPI"
                                                 : "MPICH");
}

int cli_run_under_mpi(int argc, char **argv, const cli_command_t *command, const char *example)
{
    const char *mpi = cli_launcher();
    if (mpi)
        return cli_hand_over(mpi, argv);
    optind = 0; /* the command line may have been read before */
    const int code = cli_read_options(command, argc, argv, cli_skip_option, NULL);
    return code >= 0 ? code : cli_bad(argv[0], "an MPI launcher is required, for example `%s`", example);
}
