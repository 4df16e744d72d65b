/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replays of a few bytes of code in a puppet, whose system calls the test answers. */
#ifndef TESTS_SHADOW_REPLAYS_H
#define TESTS_SHADOW_REPLAYS_H

#include "states.h"

/* What the handler does with the calls of one replay. */
struct script {
	struct puppet *puppet;
	/* NULL: no call is handled. */
	struct hp_engine_call (*answer)(struct script *script, pid_t pid,
					const struct user_regs_struct *registers);
	uint64_t calls;
};

struct bench {
	struct puppet puppet;
	struct puppet_state state; /* where each replay begins */
	struct hp_engine_limits limits;
	struct script script;
	struct hp_replay replay; /* the latest */
};

extern struct bench bench;

/* For SETUP; what it makes goes away when the test ends. */
void start_replays(void);
/* With a puppet anew. */
void restart_replays(void);

/* Replays `code` (NULL: what is there) from its beginning, with these samples to match. */
void run(const char *code, size_t bytes, const struct hp_engine_sample *samples, size_t count);
#define RUN(code) run(code, sizeof(code) - 1, NULL, 0)

void assert_end(enum hp_window_end end, uint64_t at);

#endif
