/*
 * Searches for a Python interpreter that can execute the package trivance.
 */
#include "cli/host/python.h"

#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/host/handover.h"

static bool python_suits(const char *python)
{
    static const char code[] = "import importlib.util as u, sys\n"
                               "sys.exit(None in map(u.find_spec, ('numpy', 'matplotlib', 'trivance')))";
    char *const command[] = {(char *)(size_t)python, "-c", (char *)(size_t)code, NULL};
    pid_t child;
    int status = 0;
    if (posix_spawnp(&child, python, NULL, NULL, command, environ))
        return false;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void set_path(void)
{
    static const char *const place[] = {"../python/", TRIVANCE_PYTHON_PLACE "/", NULL};
    static const char file[] = "trivance/figures/__main__.py";
    char path[4096], both[8192];
    const char *others = getenv("PYTHONPATH");
    if (!cli_find_beside(place, file, R_OK, path, sizeof path))
        return;
    path[strlen(path) - strlen(file)] = '\0';
    snprintf(both, sizeof both, "%s%s%s", path, others ? ":" : "", others ? others : "");
    setenv("PYTHONPATH", both, 1);
}

const char *cli_find_python(void)
{
    static const char *const python[] = {"python3", "/usr/bin/python3"};
    set_path();
    for (size_t p = 0; p < sizeof python / sizeof python[0]; p++)
        if (python_suits(python[p]))
            return python[p];
    return NULL;
}
