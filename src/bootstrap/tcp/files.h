/*
 * File descriptors that a child of fork() must not keep. As long as any process holds a copy of a connection, the peers
 * cannot detect that its owner has died. Therefore a child closes the descriptors at once, and exec closes them.
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_FILES_H
#define TRIVANCE_BOOTSTRAP_TCP_FILES_H

#include <sys/socket.h>

/* Like the system calls of these names, but non-blocking; return -1 and set errno on error. */
int trv_file_socket(int family, int type);
int trv_file_accept(int listener, struct sockaddr_storage *from, socklen_t *length);
int trv_file_epoll(void);
int trv_file_event(void);
void trv_file_close(int file);
/* Raises the limit on open files to what two connections per rank and the rest of the process need. */
void trv_file_limit_raise(int ranks);

#endif
