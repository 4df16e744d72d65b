/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replays counts: counts from a text go through the groups, the scheduler and the estimators that
 * live counts go through.
 *
 * The text (hpcprof-stat(1) describes it for users):
 *
 *	hpcprof-counts 1
 *	# anything
 *	core zen-4		the core that was counted, as events of stacks know it; optional
 *	slice 0 0.5		a slice, from and to, in seconds; without them it follows the last,
 *				and is as long as its cycles are at 1 GHz
 *	1,234 EVENT		what it counted; commas between digits are ignored
 *
 * If every slice has every event, the counts are complete: with `counters`, groups take turns as
 * they would have with so many counters, and all other counts are ignored. Otherwise a slice is the
 * turn of one group, which consists of the events in the slice. An event in all slices was counted
 * all the time.
 *
 * The text is not trusted: its size is bounded, and an error names the line.
 */
#ifndef HPCPROF_COUNT_REPLAY_H
#define HPCPROF_COUNT_REPLAY_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/count/counting.h>

struct hp_replay {
	char *core;    /* NULL: the text does not say */
	char **names;  /* of events, in the order of the text */
	size_t *turns; /* per name: slices that have it */
	size_t name_count;
	struct hp_replay_slice *slices;
	size_t slice_count;
	uint64_t *counts; /* [slice][name]; HP_REPLAY_NOT_COUNTED */
};

struct hp_replay_slice {
	uint64_t begin_ns, end_ns; /* both 0: not in the text; hp_replay_group sets them */
};

#define HP_REPLAY_NOT_COUNTED UINT64_MAX
#define HP_REPLAY_NO_NAME     SIZE_MAX

/* Reads the text. DAMAGED if it has another format. */
struct hp_error *hp_replay_create(const char *path, struct hp_replay **replay);
void hp_replay_destroy(struct hp_replay *replay);
HP_DEFINE_CLEANUP(struct hp_replay, hp_replay_destroy);

/* Finds a name, ignoring case; HP_REPLAY_NO_NAME if there is none. */
size_t hp_replay_find(const struct hp_replay *replay, const char *name);
/* Joins two names of one event: the first gets the counts of both, the second has none. DAMAGED if
 * a slice has both. */
struct hp_error *hp_replay_join(struct hp_replay *replay, size_t into, size_t from);

/* The rotation sets of these events: `names[i]` is the number of event i's name. Events without
 * counts become `absent`. */
struct hp_error *hp_replay_group(struct hp_replay *replay, const size_t *names,
				 struct hp_event_list *events, const struct hp_machine *machine,
				 const struct hp_grouping_options *options,
				 struct hp_rotation_sets *rotation_sets);

/* Reports like hp_counting_run. Uses the events, rotation sets, policy, method, seed, interval and
 * callbacks of `options`. */
struct hp_error *hp_replay_run(const struct hp_replay *replay, const size_t *names,
			       const struct hp_counting_options *options);

#endif
