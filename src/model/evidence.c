/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums over windows: adding them up so that the order does not matter. */
#include "evidence_order.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>

#include <string.h>

/* --- clearing --------------------------------------------------------------------------------- */

static void clear_stratum(struct hp_window_stratum *stratum)
{
	free(stratum->command);
	free(stratum->items);
	free(stratum->outcomes);
	free(stratum->probes);
	free(stratum->ticks);
	free(stratum->ranges);
	free(stratum->events);
	*stratum = (struct hp_window_stratum){ 0 };
}

void hp_window_evidence_clear(struct hp_window_evidence *evidence)
{
	for (size_t i = 0; i < evidence->image_count; i++)
		hp_image_id_clear(&evidence->images[i]);
	for (size_t i = 0; i < evidence->stratum_count; i++)
		clear_stratum(&evidence->strata[i]);
	for (size_t i = 0; i < evidence->reason_count; i++)
		free(evidence->reasons[i].what);
	free(evidence->images);
	free(evidence->strata);
	free(evidence->reasons);
	*evidence = (struct hp_window_evidence){ 0 };
}

bool hp_window_evidence_is_empty(const struct hp_window_evidence *evidence)
{
	return !evidence->stratum_count && !evidence->reason_count && !evidence->price.shadows;
}

static bool add_u64(uint64_t *into, uint64_t from)
{
	return !__builtin_add_overflow(*into, from, into);
}

static struct hp_error *overflowed(void)
{
	return hp_error_create(HP_ERROR_DAMAGED,
			       "the counts of windows add up to more than 64 bits");
}

/* --- images ----------------------------------------------------------------------------------- */

static struct hp_error *copy_images(const struct hp_image_id *const *from, size_t count,
				    struct hp_image_id **images)
{
	*images = calloc(count + 1, sizeof(**images));
	if (!*images)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct hp_error *error = hp_image_id_copy(from[i], &(*images)[i]);

		if (!error) {
			(*images)[i].deleted = false;
			continue;
		}
		while (i-- > 0)
			hp_image_id_clear(&(*images)[i]);
		free(*images);
		return error;
	}
	return NULL;
}

/* By side: index of each image in the union. */
struct numbering {
	uint32_t *into;
	uint32_t *from;
};

static void renumber_place(struct hp_counted_place *place, const uint32_t *numbers)
{
	place->image = numbers[place->image];
	if (place->kind != HP_COUNTED_BLOCK)
		place->to_image = numbers[place->to_image];
}

static void renumber(struct hp_window_evidence *evidence, const uint32_t *numbers)
{
	for (size_t i = 0; i < evidence->stratum_count; i++) {
		struct hp_window_stratum *stratum = &evidence->strata[i];

		for (size_t j = 0; j < stratum->item_count; j++)
			renumber_place(&stratum->items[j].place, numbers);
		for (size_t j = 0; j < stratum->outcome_count; j++)
			renumber_place(&stratum->outcomes[j].place, numbers);
		for (size_t j = 0; j < stratum->probe_count; j++)
			renumber_place(&stratum->probes[j].place, numbers);
		for (size_t j = 0; j < stratum->tick_count; j++)
			renumber_place(&stratum->ticks[j].place, numbers);
		for (size_t j = 0; j < stratum->range_count; j++)
			renumber_place(&stratum->ranges[j].place, numbers);
		for (size_t j = 0; j < stratum->event_count; j++)
			renumber_place(&stratum->events[j].place, numbers);
	}
}

/* Both lists are sorted, so one pass suffices. The order of existing images stays, so items stay
 * sorted. */
