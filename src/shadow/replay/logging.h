/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Controls the log of a copy's path (translate/path_log.h) while the copy runs. Logging begins
 * before samples are armed. Whenever the log is full, the copy faults behind its end, and the log
 * is handed on. Logging pauses when its receiver has enough, and goes on when that wants more at a
 * match. It ends at a block that cannot log, or with the replay. Code with checks has to be made
 * anew whenever `is_on` has changed (matcher_arm_again).
 */
#ifndef SHADOW_REPLAY_LOGGING_H
#define SHADOW_REPLAY_LOGGING_H

#include "engine.h"

struct code_cache;

struct logging {
	struct code_cache *cache;
	const struct hp_engine_log *log;
	bool is_on;
	/* Where the log was at the pause. While it is there, the copy is in a block that logs. */
	uint64_t paused_at;
};

/* Sets the base of gs in `registers` so that it leads to the log. A program that uses gs itself is
 * not logged. */
void logging_begin(struct logging *logging, struct code_cache *cache,
		   const struct hp_engine_log *log, struct user_regs_struct *registers);
/* Called before the copy continues. */
void logging_check(struct logging *logging);
/* The copy has stopped with a fault. True: the log is full; the registers are set to continue. */
bool logging_go_on(struct logging *logging, pid_t pid, struct user_regs_struct *registers);
/* The sample has matched; `samples` make up the window. */
void logging_match(struct logging *logging, const struct user_regs_struct *registers, size_t sample,
		   size_t samples);
void logging_end(struct logging *logging);

#endif
