/*
 * The parameters of networks as parts of keys, see trivance/parameters.h.
 */
#ifndef TRIVANCE_PARAMETERS_PARAMETERS_H
#define TRIVANCE_PARAMETERS_PARAMETERS_H

#include <trivance/parameters.h>

#define TRV_PARAMETERS_KEY_MAX sizeof(trv_simulate_options_t)

/* Copies the values of the parameters that a choice depends on, all but lists and those that only simulated times
 * depend on, one after another, and fills the rest with zeros. */
void trv_parameters_key(const trv_simulate_options_t *options, unsigned char key[TRV_PARAMETERS_KEY_MAX]);

#endif
