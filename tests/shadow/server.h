/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A server and its client: what the server does for a request follows from its bytes. */
#ifndef HPCPROF_TESTS_SHADOW_SERVER_H
#define HPCPROF_TESTS_SHADOW_SERVER_H

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

enum { SERVER_BYTES = 16, SERVER_READ = SYS_read };

enum server_kind {
	SERVER_OF_SOCKETS,
	SERVER_OF_PIPES,
	SERVER_WITHOUT_FORKS, /* gives memory MADV_DONTFORK with each request */
	SERVER_WITH_SECRETS,  /* the same, of locked memory */
};

struct server {
	pid_t pid, client;
};

void server_start(struct server *server, enum server_kind kind);
/* Fails unless all answers were right, some of them after this was called. */
void server_end(struct server *server);

/* How often a request has the server run the code at that address. */
uint64_t server_rounds(const uint8_t *request);
const void *server_round_code(void);

#endif
