/*
 * The Python package trivance beside this executable.
 */
#ifndef TRIVANCE_CLI_HOST_PYTHON_H
#define TRIVANCE_CLI_HOST_PYTHON_H

/* Returns the name of a Python interpreter that finds the package trivance, numpy and matplotlib, for execvp and
 * posix_spawnp; NULL if there is none. If the package is installed beside this executable, its folder becomes the first
 * in PYTHONPATH. */
const char *cli_find_python(void);

#endif
