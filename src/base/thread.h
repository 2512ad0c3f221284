/*
 * Threads of the libraries, which handle no signals: these are to be delivered to the program's own threads.
 */
#ifndef TRIVANCE_BASE_THREAD_H
#define TRIVANCE_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/error.h"

/* Creates a thread. Returns TRV_OK or TRV_ERR_MEMORY. */
static inline int trv_thread_create(pthread_t *thread, void *(*run)(void *context), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const int error = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? TRV_OK : trv_fail(TRV_ERR_MEMORY, "the system cannot create a thread: %s", strerror(error));
}

#endif
