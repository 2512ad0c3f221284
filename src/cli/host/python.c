/*
 * Executes the Python package. The first python3 in PATH may lack packages that the system's python3 has.
 */
#include "cli/shared/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/host/handover.h"
#include "cli/shared/tool.h"

#define SYSTEM_PYTHON "/usr/bin/python3"

/* Runs a module if this Python finds the packages, and otherwise executes the system's Python with the same words. */
static const char launch[] =
    "import sys\n"
    "sys.path[:] = filter(None, sys.path)\n" /* without the current folder */
    "import importlib.util, os, runpy\n"
    "code, command, module, plots, *words = sys.argv[1:]\n"
    "plot = any(word.startswith('--plot=') for word in words)\n"
    "more = ['numpy', 'matplotlib'] * (plot or plots == 'plots')\n"
    "if all(map(importlib.util.find_spec, ['trivance', *more])):\n"
    "    sys.argv[1:] = words\n"
    "    runpy.run_module(module, run_name='__main__')\n"
    "if sys.executable != '" SYSTEM_PYTHON "' and os.access('" SYSTEM_PYTHON "', os.X_OK):\n"
    "    os.execv('" SYSTEM_PYTHON "', ['" SYSTEM_PYTHON "', '-c', code, *sys.argv[1:]])\n"
    "print(f\"trivance {command}: {'--plot: ' * plot}there is no python3 with {'numpy, matplotlib and ' * "
    "bool(more)}the \"\n"
    "      f\"package trivance; install {'python3-matplotlib and ' * bool(more)}python3-trivance\", file=sys.stderr)\n"
    "sys.exit(2)\n";

static void set_path(void)
{
    static const char *const folder[] = {"../python/", TRIVANCE_PYTHON_PLACE "/", NULL};
    static const char file[] = "trivance/sweep/__main__.py";
    char path[4096], both[8192];
    const char *others = getenv("PYTHONPATH");
    if (!cli_find_beside(folder, file, R_OK, path, sizeof path))
        return;
    path[strlen(path) - strlen(file)] = '\0';
    snprintf(both, sizeof both, "%s%s%s", path, others ? ":" : "", others ? others : "");
    setenv("PYTHONPATH", both, 1);
}

int cli_python(const char *command, const char *module, bool plots, char *const *word, int words)
{
    const char *const first[] = {"python3", "-c", launch, launch, command, module, plots ? "plots" : ""};
    const size_t count = sizeof first / sizeof *first;
    const char **all = calloc(count + (size_t)words + 1, sizeof *all);
    if (!all)
        return cli_bad(command, "out of memory");
    memcpy(all, first, sizeof first);
    for (int i = 0; i < words; i++)
        all[count + (size_t)i] = word[i];
    set_path();
    fflush(stdout);
    execvp("python3", (char *const *)(size_t)all);
    execv(SYSTEM_PYTHON, (char *const *)(size_t)all);
    free(all);
    return cli_bad(command, "there is no python3; install python3-trivance");
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

typedef struct words {
    const cli_command_t *command;
    char **word;
    int count, key; /* key: of the option that is read */
} words_t;

static void word_add(void *context, const cli_option_t *option)
{
    words_t *words = context;
    if (!option->name || option->key != words->key)
        return;
    const size_t size = strlen(option->name) + (optarg ? strlen(optarg) : 0) + sizeof "--=";
    char *word = malloc(size);
    if (word)
        snprintf(word, size, "--%s%s%s", option->name, optarg ? "=" : "", optarg ? optarg : "");
    words->word[words->count++] = word;
}

static int read_option(void *context, int key)
{
    words_t *words = context;
    words->key = key;
    cli_each_option(words->command, word_add, words);
    return words->word[words->count - 1] ? TRV_OK : trv_fail_memory();
}

int cli_python_sweep(const cli_command_t *command, int argc, char **argv)
{
    words_t words = {.command = command, .word = calloc((size_t)argc + 1, sizeof *words.word), .count = 1};
    if (!words.word)
        return cli_bad(argv[0], "out of memory");
    optind = 0; /* the command line may have been read before */
    int code = cli_read_options(command, argc, argv, read_option, &words), options = words.count;
    if (code < 0) {
        words.word[0] = argv[0];
        while (optind < argc)
            words.word[words.count++] = argv[optind++];
        code = cli_python(argv[0], "trivance.sweep", false, words.word, words.count);
    }
    while (--options > 0)
        free(words.word[options]);
    free(words.word);
    return code;
}
