/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/search.h>
#include <hpcprof/model/profile.h>

#include <hpcprof/base/cleanup.h>

#include <string.h>

const char *hp_unit_name(enum hp_unit unit)
{
	switch (unit) {
	case HP_UNIT_NS:
		return "ns";
	case HP_UNIT_CYCLES:
		return "cycles";
	case HP_UNIT_INSTRUCTIONS:
		return "instructions";
	case HP_UNIT_EVENTS:
		break;
	}
	return "events";
}

struct hp_event_modes hp_event_modes(const char *name)
{
	static const struct hp_event_modes both = { true, true };
	const char *colon = strrchr(name, ':');
	const char *slash = strrchr(name, '/');
	const char *modifiers = colon;
	struct hp_event_modes modes;

	/* "cpu/cycles/u" */
	if (slash && (!colon || slash > colon))
		modifiers = slash;
	if (!modifiers || strspn(modifiers + 1, "ukhpP") != strlen(modifiers + 1))
		return both;
	modes.has_user = strchr(modifiers + 1, 'u') != NULL;
	modes.has_kernel = strchr(modifiers + 1, 'k') != NULL;
	return modes.has_user || modes.has_kernel || strchr(modifiers + 1, 'h') ? modes : both;
}

bool hp_event_is_of_stalls(const char *name)
{
	return strncmp(name, HP_STALLS_PREFIX, strlen(HP_STALLS_PREFIX)) == 0;
}

bool hp_event_is_stall_event(const char *name, const char *public_name)
{
	size_t length = strlen(public_name);

	if (!hp_event_is_of_stalls(name))
		return false;
	name += strlen(HP_STALLS_PREFIX);
	return strncmp(name, public_name, length) == 0 && name[length] == '/' &&
	       !strchr(name + length + 1, '/');
}

uint32_t hp_skid_default(const char *precision)
{
	return !precision || strncmp(precision, "skid", strlen("skid")) == 0 ||
	       strcmp(precision, "precise 1") == 0;
}

static bool copy_text(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

struct hp_error *hp_event_info_copy(const struct hp_event_info *from, struct hp_event_info *to)
{
	*to = (struct hp_event_info){
		.unit = from->unit,
		.skid_instructions = from->skid_instructions,
	};
	if (copy_text(from->name, &to->name) && copy_text(from->precision, &to->precision) &&
	    copy_text(from->instead_of, &to->instead_of) && copy_text(from->reason, &to->reason) &&
	    copy_text(from->skid_source, &to->skid_source))
		return NULL;
	hp_event_info_clear(to);
	return hp_error_create_no_memory();
}

void hp_event_info_clear(struct hp_event_info *info)
{
	free(info->name);
	free(info->precision);
	free(info->instead_of);
	free(info->reason);
	free(info->skid_source);
	*info = (struct hp_event_info){ 0 };
}

static void hp_stratum_clear(struct hp_stratum *stratum)
{
	free(stratum->command);
	free(stratum->thread);
	free(stratum->counts);
	*stratum = (struct hp_stratum){ 0 };
}

int hp_stratum_compare(const struct hp_stratum *a, const struct hp_stratum *b)
{
	int order = strcmp(a->command, b->command);

	if (!order)
		order = hp_order(a->pid, b->pid);
	if (!order)
		order = hp_order(a->tid, b->tid);
	if (!order)
		order = strcmp(a->thread ? a->thread : "", b->thread ? b->thread : "");
	if (!order)
		order = hp_order(a->cpu, b->cpu);
	return order ? order : hp_order(a->period, b->period);
}

uint64_t hp_stratum_samples(const struct hp_stratum *stratum)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < stratum->count_count; i++)
		samples += stratum->counts[i].samples;
	return samples;
}

void hp_strata_free(struct hp_stratum *strata, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hp_stratum_clear(&strata[i]);
	free(strata);
}

void hp_profile_clear(struct hp_profile *profile)
{
	hp_image_id_clear(&profile->image);
	free(profile->event);
	hp_strata_free(profile->strata, profile->stratum_count);
	hp_strata_free(profile->shares, profile->share_count);
	*profile = (struct hp_profile){ 0 };
}

uint64_t hp_profile_samples(const struct hp_profile *profile)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < profile->stratum_count; i++)
		samples += hp_stratum_samples(&profile->strata[i]);
	return samples;
}

/* Merges two sorted histograms; `counts` has room for both. Returns the number of entries. */
static size_t merge_counts(const struct hp_stratum *a, const struct hp_stratum *b,
			   struct hp_count *counts)
{
	size_t i = 0;
	size_t j = 0;
	size_t n = 0;

	while (i < a->count_count || j < b->count_count) {
		bool from_a = j == b->count_count ||
			      (i < a->count_count &&
			       a->counts[i].offset.value <= b->counts[j].offset.value);
		const struct hp_count *next = from_a ? &a->counts[i++] : &b->counts[j++];

		if (n && counts[n - 1].offset.value == next->offset.value)
			counts[n - 1].samples += next->samples;
		else
			counts[n++] = *next;
	}
	return n;
}

static struct hp_error *add_counts(struct hp_stratum *into, const struct hp_stratum *from)
{
	size_t room = into->count_count + from->count_count;
	struct hp_count *counts = calloc(room ? room : 1, sizeof(*counts));

	if (!counts)
		return hp_error_create_no_memory();
	into->count_count = merge_counts(into, from, counts);
	free(into->counts);
	into->counts = counts;
	return NULL;
}

struct list {
	struct hp_stratum **at;
	size_t *count;
};

