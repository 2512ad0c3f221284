/*
 * Messages per port: how many messages of a stream a rank sends or receives in a step, divided by the number of its
 * ports. By which of its ports they leave and arrive does not matter.
 */
#ifndef TRIVANCE_SCHEDULE_PER_PORT_H
#define TRIVANCE_SCHEDULE_PER_PORT_H

#include <trivance/torus.h>

/* This number of messages per port, rounded up. */
int trv_messages_per_port(const trv_torus_t *torus, int messages);

#endif
