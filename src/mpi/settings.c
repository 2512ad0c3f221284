/*
 * TRIVANCE_TORUS, TRIVANCE_ALGORITHM, TRIVANCE_DEBUG, TRIVANCE_CHECK.
 */
#include "mpi/settings.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static trv_mpi_settings_t settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *variable(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static bool is_off(const char *text)
{
    return !text || strcmp(text, "0") == 0 || strcmp(text, "off") == 0 || strcmp(text, "no") == 0;
}

static void read_environment(void)
{
    settings.torus = variable("TRIVANCE_TORUS");
    settings.algorithm = variable("TRIVANCE_ALGORITHM");
    settings.check = !is_off(variable("TRIVANCE_CHECK"));
    settings.info = !is_off(variable("TRIVANCE_DEBUG"));
    settings.topology = variable("TRIVANCE_TOPOLOGY_FILE");
    settings.cart = !is_off(variable("TRIVANCE_CART"));
    bool by_name = settings.algorithm && strcmp(settings.algorithm, "auto") != 0;
    settings.may_serve = settings.torus || by_name || settings.topology || settings.cart ||
                         variable("TRIVANCE_RULES_FILE") || variable("TRIVANCE_TUNE");
}

const trv_mpi_settings_t *trv_mpi_settings(void)
{
    pthread_once(&once, read_environment);
    return &settings;
}

static atomic_int use = TRV_MPI_API;

void trv_mpi_mode(trv_mpi_use_t wanted)
{
    atomic_store(&use, wanted);
}

bool trv_mpi_is_drop_in(void)
{
    return atomic_load(&use) == TRV_MPI_DROP_IN;
}

bool trv_mpi_may_serve(void)
{
    pthread_once(&once, read_environment);
    return settings.may_serve;
}

void trv_mpi_say(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "trivance: %s\n", line);
}
