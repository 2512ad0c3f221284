/*
 * Internal declarations of the TCP bootstrap: its thread (thread.c), the protocol of rank 0, the server
 * (server.c), the protocol of the other ranks, the clients (client.c), and relays between them (relay.c).
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_INSIDE_H
#define TRIVANCE_BOOTSTRAP_TCP_INSIDE_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "bootstrap/tcp/link.h"
#include "bootstrap/tcp/bootstrap.h"
#include "bootstrap/tcp/interfaces.h"
#include "bootstrap/tcp/relay_message.h"
#include "bootstrap/tcp/splice.h"

enum { TRV_RANK_UNKNOWN = -1, TRV_RELAY_LISTENERS_MAX = 64 };
/* Number of connections of unauthenticated peers that are permitted in addition to one per rank */
enum { TRV_UNAUTHENTICATED_MORE = 64 };

/* A connection to a peer: of rank 0 to another rank, or of another rank to rank 0. */
typedef struct trv_connection {
    int fd;
    int rank; /* of the peer; TRV_RANK_UNKNOWN until it has sent HELLO */
    bool output_pending;
    bool leaving;                    /* BYE was received from the peer or sent to it */
    bool closing;                    /* the connection is shut down for writing once all output is written */
    int records;                     /* received from the peer */
    int error;                       /* errno with which the connection has failed; 0: it was closed */
    double since_ns;                 /* time at which the connection was created */
    char from[TRV_NUMERIC_MAX + 32]; /* address of the peer, and the rank that relays its connection */
    trv_link_t link;
    struct trv_connection *next; /* the next connection that has not authenticated itself */
} trv_connection_t;

typedef struct trv_payload {
    uint8_t *data;
    size_t bytes;
} trv_payload_t;

/* A socket at one of this host's addresses, at which a relay accepts connections of one peer. */
typedef struct trv_relay_listener {
    int fd; /* -1: not open */
    struct in_addr address, peer;
} trv_relay_listener_t;

/* State of a rank that searches for a relay, or that is one (relay.c). */
typedef struct trv_relay {
    /* Of a rank that does not reach rank 0 */
    bool searching;
    double query_ns; /* time of the next query */
    int query;       /* UDP socket; -1: not open */
    uint8_t nonce[TRV_NONCE_BYTES];
    bool found;                 /* an answer has arrived; the next three members are valid */
    int rank;                   /* of the relay; 0 if rank 0 itself has answered, or if this rank reaches it directly */
    struct sockaddr_in address; /* at which it accepts connections */
    struct sockaddr_in local;   /* of the interface of this host at which the answer has arrived */
    /* Of a connected rank */
    double answer_ns;   /* time of the next attempt to open `answer` */
    int answer;         /* UDP socket; -1: not open */
    bool answer_failed; /* it could not be opened */
    trv_relay_listener_t listener[TRV_RELAY_LISTENERS_MAX];
    trv_splices_t splices;
    double failed_ns; /* time of the failure, if there are splices; 0: none */
} trv_relay_t;

struct trv_bootstrap {
    trv_bootstrap_options_t options;
    char address[TRV_ADDRESSES_MAX], local[TRV_NUMERIC_MAX];
    int port;
    int listener, epoll, wake;
    pthread_t thread;
    bool threaded;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    bool stop;
    atomic_bool failed;
    char reason[TRV_REASON_MAX];
    bool failure_shared; /* the failure was sent to the connected peers, or was received from rank 0 */
    /* The failure that this process has reported (trv_bootstrap_report). It takes effect at failure_due_ns unless
     * another failure takes effect before. */
    char reported_failure[TRV_REASON_MAX];
    double failure_due_ns; /* 0: no failure was reported */
    bool failure_reported; /* other ranks: the report was sent to rank 0, which selects the sentence of the failure */
    /* Progress of the protocol: this rank has begun a step (joining, leaving), all ranks have completed it (gathered on
     * rank 0, joined, exchanged, all_left). */
    bool gathered, joining, joined, exchanged, leaving, all_left;
    int round, sent; /* exchanges begun by this rank; exchanges whose record or table it has sent */
    int connected, recorded,
        leaving_ranks;                 /* rank 0: number of ranks connected; with a record in this exchange; leaving */
    trv_payload_t welcome, *record[2]; /* records by rank, of the current and of the previous exchange */
    trv_payload_t *greeting;           /* rank 0: by rank */
    trv_writer_t table;                /* rank 0: content of TABLE */
    trv_connection_t **connection;     /* rank 0: connections by rank */
    trv_connection_t *unauthenticated; /* rank 0: connections of unauthenticated peers, newest first */
    int unauthenticated_count;
    trv_connection_t *to_rank_0; /* other ranks */
    double connect_ns;           /* earliest time of the next attempt to connect */
    int skipped;                 /* the next attempt skips that many addresses of rank 0, which were tried */
    char connect_error[400];     /* why the last attempt failed, a predicate whose subject is rank 0 */
    trv_relay_t relay;
    int *relay_rank;     /* rank 0: the rank that relays the connection of each rank; 0: none */
    int lost_rank;       /* rank 0: the rank whose loss is the reported failure; 0: none */
    bool local_is_final; /* rank 0: `local` is an address by which another host has connected */
    int refused_count;   /* number of unauthenticated peers: refused by rank 0, or not rank 0 (client.c) */
    bool accept_failed;  /* the last connection could not be accepted */
    double accept_ns;    /* no connection is accepted before this time; 0: accepting is not suspended */
};

