/*
 * A PMIx server of the PMIx library, which starts a job of ranks on this host and reports coordinates on the network to
 * them: pmix_server RANKS COORDINATES SHAPE COMMAND [ARGUMENT…].
 *
 * COORDINATES: `geometry`, `coord` or `string`, the type of PMIX_FABRIC_COORDINATES; `none`; or `dims`, a geometry
 * whose PMIX_FABRIC_DIMS is wrong. SHAPE: "2x2", the coordinates of the ranks in row-major order; with a + in front
 * ("+2x2") PMIX_FABRIC_SHAPE has the sizes, too. All ranks are on one host, so each has coordinates of its own, which
 * on a machine are those of its node. Exit status: that of a rank that failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

enum { RANKS_MAX = 64, JOB_INFO = 14, PROC_INFO = 12, SIZES_MAX = 8 };

extern char **environ;

static const pmix_nspace_t job = "trivance-test";

/* ---- Callbacks of the server ------------------------------------------------------------------------------------- */

static pmix_status_t connected(const pmix_proc_t *proc, void *object, pmix_info_t info[], size_t infos,
                               pmix_op_cbfunc_t done, void *context)
{
    (void)proc, (void)object, (void)info, (void)infos, (void)done, (void)context;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done, void *context)
{
    (void)proc, (void)object, (void)done, (void)context;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t aborted(const pmix_proc_t *proc, void *object, int status, const char text[], pmix_proc_t list[],
                             size_t count, pmix_op_cbfunc_t done, void *context)
{
    (void)proc, (void)object, (void)list, (void)count, (void)done, (void)context;
    fprintf(stderr, "pmix_server: a rank aborts with status %d: %s\n", status, text ? text : "");
    exit(1);
}

/* All ranks are local, so their data are those of all ranks. */
static pmix_status_t fence(const pmix_proc_t list[], size_t count, const pmix_info_t info[], size_t infos, char *data,
                           size_t bytes, pmix_modex_cbfunc_t done, void *context)
{
    (void)list, (void)count, (void)info, (void)infos;
    done(PMIX_SUCCESS, data, bytes, context, free, data);
    return PMIX_SUCCESS;
}

static pmix_status_t modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t infos, pmix_modex_cbfunc_t done,
                           void *context)
{
    (void)proc, (void)info, (void)infos;
    done(PMIX_ERR_NOT_FOUND, NULL, 0, context, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_server_module_t module = {.client_connected2 = connected,
                                      .client_finalized = finalized,
                                      .abort = aborted,
                                      .fence_nb = fence,
                                      .direct_modex = modex};

static void check(pmix_status_t code, const char *what)
{
    if (code == PMIX_SUCCESS || code == PMIX_OPERATION_SUCCEEDED)
        return;
    fprintf(stderr, "pmix_server: %s: %s\n", what, PMIx_Error_string(code));
    exit(2);
}

/* ---- The job ----------------------------------------------------------------------------------------------------- */

static int sizes_read(const char *text, uint32_t size[SIZES_MAX])
{
    int dims = 0;
    for (char *end; dims < SIZES_MAX; text = end + 1) {
        size[dims++] = (uint32_t)strtoul(text, &end, 10);
        if (*end != 'x')
            break;
    }
    return dims;
}

static pmix_coord_t coordinates_of(int rank, const uint32_t *size, int dims)
{
    pmix_coord_t coordinates = {.view = PMIX_COORD_LOGICAL_VIEW, .dims = (size_t)dims};
    coordinates.coord = calloc((size_t)dims, sizeof *coordinates.coord);
    for (int d = dims - 1; d >= 0; d--) {
        coordinates.coord[d] = (uint32_t)rank % size[d];
        rank /= (int)size[d];
    }
    return coordinates;
}

/* Sets an entry of the list to an array of `count` elements at `data`, which the array owns. */
static void add_array(pmix_info_t *info, const char *key, pmix_data_type_t type, void *data, size_t count)
{
    pmix_data_array_t *array = malloc(sizeof *array);
    *array = (pmix_data_array_t){.type = type, .size = count, .array = data};
    snprintf(info->key, sizeof info->key, "%s", key);
    info->value.type = PMIX_DATA_ARRAY;
    info->value.data.darray = array;
}

/* Adds the attributes of the network for a rank. Returns their number. */
static size_t add_network(pmix_info_t *info, int rank, const char *form, const char *shape)
{
    uint32_t size[SIZES_MAX], *copy = malloc(sizeof size);
    const int dims = sizes_read(shape + (*shape == '+'), size);
    const uint32_t reported = (uint32_t)dims + (strcmp(form, "dims") == 0);
    size_t used = 0;
    pmix_coord_t *coordinates = malloc(sizeof *coordinates);
    *coordinates = coordinates_of(rank, size, dims);
    memcpy(copy, size, sizeof size);
    if (strcmp(form, "none") == 0)
        return 0;
    if (strcmp(form, "string") == 0) {
        PMIX_INFO_LOAD(&info[used], PMIX_FABRIC_COORDINATES, "0,0", PMIX_STRING);
    } else if (strcmp(form, "coord") == 0) {
        add_array(&info[used], PMIX_FABRIC_COORDINATES, PMIX_COORD, coordinates, 1);
    } else {
        pmix_geometry_t *device = calloc(1, sizeof *device);
        *device = (pmix_geometry_t){.uuid = strdup("fab://0"),
                                    .osname = strdup("hsn0"),
                                    .coordinates = coordinates,
                                    .ncoords = 1};
        add_array(&info[used], PMIX_FABRIC_COORDINATES, PMIX_GEOMETRY, device, 1);
    }
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_FABRIC_DIMS, &reported, PMIX_UINT32);
    used++;
    if (*shape == '+')
        add_array(&info[used++], PMIX_FABRIC_SHAPE, PMIX_UINT32, copy, (size_t)dims);
    return used;
}

static void add_proc(pmix_info_t *entry, int rank, const char *host, const char *form, const char *shape)
{
    pmix_info_t *info = calloc(PROC_INFO, sizeof *info);
    size_t used = 0;
    const pmix_rank_t number = (pmix_rank_t)rank;
    const uint16_t local = (uint16_t)rank;
    const uint32_t zero = 0;
    PMIX_INFO_LOAD(&info[used], PMIX_RANK, &number, PMIX_PROC_RANK);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_APPNUM, &zero, PMIX_UINT32);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_LOCAL_RANK, &local, PMIX_UINT16);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_NODE_RANK, &local, PMIX_UINT16);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_GLOBAL_RANK, &number, PMIX_PROC_RANK);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_APP_RANK, &number, PMIX_PROC_RANK);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_HOSTNAME, host, PMIX_STRING);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_NODEID, &zero, PMIX_UINT32);
    used++;
    used += add_network(&info[used], rank, form, shape);
    add_array(entry, PMIX_PROC_DATA, PMIX_INFO, info, used);
}

