/*
 * Determines the MPI of a program from the output of `ldd`, which resolves its libraries, and the MPI of a launcher
 * from the output of its --version.
 */
#include "cli/host/mpi_start.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/host/program_output.h"

#define OUTPUT_MAX 65535
#define TIMEOUT_S  60

static bool is_elf(const char *path)
{
    char head[4] = "";
    FILE *file = fopen(path, "rb");
    bool elf = file && fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, "\177ELF", 4) == 0;
    if (file)
        fclose(file);
    return elf;
}

/* Sonames: MPICH's own is libmpi.so.12, Debian's libmpich.so.12; Open MPI's is libmpi.so.40 since version 2; that of
 * the standard ABI is libmpi_abi.so.0. */
static const char *mpi_of_program(const char *path)
{
    char *const command[] = {"ldd", (char *)path, NULL};
    if (!is_elf(path))
        return NULL;
    char *needed = cli_program_output(command, OUTPUT_MAX, TIMEOUT_S);
    const char *mpi = !needed                            ? NULL
                      : strstr(needed, "libmpi_abi.so.") ? CLI_MPI_ABI /* which may need another one */
                      : strstr(needed, "libmpi.so.40")   ? "openmpi"
                      : strstr(needed, "libmpich.so.12") ? "mpich"
                      : strstr(needed, "libmpi.so.12")   ? "mpich"
                                                         : NULL;
    free(needed);
    return mpi;
}

const char *cli_mpi_of_launcher(const char *name)
{
    static const char *const known[] = {"mpirun", "mpiexec", "orterun", "prterun"};
    const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name;
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        is_known = is_known || strncmp(file, known[i], strlen(known[i])) == 0;
    char *const command[] = {(char *)name, "--version", NULL};
    char *version = is_known ? cli_program_output(command, OUTPUT_MAX, TIMEOUT_S) : NULL;
    const char *mpi = !version                      ? NULL
                      : strstr(version, "Open MPI") ? "openmpi"
                      : strstr(version, "OpenRTE")  ? "openmpi"
                      : strstr(version, "HYDRA")    ? "mpich"
                      : strstr(version, "MPICH")    ? "mpich"
                                                    : NULL;
    free(version);
    return mpi;
}

bool cli_find_executable(const char *word, char path[CLI_PATH_BYTES])
{
    struct stat what;
    if (strchr(word, '/')) {
        snprintf(path, CLI_PATH_BYTES, "%s", word);
        return access(path, X_OK) == 0 && stat(path, &what) == 0 && S_ISREG(what.st_mode);
    }
    for (const char *at = getenv("PATH"); at && *at; at += *at == ':') {
        int length = (int)strcspn(at, ":");
        snprintf(path, CLI_PATH_BYTES, "%.*s/%s", length, at, word);
        at += length;
        if (access(path, X_OK) == 0 && stat(path, &what) == 0 && S_ISREG(what.st_mode))
            return true;
    }
    return false;
}

int cli_find_mpi_program(char **words, int count, const char **mpi)
{
    char path[CLI_PATH_BYTES];
    for (int i = 0; i < count; i++)
        if (words[i][0] != '-' && cli_find_executable(words[i], path) && (*mpi = mpi_of_program(path)) != NULL)
            return i;
    *mpi = NULL;
    return -1;
}

static bool is_one_of(const char *word, const char *const *list)
{
    while (*list && strcmp(word, *list) != 0)
        list++;
    return *list != NULL;
}

/* The cores on which this process may run: Open MPI counts cores, not their hardware threads. */
static int cores(void)
{
    cpu_set_t allowed, first; /* of the threads of each core */
    CPU_ZERO(&first);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 1;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        char path[80];
        int thread = i;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", i);
        FILE *file = CPU_ISSET(i, &allowed) ? fopen(path, "r") : NULL;
        if (file && fscanf(file, "%d", &thread) != 1)
            thread = i;
        if (file)
            fclose(file);
        if (CPU_ISSET(i, &allowed))
            CPU_SET(thread, &first);
    }
    return CPU_COUNT(&first);
}

bool cli_exceeds_cores(char **words, int count)
{
    static const char *const ranks_option[] = {"-n", "--n", "-np", "--np", "-c", NULL};
    static const char *const placement[] = {"-H",
                                            "-host",
                                            "--host",
                                            "-hostfile",
                                            "--hostfile",
                                            "-machinefile",
                                            "--machinefile",
                                            "-default-hostfile",
                                            "--default-hostfile",
                                            "-oversubscribe",
                                            "--oversubscribe",
                                            "-nooversubscribe",
                                            "--nooversubscribe",
                                            NULL};
    static const char *const batch[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", NULL};
    long ranks = 0;
    for (int i = 0; batch[i]; i++)
        if (getenv(batch[i]))
            return false;
    bool in_program = false; /* whose arguments are not the launcher's */
    for (int i = 1; i < count; i++) {
        char path[CLI_PATH_BYTES];
        const char *equals = strchr(words[i], '=');
        if (strcmp(words[i], ":") == 0) {
            in_program = false;
        } else if (!in_program && is_one_of(words[i], placement)) {
            return false;
        } else if (!in_program && i + 1 < count && is_one_of(words[i], ranks_option)) {
            ranks += strtol(words[++i], NULL, 10);
        } else if (!in_program && (strncmp(words[i], "--np=", 5) == 0 || strncmp(words[i], "--n=", 4) == 0)) {
            ranks += strtol(equals + 1, NULL, 10);
        } else {
            /* the word after an option may be its value, such as `node` of --map-by */
            const bool is_value = words[i - 1][0] == '-' && i > 1 && !strchr(words[i - 1], '=');
            in_program = in_program || (words[i][0] != '-' && !is_value && cli_find_executable(words[i], path));
        }
    }
    return ranks > cores();
}

bool cli_launcher_starts(const char *launcher_mpi, const char *program_mpi)
{
    return strcmp(program_mpi, CLI_MPI_ABI) == 0 || strcmp(program_mpi, launcher_mpi) == 0;
}

const char *cli_mpi_title(const char *mpi)
{
    return strcmp(mpi, "openmpi") == 0 ? "Open MPI" : strcmp(mpi, "mpich") == 0 ? "MPICH" : "the standard ABI of MPI";
}
