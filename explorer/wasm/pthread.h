/*
 * Threads for WebAssembly in a browser, where wasi-libc has no pthread.h. There is only one thread: locks do nothing,
 * and creating a thread fails, so the caller does the work itself.
 */
#ifndef TRIVANCE_EXPLORE_WASM_PTHREAD_H
#define TRIVANCE_EXPLORE_WASM_PTHREAD_H

#include <errno.h>
#include <time.h>

typedef int pthread_t, pthread_mutex_t, pthread_cond_t, pthread_attr_t, pthread_condattr_t;

#define PTHREAD_MUTEX_INITIALIZER 0

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *attribute)
{
    (void)attribute;
    return *mutex = 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex) { return *mutex; }
static inline int pthread_mutex_lock(pthread_mutex_t *mutex) { return *mutex; }
static inline int pthread_mutex_unlock(pthread_mutex_t *mutex) { return *mutex; }

static inline int pthread_condattr_init(pthread_condattr_t *attribute) { return *attribute = 0; }
static inline int pthread_condattr_destroy(pthread_condattr_t *attribute) { return *attribute; }
static inline int pthread_cond_destroy(pthread_cond_t *condition) { return *condition; }
static inline int pthread_cond_signal(pthread_cond_t *condition) { return *condition; }

static inline int pthread_condattr_setclock(pthread_condattr_t *attribute, clockid_t clock)
{
    (void)clock;
    return *attribute;
}

static inline int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attribute)
{
    (void)attribute;
    return *condition = 0;
}

static inline int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                         const struct timespec *until)
{
    (void)condition, (void)mutex, (void)until;
    return ETIMEDOUT;
}

static inline int pthread_create(pthread_t *thread, const pthread_attr_t *attribute, void *(*run)(void *),
                                 void *context)
{
    (void)thread, (void)attribute, (void)run, (void)context;
    return EAGAIN;
}

static inline int pthread_join(pthread_t thread, void **result)
{
    (void)result;
    return (int)thread;
}

#endif
