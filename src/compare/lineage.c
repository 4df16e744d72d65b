/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lineage.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <string.h>

/* --- which epochs ---------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool is_same_command(const struct hp_epoch_meta *a, const struct hp_epoch_meta *b)
{
	size_t i = 0;

	if (!a->command_line || !b->command_line)
		return !a->command_line && !b->command_line && is_same(a->target, b->target);
	while (is_same(a->command_line[i], b->command_line[i]))
		i++;
	return !a->command_line[i] && !b->command_line[i];
}

static double period_of(const struct hp_event_totals *event)
{
	return (double)event->period_total / (double)event->samples;
}

/* Sampled with the same frequency, or the same period. */
static bool is_same_event(const struct hp_event_totals *a, const struct hp_event_totals *b)
{
	if (!a->samples || !b->samples || a->info.unit != b->info.unit ||
	    !is_same(a->info.name, b->info.name))
		return false;
	if (a->frequency_hz > 0 || b->frequency_hz > 0)
		return fabs(a->frequency_hz - b->frequency_hz) < same_rate * a->frequency_hz;
	return fabs(period_of(a) - period_of(b)) < same_rate * period_of(a);
}

static bool is_lineage(const struct hp_epoch_meta *meta, const struct replicate *replicate)
{
	const struct hp_epoch_meta *of = replicate->meta;
	bool is_event = false;

	if (!is_same(meta->host, of->host) || !is_same(meta->cpu_model, of->cpu_model) ||
	    meta->start_ns >= of->start_ns)
		return false;
	if (!is_same(meta->label, of->label) && !(of->command_line && is_same_command(meta, of)))
		return false;
	for (size_t i = 0; i < meta->event_count; i++)
		is_event = is_event ||
			   is_same_event(&meta->events[i], &of->events[replicate->event]);
	return is_event;
}

struct wanted {
	struct hp_db *db;
	char *stamp; /* owned */
	uint64_t start_ns;
};

struct search {
	const struct sides *sides;
	const struct hp_compare_epochs *compared;
	HP_VECTOR(struct wanted) wanted;
};

static bool is_compared(const struct search *search, const char *stamp)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < search->compared[side].count; i++)
			if (strcmp(stamp, search->compared[side].stamps[i]) == 0)
				return true;
	return false;
}

static bool is_wanted(const struct search *search, const struct hp_epoch_summary *summary)
{
	bool is_of_any = false;

	if (summary->problem || summary->recording || !summary->meta.complete ||
	    is_compared(search, summary->stamp))
		return false;
	for (size_t side = 0; side < HP_SIDES; side++)
		is_of_any = is_of_any ||
			    is_lineage(&summary->meta, &search->sides->at[side].replicates.at[0]);
	return is_of_any;
}

static struct hp_error *search_in(struct search *search, struct hp_db *db)
{
	struct hp_epoch_summary *list;
	size_t count;
	struct hp_error *error = hp_db_list(db, &list, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++) {
		struct wanted wanted = { .db = db, .start_ns = list[i].meta.start_ns };

		if (!is_wanted(search, &list[i]))
			continue;
		wanted.stamp = strdup(list[i].stamp);
		if (!wanted.stamp || !hp_vector_push(&search->wanted, wanted)) {
			free(wanted.stamp);
			error = hp_error_create_no_memory();
		}
	}
	hp_db_free_list(list, count);
	return error;
}

static int compare_newness(const void *left, const void *right)
{
	const struct wanted *a = left;
	const struct wanted *b = right;

	return (a->start_ns < b->start_ns) - (a->start_ns > b->start_ns);
}

/* An epoch that is damaged, or was changed, is skipped. */
static struct hp_error *open_one(const struct wanted *wanted, struct lineage *lineage)
{
	struct lineage_epoch found = { .db = wanted->db, .start_ns = wanted->start_ns };
	struct hp_error *error = hp_epoch_open(wanted->db, wanted->stamp, &found.epoch);

	if (error) {
		hp_error_destroy(error);
		return NULL;
	}
	if (!hp_epoch_contradiction(found.epoch) && hp_vector_push(&lineage->found, found))
		return NULL;
	error = hp_epoch_contradiction(found.epoch) ? NULL : hp_error_create_no_memory();
	hp_epoch_close(found.epoch);
	return error;
}

/* --- replicates ------------------------------------------------------------------------------ */

/* No file executed in both epochs was another build in one of them. */
static bool ran_same_builds(struct hp_epoch *a, struct hp_epoch *b)
{
	for (size_t i = 0; i < hp_epoch_image_count(a); i++)
		for (size_t j = 0; j < hp_epoch_image_count(b); j++) {
			const struct hp_image_id *one = hp_epoch_image(a, i);
			const struct hp_image_id *other = hp_epoch_image(b, j);

			if (one->kind == HP_IMAGE_FILE && other->kind == HP_IMAGE_FILE &&
			    is_same(one->path, other->path) &&
			    !hp_identity_equal(&one->identity, &other->identity))
				return false;
		}
	return true;
}

bool lineage_are_alike(struct hp_epoch *a, struct hp_epoch *b)
{
	const struct hp_epoch_meta *one = hp_epoch_meta(a);
	const struct hp_epoch_meta *other = hp_epoch_meta(b);

	return is_same(one->host, other->host) && is_same(one->cpu_model, other->cpu_model) &&
	       is_same_command(one, other) && ran_same_builds(a, b);
}

static bool are_replicates(const struct lineage_epoch *a, const struct lineage_epoch *b)
{
	return a->db == b->db && lineage_are_alike(a->epoch, b->epoch);
}

static void group(struct lineage *lineage)
{
	for (size_t i = 0; i < lineage->found.count; i++) {
		struct lineage_epoch *one = &lineage->found.at[i];
		size_t j = 0;

		while (j < i && !are_replicates(one, &lineage->found.at[j]))
			j++;
		one->group = j < i ? lineage->found.at[j].group : lineage->group_count++;
	}
}

struct hp_error *lineage_find(const struct sides *sides,
			      const struct hp_compare_epochs compared[HP_SIDES], size_t most,
			      struct lineage *lineage)
{
	struct search search = { .sides = sides, .compared = compared };
	struct hp_error *error = search_in(&search, compared[HP_BASE].db);

	*lineage = (struct lineage){ 0 };
	if (!error &&
	    !is_same(hp_db_path(compared[HP_BASE].db), hp_db_path(compared[HP_CANDIDATE].db)))
		error = search_in(&search, compared[HP_CANDIDATE].db);
	if (search.wanted.count)
		qsort(search.wanted.at, search.wanted.count, sizeof(*search.wanted.at),
		      compare_newness);
	for (size_t i = 0; i < search.wanted.count && lineage->found.count < most && !error; i++)
		error = open_one(&search.wanted.at[i], lineage);
	for (size_t i = 0; i < search.wanted.count; i++)
		free(search.wanted.at[i].stamp);
	hp_vector_free(&search.wanted);
	if (!error)
		group(lineage);
	return error;
}

void lineage_clear(struct lineage *lineage)
{
	for (size_t i = 0; i < lineage->found.count; i++)
		hp_epoch_close(lineage->found.at[i].epoch);
	hp_vector_free(&lineage->found);
}
