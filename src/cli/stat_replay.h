/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof stat --replay: reads the counts of events from a text. */
#ifndef HPCPROF_CLI_STAT_REPLAY_H
#define HPCPROF_CLI_STAT_REPLAY_H

#include "stat_stalls.h"

#include <hpcprof/count/replay.h>

struct stat_replay {
	struct hp_replay *replay; /* NULL: hardware counters are used */
	size_t *names;		  /* per event of the list: its number in the replay */
};
void stat_replay_clear(struct stat_replay *replayed);

/* Adds all events of the text, or with `stalls` those of its core's stack. */
struct hp_error *stat_replay_events(struct stat_replay *replayed, const char *path,
				    struct stat_stalls *stalls, struct hp_event_list *events);

#endif
