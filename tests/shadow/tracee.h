/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program under ptrace: stopped at its own SIGSTOP, copied, stepped, or replayed. */
#ifndef HPCPROF_TESTS_SHADOW_TRACEE_H
#define HPCPROF_TESTS_SHADOW_TRACEE_H

#include "puppet.h"

#include <stdio.h>

enum { TRACEE_STACK = 512 };

struct tracee {
	pid_t pid;
	uint64_t call_at; /* a system-call instruction of it */
	FILE *output;	  /* what it prints goes here */
};

/* Runs `$top_builddir/tests/shadow/NAME` up to where it stops itself. */
void tracee_start(struct tracee *tracee, const char *name);
/* The same, with its address space laid out at random, and with a library more unless it is
 * NULL. */
void tracee_start_anywhere(struct tracee *tracee, const char *name, const char *preload);
/* Another process in the same state, stopped and traced too. */
void tracee_copy(const struct tracee *tracee, struct tracee *copy);
/* A copy is killed; the one that was started closes its output too. */
void tracee_kill(struct tracee *tracee);

void tracee_registers(const struct tracee *tracee, struct user_regs_struct *registers);
/* A sample of its state now. The stack is written to `stack`. */
struct hp_engine_sample tracee_sample(const struct tracee *tracee, uint8_t stack[TRACEE_STACK]);
/* One instruction on; false: it has ended (status in *status). */
bool tracee_step(const struct tracee *tracee, int *status);
/* To its end; its wait status. */
int tracee_finish(const struct tracee *tracee);
/* What has been printed since the last time; malloc'ed. */
char *tracee_take_output(const struct tracee *tracee);

/* Maps the engine's cache in it. */
void tracee_map(const struct tracee *tracee, struct hp_engine *engine);
/* A handler that lets it make all calls but exit_group. `context` is the tracee. */
struct hp_engine_call tracee_make_call(void *context, pid_t pid,
				       const struct user_regs_struct *registers);

#endif
