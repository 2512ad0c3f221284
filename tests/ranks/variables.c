/*
 * Prints the environment variables of Trivance, one per line: the name, "shared" if all ranks must have the same value
 * or "own" if not, and an example.
 */
#include <stdio.h>

#include "settings/settings.h"

int main(void)
{
    for (int i = 0; i < trv_settings_count(); i++) {
        const trv_setting_t *setting = trv_settings_at(i);
        printf("%s %s %s\n", setting->name, setting->shared ? "shared" : "own", setting->example);
    }
    return 0;
}
