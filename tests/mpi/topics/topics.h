/*
 * The topics of the program test_topics, one per file. All ranks of the communicator test_comm (harness.h) call a
 * topic. A topic must not change test_comm and must receive all messages on it, because other topics follow in the same
 * job.
 */
#ifndef TRIVANCE_TESTS_MPI_TOPICS_H
#define TRIVANCE_TESTS_MPI_TOPICS_H

#include <stdbool.h>

void topic_check(void); /* the job has TRIVANCE_CHECK=1 */
void topic_collectives(void);
void topic_errors(void);
void topic_node(void);
void topic_operations(void);
void topic_plans(void);
void topic_requests(void);
void topic_rooted(void);
void topic_schedules(void);
void topic_transport(void);
void topic_types(void);

/* Makes calloc return NULL on this rank (node.c). */
extern bool test_calloc_fails;

/* The parts of the topics `errors` and `rooted` that run before MPI_Init. */
void errors_before_init(void);
void rooted_before_init(void);

#endif
