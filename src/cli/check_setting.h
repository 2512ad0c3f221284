/*
 * Check of the values of environment variables by the tool, before a job reads them: `trivance info`, `trivance run`.
 */
#ifndef TRIVANCE_CLI_CHECK_SETTING_H
#define TRIVANCE_CLI_CHECK_SETTING_H

#include "settings/settings.h"

/* Returns 0, or a negative code if the value or the file that it names is invalid; the error message then begins
 * with `name`: that of the variable, or of an option for it. */
int cli_check_setting(const trv_setting_t *setting, const char *name, const char *value);

#endif
