/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much time a program would take on another core, from the cores (lanes, model/lanes.h) on
 * which its path was timed:
 *
 *	PART:perfect	such a core was timed: the gain is the difference, plus or minus the error of
 *			the timing and what was not predicted
 *	memory:FACTORx	between the core as it is and one without misses of the second level. A run
 *			takes as long as the longest of its chains of waits, and each chain is linear
 *			in the latency: so time is convex in it. With a shorter latency at least the
 *			proportional part is gained, with a longer one at least that part is lost; and
 *			at most each miss costs its whole difference
 *	PART:SIZE	the path's time on a core with these sizes, if it was recorded with one
 *			(record --what-if). Otherwise, for a larger size: between no gain and that of
 *			a perfect one
 */
#ifndef HPCPROF_ANALYZE_WHAT_IF_H
#define HPCPROF_ANALYZE_WHAT_IF_H

#include <hpcprof/analyze/cpi_stack.h>

#include <hpcprof/base/error.h>
#include <hpcprof/uarch/resize.h>

enum { HP_MOST_CHANGES = 8 };

struct hp_what_change {
	char text[32];	     /* as requested */
	uint32_t components; /* the stack's components that change; bits */
	double factor;	     /* factor of the latency; 0: no change of the latency */
	bool is_size;	     /* and which, */
	struct hp_resize size;
};

struct hp_what_if {
	struct hp_what_change changes[HP_MOST_CHANGES];
	size_t count;
	struct hp_resizes sizes; /* of all changes that are of a size */
};

/* Parses a list of changes. USAGE if it is unknown. */
struct hp_error *hp_what_if_parse(const char *text, struct hp_what_if *what_if);
/* INSUFFICIENT for sizes that were not recorded and are not larger than those of the core. */
struct hp_error *hp_what_if_check(const struct hp_what_if *what_if, const struct hp_core *core,
				  bool has_resized);

/* Cycles saved; less than 0: lost. */
struct hp_what_gain {
	double low;
	double likely; /* NAN unknown */
	double high;
};

/* requires: prediction->measured > 0 */
struct hp_what_gain hp_what_change_gain(const struct hp_what_change *change,
					const struct hp_core *core,
					const struct hp_prediction *prediction);
/* Returns the gain of all changes together. */
struct hp_what_gain hp_what_if_gain(const struct hp_what_if *what_if, const struct hp_core *core,
				    const struct hp_prediction *prediction);

/* Widens the range to contain another one of the same gain. */
void hp_what_gain_widen(struct hp_what_gain *gain, const struct hp_what_gain *other);
void hp_what_gain_add(struct hp_what_gain *into, const struct hp_what_gain *more);
/* Returns the limits of the gain (and loss) for time without a prediction, as shares of that
 * time. */
struct hp_what_gain hp_what_if_unknown(const struct hp_what_change *changes, size_t count);

#endif