/* thread.c: the caller holds the lock. */
void trv_bootstrap_fail_locked(trv_bootstrap_t *bootstrap, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Fails with the sentence of a frame FAIL. */
void trv_bootstrap_fail_frame(trv_bootstrap_t *bootstrap, const trv_frame_t *frame);
void trv_bootstrap_log(trv_bootstrap_t *bootstrap, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets the options of a connection's socket. */
void trv_connection_set_options(int fd);
trv_connection_t *trv_connection_create(trv_bootstrap_t *bootstrap, int fd, bool is_server);
void trv_connection_free(trv_bootstrap_t *bootstrap, trv_connection_t *connection);
/* Writes as much pending output as the socket accepts; false if the connection has failed. */
bool trv_connection_write(trv_bootstrap_t *bootstrap, trv_connection_t *connection);
bool trv_payload_set(trv_payload_t *payload, const void *data, size_t bytes);
/* True if a reported failure takes effect by now_ns. */
bool trv_bootstrap_failure_is_due(const trv_bootstrap_t *bootstrap, double now_ns);
/* The record of a rank in the current exchange. */
trv_payload_t *trv_bootstrap_payload(const trv_bootstrap_t *bootstrap, int rank);
/* Stores the records of a table; false if the table is malformed or memory is exhausted. */
bool trv_bootstrap_read_table(trv_bootstrap_t *bootstrap, const void *table, size_t bytes);

/* server.c: rank 0. */
int trv_server_listen(trv_bootstrap_t *bootstrap);
void trv_server_accept(trv_bootstrap_t *bootstrap);
/* Takes over the connection of an unauthenticated peer. */
void trv_server_take(trv_bootstrap_t *bootstrap, int fd, const struct sockaddr_storage *from);
void trv_server_frame(trv_bootstrap_t *bootstrap, trv_connection_t *connection, const trv_frame_t *frame);
/* Handles the end of a connection. wrong: the peer violated the protocol, and the last error describes how. */
void trv_server_closed(trv_bootstrap_t *bootstrap, trv_connection_t *connection, bool wrong);
/* Takes the steps of the protocol that are possible at this time. */
void trv_server_step(trv_bootstrap_t *bootstrap, double now_ns);
/* Describes the ranks that the current call waits for, as the continuation of a sentence. */
void trv_server_missing(const trv_bootstrap_t *bootstrap, char *text, size_t size);

/* client.c: true if a connection has failed with this errno because the host was not reached. */
bool trv_error_is_unreachable(int error);
/* client.c: the other ranks; the functions correspond to those of rank 0. */
void trv_client_frame(trv_bootstrap_t *bootstrap, const trv_frame_t *frame);
void trv_client_closed(trv_bootstrap_t *bootstrap, bool wrong);
void trv_client_step(trv_bootstrap_t *bootstrap, double now_ns);

/* relay.c: connections through other ranks. */
void trv_relay_begin(trv_relay_t *relay);
/* Sends a query if one is due, and begins or ends to answer queries. */
void trv_relay_step(trv_bootstrap_t *bootstrap, double now_ns);
/* Handles an event of the bootstrap's epoll; false if its source is not a socket of relays. */
bool trv_relay_event(trv_bootstrap_t *bootstrap, const void *source);
/* Describes through which interfaces no relay was found, as the continuation of a sentence. */
void trv_relay_missing(const trv_bootstrap_t *bootstrap, char *text, size_t size);
void trv_relay_end(trv_relay_t *relay);

#endif
