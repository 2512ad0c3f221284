/*
 * Names with a number of ports: "swing-l:3" uses 3 streams, each of which sends by one port at a time. The first D
 * streams begin in the dimensions in turn, the next D are their mirrors. 1 is the algorithm as libraries for nodes with
 * one interface have it.
 */
#ifndef TRIVANCE_ALGORITHMS_PORTS_H
#define TRIVANCE_ALGORITHMS_PORTS_H

#include <stddef.h>

#include <trivance/torus.h>

/* The number of ports of `parameters`, the text after the colon in a name; 0 if it is NULL. TRV_ERR_ARGUMENT unless it
 * is from 1 to twice the number of dimensions with more than one rank. `algorithm` is for the message. */
int trv_ports_read(const char *algorithm, const char *parameters, const trv_torus_t *torus);

/* Writes the full name (trv_algorithm_t.full_name). */
int trv_ports_full_name(const char *algorithm, const char *parameters, const trv_torus_t *torus, char *text,
                        size_t size);

#endif
