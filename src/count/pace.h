/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a slice ends. Its length is time that the target runs. While the target waits for a CPU no
 * events happen; if groups took turns meanwhile, some would miss the beginning of the run, which
 * the short first slices are for. So a slice that has lasted long enough by the clock, but not for
 * the target, continues, for at most pace_patience_ns.
 */
#ifndef COUNT_PACE_H
#define COUNT_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
	uint64_t begin_ns; /* in wall time */
	uint64_t ran_ns;   /* how long all threads of the target together had run by then */
	uint64_t length_ns;
	uint64_t due_ns; /* wall time when it is over or to be checked again; UINT64_MAX: never */
};

void pace_begin(struct pace *pace, uint64_t now_ns, uint64_t ran_ns, uint64_t length_ns);

/* Whether the slice, which is due, is over. If not, sets `due_ns` to the next check: the earliest
 * time at which it may be over, but while the target sleeps less and less often, after an eighth of
 * the time that has passed. */
bool pace_is_over(struct pace *pace, uint64_t now_ns, uint64_t ran_ns);

#endif
