/*
 * Work that takes long is announced before it begins, and refused where nobody can have meant it.
 */
#ifndef TRIVANCE_CLI_SHARED_PATIENCE_H
#define TRIVANCE_CLI_SHARED_PATIENCE_H

#include <stdbool.h>

#define CLI_LONG_HELP "run even what is expected to take more than an hour"

/* For work that will take about `seconds`: over a minute a warning on stderr, over an hour TRV_ERR_ARGUMENT unless
 * `allowed` (--long). `cheaper` is a way to have it sooner, or NULL. */
int cli_patience(const char *command, double seconds, bool allowed, const char *cheaper);

/* Whether it would be. */
bool cli_is_refused(double seconds, bool allowed);

#endif