static struct hp_error *unite_images(struct hp_window_evidence *into,
				     const struct hp_window_evidence *from,
				     const struct numbering *numbering)
{
	size_t room = into->image_count + from->image_count;
	_cleanup_free_ const struct hp_image_id **all = calloc(room + 1, sizeof(const void *));
	struct hp_image_id *united;
	struct hp_error *error;
	size_t count = 0;

	if (!all)
		return hp_error_create_no_memory();
	for (size_t i = 0, j = 0; i < into->image_count || j < from->image_count; count++) {
		int order = i == into->image_count ? 1
			    : j == from->image_count
				    ? -1
				    : hp_image_id_compare(&into->images[i], &from->images[j]);

		all[count] = order <= 0 ? &into->images[i] : &from->images[j];
		if (order <= 0)
			numbering->into[i++] = (uint32_t)count;
		if (order >= 0)
			numbering->from[j++] = (uint32_t)count;
	}
	error = copy_images(all, count, &united);
	if (error)
		return error;
	for (size_t i = 0; i < into->image_count; i++)
		hp_image_id_clear(&into->images[i]);
	free(into->images);
	into->images = united;
	if (count > into->image_count)
		renumber(into, numbering->into);
	into->image_count = count;
	return NULL;
}

/* --- items ------------------------------------------------------------------------------------ */

int hp_counted_compare(const struct hp_counted_place *a, const struct hp_counted_place *b)
{
	int order = hp_order(a->is_relative, b->is_relative);

	if (!order)
		order = hp_order(a->image, b->image);
	if (!order)
		order = hp_order(a->at.value, b->at.value);
	if (!order)
		order = hp_order(a->kind, b->kind);
	if (!order)
		order = hp_order(a->to_image, b->to_image);
	if (!order)
		order = hp_order(a->to.value, b->to.value);
	if (!order)
		order = hp_order(a->bytes, b->bytes);
	return order ? order : hp_order(a->instructions, b->instructions);
}

/* A list of a stratum. */
struct counted_list {
	struct hp_counted *at;
	size_t count;
};

/* What is added to it: either all groups, or those of one window. */
struct added_list {
	const struct hp_counted *all;
	const struct hp_window_item *window; /* if `all` is NULL */
	size_t count;
	size_t first, groups;	 /* which of the groups there are counts of */
	const uint32_t *numbers; /* of its images in the sum */
};

static struct hp_counted_place place_of(const struct added_list *from, size_t at)
{
	struct hp_counted_place place = from->all ? from->all[at].place : from->window[at].place;

	renumber_place(&place, from->numbers);
	return place;
}

static const uint64_t *counts_of(const struct added_list *from, size_t at)
{
	return from->all ? from->all[at].counts : from->window[at].counts;
}

/* Adds the items that `into` has already; returns the number of others. */
static struct hp_error *add_known(struct counted_list *into, const struct added_list *from,
				  size_t *new_count)
{
	size_t i = 0;

	*new_count = 0;
	for (size_t j = 0; j < from->count; j++) {
		const struct hp_counted_place place = place_of(from, j);
		const uint64_t *counts = counts_of(from, j);

		while (i < into->count && hp_counted_compare(&into->at[i].place, &place) < 0)
			i++;
		if (i == into->count || hp_counted_compare(&into->at[i].place, &place) != 0) {
			(*new_count)++;
			continue;
		}
		for (size_t group = 0; group < from->groups; group++)
			if (!add_u64(&into->at[i].counts[from->first + group], counts[group]))
				return overflowed();
	}
	return NULL;
}

/* Inserts from the end, so that each item moves once, and items before the first new one do not
 * move. */
static void insert_new(struct counted_list *into, const struct added_list *from, size_t new_count)
{
	size_t i = into->count;
	size_t j = from->count;

	into->count += new_count;
	while (new_count) {
		const struct hp_counted_place place = place_of(from, j - 1);
		int order = i ? hp_counted_compare(&into->at[i - 1].place, &place) : -1;

		if (order > 0) {
			i--;
			into->at[i + new_count] = into->at[i];
			continue;
		}
		j--;
		if (order < 0) {
			struct hp_counted *item = &into->at[i + --new_count];

			*item = (struct hp_counted){ .place = place };
			memcpy(&item->counts[from->first], counts_of(from, j),
			       from->groups * sizeof(*item->counts));
		}
	}
}

/* Works in place, since items are large, and a compiler's sum has hundreds of thousands, most of which a
 * window does not change. */
