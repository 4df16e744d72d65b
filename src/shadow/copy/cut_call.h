/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that returned early because their thread was told to stop.
 *
 * The kernel ends a call for a stop as it does for a signal. Most calls it then makes again by itself.
 * Others return EINTR, or, if they have done a part of their work, how much: a write to a pipe, a read of
 * /dev/zero, getrandom(2). Programs that no signal reaches need not expect either. So such a call is made
 * again for the rest, and returns what it would have returned without the stop. Of a call with several
 * pieces each is written by a call of its own, unless a filter of system calls might forbid that.
 *
 * If hpcprof is killed while the rest is done, the program is told the length of the last part. So the
 * time for that is limited (CUT_PATIENCE_NS); what is not done by then is left to the program.
 */
#ifndef SHADOW_COPY_CUT_CALL_H
#define SHADOW_COPY_CUT_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct cut_call {
	unsigned long signal; /* came meanwhile, and is to be delivered; 0: none */
	uint64_t ran_ns;      /* for which the thread was not held */
};

/* Whether a call that has this result is made again by the kernel, or returns EINTR: a signal came, or
 * a stop. */
bool cut_call_is_restarted(int64_t result);
/* For a thread that was stopped in a call. Afterwards it is stopped behind the call, or in front of it if
 * it is to be made again; or it has ended. True: the stop has not cut the call short, `registers` are
 * those behind it, and nothing was changed. */
bool cut_call_mend(pid_t tid, const struct user_regs_struct *registers, struct cut_call *cut);

#endif
