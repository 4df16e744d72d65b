/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "suggest.h"

#include "names.h"
#include "text.h"

#include <hpcprof/base/text.h>

#include <stdio.h>
#include <string.h>

enum { MOST_SUGGESTIONS = 3, LONGEST_SUGGESTION = 64 };

struct search {
	const char *wanted;
	size_t best; /* distance of what is in `names` */
	char names[MOST_SUGGESTIONS][LONGEST_SUGGESTION + 1];
	size_t count;
};

static void consider(struct search *search, const char *name)
{
	size_t distance = hp_text_distance(search->wanted, name, search->best);

	if (distance > search->best || strlen(name) > LONGEST_SUGGESTION)
		return;
	if (distance < search->best)
		search->count = 0;
	search->best = distance;
	if (search->count == MOST_SUGGESTIONS)
		return;
	for (size_t i = 0; i < search->count; i++)
		if (!strcmp(search->names[i], name))
			return;
	snprintf(search->names[search->count++], LONGEST_SUGGESTION + 1, "%s", name);
}

static void consider_aliases(struct search *search)
{
	for (size_t i = 0; i < hp_event_name_count; i++) {
		const char *at = hp_event_names[i].aliases;

		while (*at) {
			size_t length = strcspn(at, " ");
			char alias[LONGEST_SUGGESTION];

			snprintf(alias, sizeof(alias), "%.*s", (int)length, at);
			consider(search, alias);
			at += length + (at[length] == ' ');
		}
	}
}

static bool consider_entry(const struct hp_event_entry *entry, void *context)
{
	consider(context, entry->name);
	return true;
}

char *hp_suggest_events(const struct hp_machine *machine, const char *name)
{
	/* A third of the letters wrong is another word. */
	struct search search = { .wanted = name, .best = strlen(name) / 3 };
	char *text;

	consider_aliases(&search);
	hp_error_destroy(hp_event_enumerate(machine, consider_entry, &search));
	if (!search.count)
		return NULL;
	if (asprintf(&text, "%s%s%s%s%s", hp_pmu_show_string(search.names[0]).text,
		     search.count > 2	? ", "
		     : search.count > 1 ? " or "
					: "",
		     search.count > 1 ? search.names[1] : "", search.count > 2 ? " or " : "",
		     search.count > 2 ? search.names[2] : "") < 0)
		return NULL;
	return text;
}