static struct hp_error *add_items(struct hp_counted **items, size_t *count,
				  const struct added_list *from)
{
	struct counted_list into = { *items, *count };
	size_t new_count;
	struct hp_error *error = add_known(&into, from, &new_count);

	if (error || !new_count)
		return error;
	into.at = reallocarray(into.at, into.count + new_count, sizeof(*into.at));
	if (!into.at)
		return hp_error_create_no_memory();
	insert_new(&into, from, new_count);
	*items = into.at;
	*count = into.count;
	return NULL;
}

static struct hp_error *add_list(struct hp_counted **into, size_t *count,
				 const struct hp_counted *from, size_t from_count,
				 const uint32_t *numbers)
{
	const struct added_list list = {
		.all = from,
		.count = from_count,
		.groups = HP_EVIDENCE_GROUPS,
		.numbers = numbers,
	};

	return add_items(into, count, &list);
}

static struct hp_error *add_lists(struct hp_window_stratum *into,
				  const struct hp_window_stratum *from, const uint32_t *numbers)
{
	struct hp_error *error =
		add_list(&into->items, &into->item_count, from->items, from->item_count, numbers);

	if (!error)
		error = add_list(&into->outcomes, &into->outcome_count, from->outcomes,
				 from->outcome_count, numbers);
	if (!error)
		error = add_list(&into->probes, &into->probe_count, from->probes, from->probe_count,
				 numbers);
	if (!error)
		error = add_list(&into->ticks, &into->tick_count, from->ticks, from->tick_count,
				 numbers);
	if (!error)
		error = add_list(&into->ranges, &into->range_count, from->ranges, from->range_count,
				 numbers);
	if (!error)
		error = add_list(&into->events, &into->event_count, from->events, from->event_count,
				 numbers);
	return error;
}

static struct hp_error *add_to_list(struct hp_window_stratum *stratum, enum hp_window_list list,
				    const struct added_list *items)
{
	switch (list) {
	case HP_WINDOW_LIST_TICKS:
		return add_items(&stratum->ticks, &stratum->tick_count, items);
	case HP_WINDOW_LIST_EVENTS:
		return add_items(&stratum->events, &stratum->event_count, items);
	case HP_WINDOW_LIST_ITEMS:
		break;
	}
	return add_items(&stratum->items, &stratum->item_count, items);
}

/* --- strata ----------------------------------------------------------------------------------- */

int evidence_compare_strata(const struct hp_window_stratum *a, const struct hp_window_stratum *b)
{
	int order = hp_order(a->recording, b->recording);

	return order ? order : strcmp(a->command, b->command);
}

static struct hp_error *insert_stratum(struct hp_window_evidence *into, size_t at,
				       const struct hp_window_stratum *from)
{
	struct hp_window_stratum *grown =
		reallocarray(into->strata, into->stratum_count + 1, sizeof(*grown));
	char *command = strdup(from->command);

	if (grown)
		into->strata = grown;
	if (!grown || !command) {
		free(command);
		return hp_error_create_no_memory();
	}
	memmove(grown + at + 1, grown + at, (into->stratum_count - at) * sizeof(*grown));
	grown[at] = (struct hp_window_stratum){ .recording = from->recording, .command = command };
	into->stratum_count++;
	return NULL;
}

static bool add_groups(struct hp_window_group *into, const struct hp_window_group *from)
{
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		if (!add_u64(&into[i].windows, from[i].windows) ||
		    !add_u64(&into[i].time_ns, from[i].time_ns))
			return false;
	return true;
}

/* `*found`: the stratum of the sum. */
static struct hp_error *add_stratum(struct hp_window_evidence *into,
				    const struct hp_window_stratum *from, const uint32_t *numbers,
				    struct hp_window_stratum **found)
{
	struct hp_error *error = NULL;
	struct hp_window_stratum *stratum;
	size_t at = 0;

