/*
 * Values of variables as the tool checks them, before a job reads them: `trivance info`, `trivance run`.
 */
#ifndef TRIVANCE_CLI_CHECK_SETTING_H
#define TRIVANCE_CLI_CHECK_SETTING_H

#include "settings/settings.h"

/* 0, or a negative code with a sentence that begins with the variable's name: the value is wrong, or the file that it
 * names. */
int cli_check_setting(const trv_setting_t *setting, const char *value);

#endif
