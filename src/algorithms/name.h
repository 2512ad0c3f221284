/*
 * Names with parameters, "hybrid:4x8:own2:grouped": the only parser. The algorithm's entry describes the parameters as
 * fields, in the order of the name. A printed name is read as the same values.
 */
#ifndef TRIVANCE_ALGORITHMS_NAME_H
#define TRIVANCE_ALGORITHMS_NAME_H

#include <trivance/algorithms.h>

#include "algorithms/field.h"

/* A field for the number of ports: "swing-l:3" uses 3 streams, each of which sends by one port at a time. The first D
 * streams begin in the dimensions in turn, the next D are their mirrors. 1 is the algorithm as libraries for nodes with
 * one interface have it; 0, without the field, is the algorithm's own number. */
#define TRV_FIELD_PORTS                                                                                                \
    {                                                                                                                  \
        .kind = TRV_FIELD_NUMBER, .what = "a number of ports", .limit = trv_name_ports_max, .hidden = true             \
    }

/* Twice the number of dimensions with more than one rank, at least 1. */
int trv_name_ports_max(const trv_torus_t *torus);

/* The values of a name without parameters. */
void trv_name_defaults(const trv_algorithm_t *algorithm, trv_parameters_t *parameters);

/* Reads the text after the colon in a name; NULL if the name has no colon. TRV_ERR_ARGUMENT, or TRV_ERR_UNSUPPORTED for
 * another number of weights than the torus has dimensions larger than 1. */
int trv_name_parse(const trv_algorithm_t *algorithm, const char *text, const trv_torus_t *torus,
                   trv_parameters_t *parameters);

/* Writes a name, in full or without the words and the hidden numbers that the algorithm has in any case. Returns the
 * length, as snprintf does. */
int trv_name_print(const trv_algorithm_t *algorithm, const trv_parameters_t *parameters, bool full, char *text,
                   size_t size);

/* The name with these numbers, one for each field of the algorithm. */
void trv_name_of_numbers(const trv_algorithm_t *algorithm, const int *number, char name[TRV_ALGORITHM_NAME_MAX]);

#endif