	while (at < into->stratum_count && evidence_compare_strata(&into->strata[at], from) < 0)
		at++;
	if (at == into->stratum_count || evidence_compare_strata(&into->strata[at], from) != 0)
		error = insert_stratum(into, at, from);
	if (error)
		return error;
	*found = stratum = &into->strata[at];
	if (!add_u64(&stratum->time_ns, from->time_ns) ||
	    !add_groups(stratum->groups, from->groups) ||
	    !add_groups(stratum->relative, from->relative) ||
	    !add_u64(&stratum->followed, from->followed))
		return overflowed();
	for (size_t i = 0; i < HP_RECORD_GROUPS; i++)
		if (!add_u64(&stratum->record_cycles[i], from->record_cycles[i]))
			return overflowed();
	for (size_t i = 0; i <= HP_LATENCIES; i++)
		if (!add_u64(&stratum->latencies[i], from->latencies[i]))
			return overflowed();
	return add_lists(stratum, from, numbers);
}

/* --- reasons and price ------------------------------------------------------------------------ */

int evidence_compare_reasons(bool is_refusal, const char *what, const struct hp_window_reason *b)
{
	return is_refusal == b->is_refusal ? strcmp(what, b->what) : is_refusal - b->is_refusal;
}

struct hp_error *hp_window_evidence_add_reason(struct hp_window_evidence *into, bool is_refusal,
					       const char *what, uint64_t count)
{
	struct hp_window_reason *grown;
	size_t at = 0;
	char *copy;

	if (!count)
		return NULL;
	while (at < into->reason_count &&
	       evidence_compare_reasons(is_refusal, what, &into->reasons[at]) > 0)
		at++;
	if (at < into->reason_count &&
	    evidence_compare_reasons(is_refusal, what, &into->reasons[at]) == 0)
		return add_u64(&into->reasons[at].count, count) ? NULL : overflowed();
	copy = strdup(what);
	grown = copy ? reallocarray(into->reasons, into->reason_count + 1, sizeof(*grown)) : NULL;
	if (!grown) {
		free(copy);
		return hp_error_create_no_memory();
	}
	into->reasons = grown;
	memmove(grown + at + 1, grown + at, (into->reason_count - at) * sizeof(*grown));
	grown[at] = (struct hp_window_reason){ is_refusal, copy, count };
	into->reason_count++;
	return NULL;
}

static struct hp_error *add_figures(struct hp_window_evidence *into,
				    const struct hp_window_evidence *from)
{
	struct hp_window_price *price = &into->price;

	if (from->price.budget_ppm > price->budget_ppm)
		price->budget_ppm = from->price.budget_ppm;
	if (!add_u64(&price->shadows, from->price.shadows) ||
	    !add_u64(&price->lost_ns, from->price.lost_ns) ||
	    !add_u64(&price->replay_ns, from->price.replay_ns) ||
	    !add_u64(&price->beside_ns, from->price.beside_ns) ||
	    !add_u64(&price->aside_ns, from->price.aside_ns) ||
	    !add_u64(&price->target_ns, from->price.target_ns) ||
	    !add_u64(&into->samples, from->samples) || !add_u64(&into->matched, from->matched) ||
	    !add_u64(&into->dropped, from->dropped))
		return overflowed();
	return NULL;
}

/* `items` go to a list of the last stratum. */
static struct hp_error *add(struct hp_window_evidence *into, const struct hp_window_evidence *from,
			    enum hp_window_list list, struct added_list *items)
{
	_cleanup_free_ uint32_t *ours = calloc(into->image_count + 1, sizeof(*ours));
	_cleanup_free_ uint32_t *theirs = calloc(from->image_count + 1, sizeof(*theirs));
	const struct numbering numbering = { ours, theirs };
	struct hp_window_stratum *stratum = NULL;
	struct hp_error *error;

	if (!ours || !theirs)
		return hp_error_create_no_memory();
	error = add_figures(into, from);
	if (!error)
		error = unite_images(into, from, &numbering);
	for (size_t i = 0; i < from->stratum_count && !error; i++)
		error = add_stratum(into, &from->strata[i], theirs, &stratum);
	items->numbers = theirs;
	if (!error && stratum && items->count)
		error = add_to_list(stratum, list, items);
	for (size_t i = 0; i < from->reason_count && !error; i++)
		error = hp_window_evidence_add_reason(into, from->reasons[i].is_refusal,
						      from->reasons[i].what,
						      from->reasons[i].count);
	return error;
}

