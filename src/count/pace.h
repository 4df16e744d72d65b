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
	uint64_t begin_ns; /* by the clock */
	uint64_t ran_ns;   /* how long the target had run then, all threads together */
	uint64_t length_ns;
	uint64_t due_ns; /* by the clock: when it is over, or to be looked at; UINT64_MAX: never */
};

void pace_begin(struct pace *pace, uint64_t now_ns, uint64_t ran_ns, uint64_t length_ns);

/* Now that it is due, is it over? Or else `due_ns` is when to look again: when it may be at the
 * earliest, and ever more rarely while the target sleeps: after an eighth of what it has taken. */
bool pace_is_over(struct pace *pace, uint64_t now_ns, uint64_t ran_ns);

#endif
