/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of ours that stands for a shadow: stopped, traced, with a page of code that the test
 * writes, and memory that both see. Code runs in it natively, or through the engine, from any
 * state.
 */
#ifndef HPCPROF_TESTS_SHADOW_PUPPET_H
#define HPCPROF_TESTS_SHADOW_PUPPET_H

#include "../../src/shadow/replay/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum {
	PUPPET_CODE_BYTES = 1 << 16,
	PUPPET_DATA_BYTES = 1 << 16,
	PUPPET_STATE_BYTES = 1 << 14, /* of the vector registers and all that */
};
/* In the puppet, where sanitizers have nothing. */
#define PUPPET_CODE 0x200000000000U
#define PUPPET_DATA 0x200000100000U
/* A system call at the end of the code, which is never replayed. */
#define PUPPET_CALL (PUPPET_CODE + PUPPET_CODE_BYTES - 8)

/* Why there can be none, for HP_TEST_MAIN_UNLESS. */
#define PUPPET_REASON (HP_TEST_UNDER_TSAN ? "ThreadSanitizer leaves no room for a puppet" : NULL)

struct puppet_state {
	struct user_regs_struct registers;
	uint8_t extended[PUPPET_STATE_BYTES]; /* as ptrace gives it (NT_X86_XSTATE) */
	size_t extended_bytes;
	uint8_t data[PUPPET_DATA_BYTES];
};

struct puppet {
	pid_t pid;
	int code_fd;
	bool is_changed; /* the code, since the engine has looked */
	uint8_t *data;	 /* here; in the puppet at PUPPET_DATA */
	struct hp_engine *engine;
	struct puppet_state *fresh;	 /* as it was born, with zeroed data */
	const struct hp_engine_log *log; /* of replays; NULL */
};

/* The cache goes near `near`, or where the engine wants it (0). */
void puppet_create(struct puppet *puppet, uint64_t near);
void puppet_destroy(struct puppet *puppet);

/* What is at PUPPET_CODE from now on; the rest are traps (int3). */
void puppet_set_code(struct puppet *puppet, const uint8_t *code, size_t bytes);

/* Makes the system call in a stopped process that is traced, at any of its system-call instructions
 * (`at`), and sets its registers back. */
int64_t inject_call(pid_t pid, uint64_t at, long number, const uint64_t arguments[6]);
/* Maps the engine's cache. `fd` is the process's number for the engine's descriptor. */
void inject_mappings(pid_t pid, uint64_t at, int fd, const struct hp_engine_mapping *mappings,
		     size_t count);

/* Lets the engine look at it again; and gives it this state, after that if the code has changed. */
void puppet_prepare(struct puppet *puppet);
void puppet_put(struct puppet *puppet, struct puppet_state *state);

/* Both start from the state's registers, vectors and data, and replace them by what there is when a
 * trap or a fault stops it. They return the signal; `rip` is then of the instruction that stopped
 * it, in the engine's case too. */
int puppet_run_native(struct puppet *puppet, struct puppet_state *state);
/* One instruction (of a repeated one, one element) natively, on from where it is; its registers are
 * set. False: a fault. */
bool puppet_step(struct puppet *puppet, struct puppet_state *state);
int puppet_run_engine(struct puppet *puppet, struct puppet_state *state, enum hp_window_end *end);

#endif