static void job_register(int ranks, const char *form, const char *shape, const char *folder)
{
    static pmix_info_t info[JOB_INFO + RANKS_MAX];
    char host[256] = "", list[RANKS_MAX * 4] = "", *nodes = NULL, *procs = NULL;
    const uint32_t count = (uint32_t)ranks, one = 1;
    const pmix_rank_t leader = 0;
    const bool no = false;
    int used = 0;
    gethostname(host, sizeof host - 1);
    for (int r = 0; r < ranks; r++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", r ? "," : "", r);
    check(PMIx_generate_regex(host, &nodes), "PMIx_generate_regex");
    check(PMIx_generate_ppn(list, &procs), "PMIx_generate_ppn");
    static const char *const sizes[] = {PMIX_UNIV_SIZE, PMIX_JOB_SIZE,  PMIX_LOCAL_SIZE,
                                        PMIX_APP_SIZE,  PMIX_NODE_SIZE, PMIX_MAX_PROCS};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++, used++)
        PMIX_INFO_LOAD(&info[used], sizes[i], &count, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[used], PMIX_NUM_NODES, &one, PMIX_UINT32);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_LOCAL_PEERS, list, PMIX_STRING);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_LOCALLDR, &leader, PMIX_PROC_RANK);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_PROC_MAP, procs, PMIX_REGEX);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_TMPDIR, folder, PMIX_STRING);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_NSDIR, folder, PMIX_STRING);
    used++;
    PMIX_INFO_LOAD(&info[used], PMIX_TDIR_RMCLEAN, &no, PMIX_BOOL);
    used++;
    for (int r = 0; r < ranks; r++)
        add_proc(&info[used++], r, host, form, shape);
    check(PMIx_server_register_nspace(job, ranks, info, (size_t)used, NULL, NULL), "PMIx_server_register_nspace");
}

static pid_t rank_start(int rank, char **command)
{
    pmix_proc_t proc;
    char **variables = NULL;
    PMIX_LOAD_PROCID(&proc, job, (pmix_rank_t)rank);
    check(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL), "PMIx_server_register_client");
    int count = 0;
    while (environ[count])
        count++;
    variables = calloc((size_t)count + 1, sizeof *variables);
    for (int i = 0; i < count; i++)
        variables[i] = strdup(environ[i]);
    check(PMIx_server_setup_fork(&proc, &variables), "PMIx_server_setup_fork");
    const pid_t child = fork();
    if (child == 0) {
        execve(command[0], command, variables);
        _exit(127);
    }
    for (int i = 0; variables[i]; i++)
        free(variables[i]);
    free(variables);
    return child;
}

int main(int argc, char **argv)
{
    const int ranks = argc > 4 ? atoi(argv[1]) : 0;
    char folder[] = "/tmp/trivance-pmix.XXXXXX", command[64];
    pmix_info_t where;
    pid_t child[RANKS_MAX];
    int failed = 0, status = 0;
    if (ranks < 1 || ranks > RANKS_MAX || !mkdtemp(folder)) {
        fprintf(stderr, "usage: pmix_server RANKS COORDINATES SHAPE COMMAND [ARGUMENT…]\n");
        return 2;
    }
    memset(&where, 0, sizeof where);
    PMIX_INFO_LOAD(&where, PMIX_SERVER_TMPDIR, folder, PMIX_STRING);
    check(PMIx_server_init(&module, &where, 1), "PMIx_server_init");
    job_register(ranks, argv[2], argv[3], folder);
    for (int r = 0; r < ranks; r++)
        child[r] = rank_start(r, argv + 4);
    for (int r = 0; r < ranks; r++)
        if (waitpid(child[r], &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
            failed = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    PMIx_server_finalize();
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 ? 2 : failed;
}
