/*
 * Parameters that libfabric reads from the environment, once per process, and that must be equal at both ends of a
 * connection: if the limits of ofi_rxm differ, its messages block forever. Therefore rank 0 determines them.
 *
 * If a program has used libfabric before, the parameters have already been read, which cannot be detected; such a
 * program must set them for all ranks itself. Unless the user has set one of the parameters, the defaults of libfabric
 * are replaced for ofi_rxm over tcp:
 *
 *     eager limit    tcp receives an eager message of any length directly into a posted buffer, so that a rendezvous
 *                    saves no copy. It costs a round trip, which multiplies the time of messages of 32 KiB to 1 MiB on
 *                    one host by two to three (bench/net)
 *     rendezvous     by writes. With reads, libfabric 1.17 crashes when an endpoint is closed whose request to read has
 *                    not been sent yet, for example after a message of a wrong length: its tcp provider reports the
 *                    request without the context that ofi_rxm dereferences
 *
 * With writes, a receive may complete before its data have arrived, up to libfabric 2.1: ofi_rxm takes the completion
 * of the request for that of the write if the answer arrives first (libfabric pull request 11084). Therefore messages
 * of Trivance never need a rendezvous by writes: they are sent in fragments that are at most as long as the eager
 * limit.
 *
 * Over verbs the eager limit must be the size of the buffers, so hosts with such devices keep the defaults of
 * libfabric.
 *
 * One more parameter may differ between ranks: the number of receive buffers of ofi_rxm, by default 4096 of 16 KiB,
 * which every process touches at the start. An unexpected message keeps its buffer, but another buffer replaces it.
 * Therefore 512 suffice; even with a single one, twelve ranks that receive unexpected messages take no longer.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "transport/fabric/inside.h"

static const struct {
    const char *name, *value; /* NULL: the default of libfabric */
} PARAMETER[] = {{"FI_OFI_RXM_EAGER_LIMIT", "1048576"},
                 {"FI_OFI_RXM_USE_RNDV_WRITE", "1"},
                 {"FI_OFI_RXM_BUFFER_SIZE", NULL},
                 {"FI_OFI_RXM_SAR_LIMIT", NULL}};

#define BUFFERS_NAME  "FI_OFI_RXM_MSG_RX_SIZE"
#define BUFFERS_VALUE "512"

enum {
    PARAMETERS = sizeof PARAMETER / sizeof *PARAMETER,
    VALUE_MAX = 32,
    RXM_EAGER_LIMIT = 16384 /* default of libfabric */
};

/* The value in the environment; NULL if it is not set or empty. */
static const char *value_of(int i)
{
    const char *value = getenv(PARAMETER[i].name);
    return value && *value ? value : NULL;
}

static bool any_set(void)
{
    bool set = false;
    for (int i = 0; i < PARAMETERS; i++)
        set = set || value_of(i);
    return set;
}

static bool has_verbs(void)
{
    bool has = false;
    DIR *devices = opendir("/sys/class/infiniband");
    for (const struct dirent *entry; devices && !has && (entry = readdir(devices));)
        has = entry->d_name[0] != '.';
    if (devices)
        closedir(devices);
    return has;
}

/* Finds the value of a name in "NAME=VALUE NAME=VALUE"; "" if the name is not in the text. */
static void find_value(const char *text, const char *name, char value[VALUE_MAX])
{
    const size_t length = strlen(name);
    *value = '\0';
    for (const char *at = text; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            snprintf(value, VALUE_MAX, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
}

/* Sets the parameters in the environment. Values that the environment already has are kept; if they differ from
 * those of rank 0, trv_fabric_collect_addresses returns an error. */
static void parameters_set(const char *first)
{
    const bool verbs = has_verbs(), ours = !first && !any_set() && !verbs;
    if (!verbs)
        setenv(BUFFERS_NAME, BUFFERS_VALUE, 0);
    for (int i = 0; i < PARAMETERS; i++) {
        char value[VALUE_MAX] = "";
        if (first)
            find_value(first, PARAMETER[i].name, value);
        else if (ours && PARAMETER[i].value)
            snprintf(value, sizeof value, "%s", PARAMETER[i].value);
        if (*value && !value_of(i))
            setenv(PARAMETER[i].name, value, 1);
    }
}

static void parameters_format(char text[TRV_PARAMETERS_MAX])
{
    size_t used = 0;
    for (int i = 0; i < PARAMETERS; i++) {
        const char *value = value_of(i);
        const size_t length = value ? strcspn(value, " ") : 0;
        if (value)
            used += (size_t)snprintf(text + used, TRV_PARAMETERS_MAX - used, "%s%s=%.*s", used ? " " : "",
                                     PARAMETER[i].name, (int)(length < VALUE_MAX ? length : VALUE_MAX - 1), value);
    }
}

size_t trv_fabric_rendezvous_limit(const char *parameters)
{
    static const char *const off[] = {"", "0", "no", "false", "off"};
    char value[VALUE_MAX];
    find_value(parameters, "FI_OFI_RXM_USE_RNDV_WRITE", value);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (trv_strcasecmp(value, off[i]) == 0)
            return 0;
    find_value(parameters, "FI_OFI_RXM_EAGER_LIMIT", value);
    const unsigned long long bytes = strtoull(value, NULL, 0);
    return bytes > 0 && bytes < SIZE_MAX ? (size_t)bytes : RXM_EAGER_LIMIT;
}

const char *trv_fabric_parameters(const char *first)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool known;
    static char text[TRV_PARAMETERS_MAX];
    pthread_mutex_lock(&lock);
    if (!known) {
        parameters_set(first);
        parameters_format(text);
        known = true;
    }
    pthread_mutex_unlock(&lock);
    return text;
}