struct hp_error *hp_window_evidence_add(struct hp_window_evidence *into,
					const struct hp_window_evidence *from)
{
	struct added_list none = { .count = 0 };

	return add(into, from, HP_WINDOW_LIST_ITEMS, &none);
}

struct hp_error *hp_window_evidence_add_window(struct hp_window_evidence *into,
					       const struct hp_window_evidence *from,
					       enum hp_window_list list,
					       const struct hp_window_item *items, size_t count,
					       unsigned first)
{
	struct added_list added = {
		.window = items,
		.count = count,
		.first = first,
		.groups = HP_WINDOW_PARTS,
	};

	return add(into, from, list, &added);
}

/* --- all of it -------------------------------------------------------------------------------- */

uint64_t hp_window_evidence_items(const struct hp_window_evidence *evidence)
{
	uint64_t items = 0;

	for (size_t i = 0; i < evidence->stratum_count; i++) {
		const struct hp_window_stratum *stratum = &evidence->strata[i];

		items += stratum->item_count + stratum->outcome_count + stratum->probe_count +
			 stratum->tick_count + stratum->range_count + stratum->event_count;
	}
	return items;
}

struct hp_error *hp_window_evidence_add_without_events(struct hp_window_evidence *into,
						       const struct hp_window_evidence *from)
{
	struct hp_window_evidence bare = *from;
	struct hp_error *error;

	bare.strata = calloc(from->stratum_count + 1, sizeof(*bare.strata));
	if (!bare.strata)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < from->stratum_count; i++) {
		struct hp_window_stratum *stratum = &bare.strata[i];

		*stratum = from->strata[i];
		bare.dropped += stratum->event_count;
		stratum->event_count = 0;
		memset(stratum->latencies, 0, sizeof(stratum->latencies));
	}
	error = hp_window_evidence_add(into, &bare);
	free(bare.strata);
	return error;
}

struct hp_error *hp_window_evidence_add_without_counts(struct hp_window_evidence *into,
						       const struct hp_window_evidence *from)
{
	struct hp_window_evidence bare = *from;
	struct hp_error *error;

	bare.images = NULL;
	bare.image_count = 0;
	bare.strata = calloc(from->stratum_count + 1, sizeof(*bare.strata));
	if (!bare.strata)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < from->stratum_count; i++) {
		bare.strata[i].recording = from->strata[i].recording;
		bare.strata[i].command = from->strata[i].command;
		bare.strata[i].time_ns = from->strata[i].time_ns;
	}
	bare.dropped += hp_window_evidence_items(from);
	error = hp_window_evidence_add(into, &bare);
	free(bare.strata);
	return error;
}

static struct hp_window_group sum_of(const struct hp_window_evidence *evidence, bool is_relative)
{
	struct hp_window_group sum = { 0 };

	for (size_t i = 0; i < evidence->stratum_count; i++) {
		const struct hp_window_group *groups = is_relative ? evidence->strata[i].relative
								   : evidence->strata[i].groups;

		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++) {
			sum.windows += groups[j].windows;
			sum.time_ns += groups[j].time_ns;
		}
	}
	return sum;
}

unsigned hp_window_evidence_contents(const struct hp_window_evidence *evidence)
{
	unsigned contents = 0;

	for (size_t i = 0; i < evidence->stratum_count; i++) {
		const struct hp_window_stratum *stratum = &evidence->strata[i];

		contents |= stratum->item_count ? HP_CONTAINS_WINDOWS : 0;
		contents |= stratum->outcome_count ? HP_CONTAINS_OUTCOMES : 0;
		contents |= stratum->probe_count ? HP_CONTAINS_PROBES : 0;
		contents |= stratum->range_count ? HP_CONTAINS_RANGES : 0;
		contents |= stratum->event_count ? HP_CONTAINS_EVENTS : 0;
	}
	return contents;
}

struct hp_window_group hp_window_evidence_counted(const struct hp_window_evidence *evidence)
{
	return sum_of(evidence, false);
}

struct hp_window_group hp_window_evidence_relative(const struct hp_window_evidence *evidence)
{
	return sum_of(evidence, true);
}
