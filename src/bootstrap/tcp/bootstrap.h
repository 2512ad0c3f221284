/*
 * Bootstrap of a job over TCP: every rank connects to rank 0, which broadcasts data to all ranks, and later gathers a
 * record from each rank and distributes all records to all ranks. The connections stay open until the end of the job.
 * They report the death of a rank at once, because the operating system closes the connections of a process that dies.
 *
 * A thread in each process drives the connections; the functions below wait for its results. Rank 0 has one connection
 * to each other rank, the others have only that connection, and rank 0 stops listening when all ranks are connected.
 * Ranks that do not reach rank 0 are connected through ranks that do (relay.c).
 * For 1,000 ranks, rank 0 needs well below a second of processor time.
 *
 * A bootstrap *fails* on all ranks, permanently, and with the same sentence. Rank 0 selects the sentence, so that all
 * ranks report the same reason even if several ranks fail at the same time. If a rank dies that relays connections, the
 * ranks behind it report only that they have lost their connection to rank 0.
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_BOOTSTRAP_H
#define TRIVANCE_BOOTSTRAP_TCP_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"
#include "bootstrap/tcp/sha256.h"

enum {
    TRV_RECORD_BYTES_MAX = 1 << 14,
    TRV_WELCOME_BYTES_MAX = 1 << 22,
    TRV_GREETING_BYTES_MAX = 900,
    TRV_ADDRESSES_MAX = 512
};

typedef struct trv_bootstrap trv_bootstrap_t;

typedef struct trv_bootstrap_options {
    int rank, ranks;
    const char *address;    /* of rank 0: a host name or a numeric address; or all addresses of its host, separated by
                               commas (trv_host_addresses), which the other ranks try in turn until rank 0 answers */
    int port;               /* of rank 0; there 0 selects a free port */
    bool listen_everywhere; /* rank 0 listens on all addresses of its host, not only on `address`; also if its host
                               resolves that name to a loopback address for its own name, such as 127.0.1.1 */
    uint8_t secret[TRV_SHA256_BYTES];
    bool relays; /* connected ranks relay the connections of ranks that do not reach rank 0 (relay.c); only if other
                    processes do not know the secret */
    double timeout_ns; /* for each call below */
    const void
        *greeting; /* sent to rank 0 when this rank connects; must be valid until trv_bootstrap_join has returned */
    size_t greeting_bytes; /* at most TRV_GREETING_BYTES_MAX */
    void (*log)(void *context, const char *sentence);
    void (*failed)(void *context); /* called once when the bootstrap fails, by the thread that detects the failure */
    void *context;
} trv_bootstrap_options_t;

/* Creates the bootstrap and starts its thread. Rank 0 listens when the function returns; the other ranks connect in
 * trv_bootstrap_join. */
int trv_bootstrap_open(trv_bootstrap_t **bootstrap, const trv_bootstrap_options_t *options);
/* The port on which rank 0 listens. */
int trv_bootstrap_port(const trv_bootstrap_t *bootstrap);

/* Only rank 0 may call it, before trv_bootstrap_join: returns when all ranks are connected, so that `welcome` can
 * depend on their greetings. */
int trv_bootstrap_gather(trv_bootstrap_t *bootstrap);
/* The greeting of another rank, which the bootstrap owns; NULL and 0 bytes if it has sent none. */
const void *trv_bootstrap_greeting(const trv_bootstrap_t *bootstrap, int rank, size_t *bytes);

/* Returns when all ranks are connected and have received `welcome`, which rank 0 broadcasts; the other ranks' argument
 * is ignored. trv_bootstrap_welcome returns the data, which the bootstrap owns. */
int trv_bootstrap_join(trv_bootstrap_t *bootstrap, const void *welcome, size_t bytes);
const void *trv_bootstrap_welcome(const trv_bootstrap_t *bootstrap, size_t *bytes);
/* The numeric local address of this rank's connection to rank 0 or to its relay, such as "10.0.0.3"; on rank 0, the
 * address on which it listens. */
const char *trv_bootstrap_local(const trv_bootstrap_t *bootstrap);
/* The rank that relays this rank's connection to rank 0; 0 if none does. */
int trv_bootstrap_relay(const trv_bootstrap_t *bootstrap);
/* Allgather of one record per rank: returns when the records of all ranks are available by trv_bootstrap_record. The
 * bootstrap owns the records, which are valid until the next call. Collective. */
int trv_bootstrap_exchange(trv_bootstrap_t *bootstrap, const void *record, size_t bytes);
const void *trv_bootstrap_record(const trv_bootstrap_t *bootstrap, int rank, size_t *bytes);

/* TRV_OK; or TRV_ERR_TRANSPORT if the bootstrap has failed, with the reason as the last error. */
int trv_bootstrap_state(const trv_bootstrap_t *bootstrap);
bool trv_bootstrap_has_failed(const trv_bootstrap_t *bootstrap);
/* Makes the bootstrap fail on all ranks. Returns when it has failed, possibly with the sentence of another failure. */
void trv_bootstrap_fail(trv_bootstrap_t *bootstrap, const char *sentence);
/* Does the same without waiting. consequence: this failure is likely to be the consequence of another one, and takes
 * effect only if no other one does within a short time. */
void trv_bootstrap_report(trv_bootstrap_t *bootstrap, const char *sentence, bool consequence);
/* Returns when all ranks have called it; until then calls `meanwhile` (if not NULL) repeatedly. */
int trv_bootstrap_leave(trv_bootstrap_t *bootstrap, void (*meanwhile)(void *context), void *context);
/* Closes the connections and frees the bootstrap. Unless it has failed, trv_bootstrap_leave must be called before;
 * otherwise the other ranks regard this rank as dead. */
void trv_bootstrap_close(trv_bootstrap_t *bootstrap);

#endif
