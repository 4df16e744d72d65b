/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that make life hard for whoever records their system calls. */
#ifndef HPCPROF_TESTS_SHADOW_HOSTILE_H
#define HPCPROF_TESTS_SHADOW_HOSTILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum hostile_kind {
	HOSTILE_PIECES, /* arrays of pieces that overlap each other and themselves, huge lengths */
	HOSTILE_UNMAPPED, /* another thread unmaps the buffers */
	HOSTILE_SIGNALS,  /* a storm of signals, each of which has to arrive */
	HOSTILE_EXEC,	  /* becomes another program in the midst of it */
	HOSTILE_BLOCKED,  /* waits in a call that signals end; none comes */
	HOSTILE_STOPPED,  /* is stopped and continued */
	HOSTILE_KINDS,
};

struct hostile {
	pid_t pid;
	pid_t helper; /* 0: none */
	void *shared;
	volatile uint64_t *rounds;
};

void hostile_start(struct hostile *hostile, enum hostile_kind kind);
/* Fails unless it has come to no harm, goes on, and nobody traces it any more. */
void hostile_end(struct hostile *hostile);

#endif
