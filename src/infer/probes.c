/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probes.h"
#include "tuning.h"

#include <math.h>

/* One place, summed over all recordings. */
struct probed {
	uint64_t address;
	double value; /* estimated executions in the whole time */
	double variance;
};

/* Adds a command's executions: `hits` in `times` ns, scaled to the `whole` time. */
static void add_stratum(const struct hp_grouped *hits, const struct hp_grouped *times, double whole,
			struct probed *into)
{
	double count = hp_grouped_sum(hits);
	double time = hp_grouped_sum(times);
	struct hp_grouped_ratio ratio = hp_grouped_ratio(hits, times);
	double scale = whole / time;
	double chance = (count + 1) * scale * scale;
	double own = isfinite(ratio.deviation) ? ratio.deviation * whole
					       : one_moment_deviation * count * scale;

	into->value += count * scale;
	into->variance += fmax(chance, own * own) + least_probe_deviation * count * scale *
							    least_probe_deviation * count * scale;
}

static void to_grouped(const struct hp_counted *item, struct hp_grouped *grouped)
{
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		grouped->counts[i] = (double)item->counts[i];
}

/* An item of hits comes before the item of time in which they were counted; there always is one. */
static void add_place(const struct hp_window_stratum *stratum, uint32_t image, uint64_t offset,
		      struct probed *into)
{
	struct hp_grouped hits = { 0 };
	struct hp_grouped times = { 0 };

	for (size_t i = 0; i < stratum->probe_count; i++) {
		const struct hp_counted *item = &stratum->probes[i];

		if (item->image != image || item->at.value != offset)
			continue;
		if (item->kind == HP_COUNTED_PROBE)
			to_grouped(item, &hits);
		else
			to_grouped(item, &times);
	}
	if (hp_grouped_sum(&times) > 0)
		add_stratum(&hits, &times, (double)stratum->time_ns, into);
}

static bool is_new(const struct hp_evidence *terms, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (terms[i].address.value == address && terms[i].source == HP_SOURCE_PROBES)
			return false;
	return true;
}

static struct hp_error *add_term(const struct hp_inference *inference, uint32_t image,
				 const struct hp_counted *item, uint64_t address,
				 evidence_vector *terms)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	struct probed probed = { .address = address };
	struct hp_evidence term = {
		.kind = HP_EVIDENCE_COUNT,
		.source = HP_SOURCE_PROBES,
		.address = { address },
	};

	for (size_t i = 0; i < sum->stratum_count; i++)
		if (hp_profiles_matches(inference->profiles->options->comm,
					sum->strata[i].command) &&
		    sum->strata[i].time_ns)
			add_place(&sum->strata[i], image, item->at.value, &probed);
	/* What was not hit in a few moments may run millions of times in others, so it gets no
	 * term. */
	if (!(probed.value > 0))
		return NULL;
	term.value = probed.value;
	term.deviation = sqrt(probed.variance);
	return hp_vector_push(terms, term) ? NULL : hp_error_create_no_memory();
}

static struct hp_error *add_of_stratum(const struct hp_inference *inference,
				       const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				       uint32_t image, const struct hp_window_stratum *stratum,
				       evidence_vector *terms)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < stratum->probe_count && !error; i++) {
		const struct hp_counted *item = &stratum->probes[i];
		hp_link_address address;

		if (item->image != image || item->kind != HP_COUNTED_PROBE_TIME ||
		    !hp_image_link_address(part->file, item->at, &address) ||
		    hp_cfg_block_at(cfg, address) == HP_CFG_NONE ||
		    !is_new(terms->at, terms->count, address.value))
			continue;
		error = add_term(inference, image, item, address.value, terms);
	}
	return error;
}

struct hp_error *probes_terms_of(const struct hp_inference *inference,
				 const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				 evidence_vector *terms)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	struct hp_error *error = NULL;

	/* Only in files do offsets mean the same in all epochs; and probes do not know
	 * processes. */
	if (!part->file || part->image->id.kind != HP_IMAGE_FILE ||
	    inference->profiles->options->pid)
		return NULL;
	for (uint32_t i = 0; i < sum->image_count; i++) {
		if (hp_image_id_compare(&sum->images[i], &part->image->id) != 0)
			continue;
		for (size_t j = 0; j < sum->stratum_count && !error; j++)
			if (hp_profiles_matches(inference->profiles->options->comm,
						sum->strata[j].command) &&
			    sum->strata[j].time_ns)
				error = add_of_stratum(inference, part, cfg, i, &sum->strata[j],
						       terms);
	}
	return error;
}