static struct hp_error *insert_stratum(const struct list *into, size_t at,
				       const struct hp_stratum *from)
{
	struct hp_stratum copy = {
		.pid = from->pid,
		.tid = from->tid,
		.cpu = from->cpu,
		.period = from->period,
	};
	struct hp_stratum *grown = reallocarray(*into->at, *into->count + 1, sizeof(*grown));

	if (!grown)
		return hp_error_create_no_memory();
	*into->at = grown;
	copy.command = strdup(from->command);
	copy.counts = calloc(from->count_count + 1, sizeof(*copy.counts));
	if (!copy.command || !copy.counts || !copy_text(from->thread, &copy.thread)) {
		hp_stratum_clear(&copy);
		return hp_error_create_no_memory();
	}
	copy.count_count = from->count_count;
	if (from->count_count)
		memcpy(copy.counts, from->counts, from->count_count * sizeof(*copy.counts));
	memmove(grown + at + 1, grown + at, (*into->count - at) * sizeof(*grown));
	grown[at] = copy;
	++*into->count;
	return NULL;
}

/* Both lists are sorted. */
static struct hp_error *add_strata(const struct list *into, const struct hp_stratum *from,
				   size_t count)
{
	for (size_t i = 0, at = 0; i < count; i++) {
		struct hp_error *error;

		while (at < *into->count && hp_stratum_compare(&(*into->at)[at], &from[i]) < 0)
			at++;
		if (at < *into->count && hp_stratum_compare(&(*into->at)[at], &from[i]) == 0)
			error = add_counts(&(*into->at)[at], &from[i]);
		else
			error = insert_stratum(into, at, &from[i]);
		if (error)
			return error;
	}
	return NULL;
}

/* If one profile does not distinguish threads and CPUs, its samples are of an unknown thread and
 * CPU. */
static struct hp_error *add_shares(struct hp_profile *into, const struct hp_profile *from)
{
	const struct list shares = { &into->shares, &into->share_count };
	struct hp_error *error = NULL;

	if (!into->share_count && !from->share_count)
		return NULL;
	if (!into->share_count)
		error = add_strata(&shares, into->strata, into->stratum_count);
	if (error)
		return error;
	if (!from->share_count)
		return add_strata(&shares, from->strata, from->stratum_count);
	return add_strata(&shares, from->shares, from->share_count);
}

struct hp_error *hp_profile_add(struct hp_profile *into, const struct hp_profile *from)
{
	const struct list strata = { &into->strata, &into->stratum_count };
	struct hp_error *error = add_shares(into, from);

	into->has_lost_shares = into->has_lost_shares || from->has_lost_shares;
	return error ? error : add_strata(&strata, from->strata, from->stratum_count);
}

/* --- what shares add up to -------------------------------------------------------------------- */

static int compare_unshared(const void *left, const void *right)
{
	const struct hp_stratum *a = *(const struct hp_stratum *const *)left;
	const struct hp_stratum *b = *(const struct hp_stratum *const *)right;
	int order = strcmp(a->command, b->command);

	if (!order)
		order = hp_order(a->pid, b->pid);
	return order ? order : hp_order(a->period, b->period);
}

static int compare_offsets(const void *left, const void *right)
{
	const struct hp_count *a = left;
	const struct hp_count *b = right;

	return hp_order(a->offset.value, b->offset.value);
}

/* Makes one stratum of `count` shares; `count` is not 0. */
static struct hp_error *join_shares(const struct hp_stratum *const *shares, size_t count,
				    struct hp_stratum *stratum)
{
	size_t room = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		room += shares[i]->count_count;
	*stratum = (struct hp_stratum){
		.command = strdup(shares[0]->command),
		.pid = shares[0]->pid,
		.period = shares[0]->period,
		.counts = calloc(room + 1, sizeof(*stratum->counts)),
	};
	if (!stratum->command || !stratum->counts)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < shares[i]->count_count; j++)
			stratum->counts[n++] = shares[i]->counts[j];
	qsort(stratum->counts, n, sizeof(*stratum->counts), compare_offsets);
	for (size_t i = 0; i < n; i++) {
		struct hp_count *last = &stratum->counts[stratum->count_count - !!i];

		if (i && last->offset.value == stratum->counts[i].offset.value)
			last->samples += stratum->counts[i].samples;
		else
			stratum->counts[stratum->count_count++] = stratum->counts[i];
	}
	return NULL;
}

struct hp_error *hp_shares_sum(const struct hp_stratum *shares, size_t share_count,
			       struct hp_stratum **strata, size_t *stratum_count)
{
	_cleanup_free_ const struct hp_stratum **order = calloc(share_count + 1, sizeof(void *));
	struct hp_stratum *joined = calloc(share_count + 1, sizeof(*joined));
	struct hp_error *error = NULL;
	size_t count = 0;
	size_t end;

	if (!order || !joined) {
		free(joined);
		return hp_error_create_no_memory();
	}
	for (size_t i = 0; i < share_count; i++)
		order[i] = &shares[i];
	qsort(order, share_count, sizeof(*order), compare_unshared);
	for (size_t i = 0; i < share_count && !error; i = end) {
		for (end = i + 1; end < share_count; end++)
			if (compare_unshared(&order[i], &order[end]) != 0)
				break;
		error = join_shares(&order[i], end - i, &joined[count++]);
	}
	if (error) {
		hp_strata_free(joined, count);
		return error;
	}
	*strata = joined;
	*stratum_count = count;
	return NULL;
}
