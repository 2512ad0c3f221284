/*
 * Names with a number of ports, see ports.h.
 */
#include "algorithms/ports.h"

#include <stdio.h>

#include "algorithms/name_numbers.h"
#include "base/error.h"
#include "torus/torus.h"

int trv_ports_read(const char *algorithm, const char *parameters, const trv_torus_t *torus)
{
    int dimension[TRV_DIMS_MAX], ports = 0;
    const int active = trv_torus_active(torus, dimension), max = active > 0 ? 2 * active : 1;
    char text[TRV_TORUS_TEXT_MAX];
    if (!parameters || trv_name_numbers_read(parameters, 1, &max, &ports))
        return ports;
    return trv_fail(TRV_ERR_ARGUMENT,
                    "%s: '%.40s' is not a number of ports of the torus %s, from 1 to %d; for example %s:1", algorithm,
                    parameters, trv_torus_format(torus, text, sizeof text), max, algorithm);
}

int trv_ports_full_name(const char *algorithm, const char *parameters, const trv_torus_t *torus, char *text,
                        size_t size)
{
    const int ports = trv_ports_read(algorithm, parameters, torus);
    if (ports < 0)
        return ports;
    return ports ? snprintf(text, size, "%s:%d", algorithm, ports) : snprintf(text, size, "%s", algorithm);
}
