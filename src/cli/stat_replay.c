/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stat_replay.h"

#include <string.h>

void stat_replay_clear(struct stat_replay *replayed)
{
	hp_replay_destroy(replayed->replay);
	free(replayed->names);
	*replayed = (struct stat_replay){ NULL, NULL };
}

/* Finds an event by its symbol, its public name or its encoding: a text may have several of
 * these. */
static struct hp_error *find_event(struct hp_replay *replay, const struct hp_stack_event *event,
				   bool is_generic, size_t *number)
{
	const char *const names[] = { event->name, event->encoding, event->symbol };
	size_t count = is_generic ? 3 : 2;
	struct hp_error *error = NULL;

	*number = HP_REPLAY_NO_NAME;
	for (size_t i = 0; i < count && !error; i++) {
		size_t found = hp_replay_find(replay, names[i]);

		if (*number == HP_REPLAY_NO_NAME)
			*number = found;
		else if (found != HP_REPLAY_NO_NAME && found != *number)
			error = hp_replay_join(replay, *number, found);
	}
	return error;
}

static struct hp_error *name_stall_events(struct stat_replay *replayed,
					  const struct stat_stalls *stalls)
{
	const struct hp_stack_table *table = stalls->table;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < table->event_count && !error; i++)
		if (stalls->numbers[i] != HP_MUX_NO_EVENT)
			error = find_event(replayed->replay, &table->events[i], i < 2,
					   &replayed->names[stalls->numbers[i]]);
	return error;
}

struct hp_error *stat_replay_events(struct stat_replay *replayed, const char *path,
				    struct stat_stalls *stalls, struct hp_event_list *events)
{
	struct hp_error *error = hp_replay_create(path, &replayed->replay);

	if (!error && stalls)
		error = hp_error_wrap(stat_stalls_replayed(stalls, replayed->replay->core, events),
				      "%s", path);
	for (size_t i = 0; !error && !stalls && i < replayed->replay->name_count; i++)
		error = stat_add_replayed(events, replayed->replay->names[i], i, -1);
	if (error)
		return error;
	replayed->names = calloc(events->count + 1, sizeof(*replayed->names));
	if (!replayed->names)
		return hp_error_create_no_memory();
	if (stalls)
		return hp_error_wrap(name_stall_events(replayed, stalls), "%s", path);
	for (size_t i = 0; i < events->count; i++)
		replayed->names[i] = i;
	return NULL;
}
