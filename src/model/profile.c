/* SPDX-License-Identifier: GPL-2.0-or-later */
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

void hp_stratum_clear(struct hp_stratum *stratum)
{
	free(stratum->command);
	free(stratum->counts);
	*stratum = (struct hp_stratum){ 0 };
}

int hp_stratum_compare(const struct hp_stratum *a, const struct hp_stratum *b)
{
	int order = strcmp(a->command, b->command);

	if (order)
		return order;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->period > b->period) - (a->period < b->period);
}

uint64_t hp_stratum_samples(const struct hp_stratum *stratum)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < stratum->count_count; i++)
		samples += stratum->counts[i].samples;
	return samples;
}

void hp_profile_clear(struct hp_profile *profile)
{
	hp_image_id_clear(&profile->image);
	free(profile->event);
	for (size_t i = 0; i < profile->stratum_count; i++)
		hp_stratum_clear(&profile->strata[i]);
	free(profile->strata);
	*profile = (struct hp_profile){ 0 };
}

uint64_t hp_profile_samples(const struct hp_profile *profile)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < profile->stratum_count; i++)
		samples += hp_stratum_samples(&profile->strata[i]);
	return samples;
}

/* Merges two sorted histograms; `counts` has room for both. Returns how many came out. */
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

static struct hp_error *insert_stratum(struct hp_profile *into, size_t at,
				       const struct hp_stratum *from)
{
	struct hp_stratum copy = { .pid = from->pid, .period = from->period };
	struct hp_stratum *grown =
		reallocarray(into->strata, into->stratum_count + 1, sizeof(*grown));

	if (!grown)
		return hp_error_create_no_memory();
	into->strata = grown;
	copy.command = strdup(from->command);
	copy.counts = calloc(from->count_count + 1, sizeof(*copy.counts));
	if (!copy.command || !copy.counts) {
		hp_stratum_clear(&copy);
		return hp_error_create_no_memory();
	}
	copy.count_count = from->count_count;
	if (from->count_count)
		memcpy(copy.counts, from->counts, from->count_count * sizeof(*copy.counts));
	memmove(grown + at + 1, grown + at, (into->stratum_count - at) * sizeof(*grown));
	grown[at] = copy;
	into->stratum_count++;
	return NULL;
}

struct hp_error *hp_profile_add(struct hp_profile *into, const struct hp_profile *from)
{
	for (size_t i = 0, at = 0; i < from->stratum_count; i++) {
		const struct hp_stratum *stratum = &from->strata[i];
		struct hp_error *error;

		while (at < into->stratum_count &&
		       hp_stratum_compare(&into->strata[at], stratum) < 0)
			at++;
		if (at < into->stratum_count && hp_stratum_compare(&into->strata[at], stratum) == 0)
			error = add_counts(&into->strata[at], stratum);
		else
			error = insert_stratum(into, at, stratum);
		if (error)
			return error;
	}
	return NULL;
}
