/*
 * Declarations that all public headers share: visibility, version, error codes and the text of the last error.
 *
 * Stability: stable.
 */
#ifndef TRIVANCE_COMMON_H
#define TRIVANCE_COMMON_H

#include <stdbool.h>

#if defined(__GNUC__)
#define TRV_API __attribute__((visibility("default")))
#else
#define TRV_API
#endif

#define TRV_VERSION_MAJOR 0
#define TRV_VERSION_MINOR 3
#define TRV_VERSION_PATCH 0
#define TRV_VERSION       "0.3.0"

/* The initializers of structs that may grow, such as {TRV_VERDICT}, which set the member `size` and defaults. In C and
 * since C++20 the values of other members may follow: {TRV_NET_OPTIONS, .ranks = 4}. */
#if !defined(__cplusplus) || defined(__cpp_designated_initializers)
#define TRV_MEMBER(name)          .name
#define TRV_SIZED(type)           .size = sizeof(type)
#define TRV_SIZED_WITH(type, ...) .size = sizeof(type), __VA_ARGS__
#else
extern "C++" template <typename type> struct trv_sized : type {
    trv_sized() : type() { this->size = sizeof(type); }
    operator decltype(sizeof 0)() const { return this->size; } /* if values follow nevertheless, as g++ permits */
};
#define TRV_MEMBER(name) made.name
#define TRV_SIZED(type)  trv_sized<type>()
#define TRV_SIZED_WITH(type, ...)                                                                                      \
    [] {                                                                                                               \
        type made = trv_sized<type>();                                                                                 \
        __VA_ARGS__;                                                                                                   \
        return made;                                                                                                   \
    }()
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Every function that can fail returns 0 or one of these negative codes. */
enum {
    TRV_OK = 0,
    TRV_ERR_ARGUMENT = -1,    /* a value that is never valid */
    TRV_ERR_UNSUPPORTED = -2, /* valid in itself, but not supported: a size, a type, an operation */
    TRV_ERR_MEMORY = -3,      /* out of memory */
    TRV_ERR_TRANSPORT = -4,   /* the transport (for example MPI) reported a failure */
    TRV_ERR_INVALID = -5,     /* a schedule that violates its claims, or ranks that disagree */
    TRV_ERR_STATE = -6,       /* an object in the wrong state: running, failed, or already started */
    TRV_ERR_CANCELLED = -7    /* a progress callback returned something other than 0 */
};

/* The reason for this thread's last failure as one sentence: what was wrong, what is allowed. Never NULL; valid until
 * the thread's next failing call. */
TRV_API const char *trv_last_error(void);

/* "0.3.0": the version of the library at run time. */
TRV_API const char *trv_version(void);

#ifdef __cplusplus
}
#endif
#endif
