/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "windows.h"
#include "tuning.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static struct hp_window_group sum_of(const struct hp_window_group *groups)
{
	struct hp_window_group sum = { 0 };

	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		sum.windows += groups[i].windows;
		sum.time_ns += groups[i].time_ns;
	}
	return sum;
}

/* --- loading ---------------------------------------------------------------------------------- */

static struct hp_error *note_covered(struct hp_inference *inference, size_t epoch,
				     const struct hp_window_evidence *evidence)
{
	for (size_t i = 0; i < evidence->stratum_count; i++) {
		const struct hp_window_stratum *stratum = &evidence->strata[i];
		struct hp_covered one = {
			.epoch = epoch,
			.command = hp_profiles_intern(inference->profiles, stratum->command),
			.is_truncated = !sum_of(stratum->groups).windows,
		};

		if (one.is_truncated && !sum_of(stratum->relative).windows)
			continue;
		if (!one.command || !hp_vector_push(&inference->profiles->covered, one))
			return hp_error_create_no_memory();
	}
	return NULL;
}

static struct hp_error *load_epoch_windows(struct hp_inference *inference, size_t at)
{
	struct hp_window_evidence evidence = { 0 };
	struct hp_error *error;
	struct hp_error *lost;

	if (!inference->profiles->epochs.at[at].epoch)
		return NULL;
	error = hp_epoch_read_evidence(inference->profiles->epochs.at[at].epoch, &evidence, &lost);
	if (error && error->class == HP_ERROR_DAMAGED) {
		hp_profiles_warn(inference->profiles, "hpcprof epochs verify shows what is damaged",
				 "%s: the counts are lost; everything else is intact",
				 error->message);
		hp_error_destroy(error);
		return NULL;
	}
	if (lost)
		hp_profiles_warn(inference->profiles, "hpcprof epochs verify shows what is damaged",
				 "%s: this part is lost; everything else is intact", lost->message);
	hp_error_destroy(lost);
	if (!error)
		error = note_covered(inference, at, &evidence);
	if (!error)
		error = hp_window_evidence_add(&inference->windows.sum, &evidence);
	hp_window_evidence_clear(&evidence);
	return error;
}

/* --- what a count stands for ------------------------------------------------------------------ */

static bool passes(const struct hp_inference *inference, const struct hp_window_stratum *stratum)
{
	return hp_profiles_matches(inference->profiles->options->comm, stratum->command);
}

/* The executions per count in the stratum; 0: unknown. */
static double scale_of(const struct hp_inference *inference,
		       const struct hp_window_stratum *stratum)
{
	struct hp_window_group counted = sum_of(stratum->groups);
	double truncated = (double)sum_of(stratum->relative).windows;

	if (!passes(inference, stratum) || !counted.time_ns || !stratum->time_ns ||
	    truncated > most_uncovered * ((double)counted.windows + truncated))
		return 0;
	/* At least 1: windows cannot cover more than the whole time. The measured time may be less
	 * if a part of it was lost. */
	return fmax((double)stratum->time_ns / (double)counted.time_ns, 1);
}

/* The share of the command's time in recordings without absolute windows. Unless it is most of the
 * time, they are assumed to run the same code as the recordings with windows. */
static double without_windows(const struct hp_inference *inference, const char *command)
{
	const struct hp_windows *windows = &inference->windows;
	double with = 0;
	double all = 0;

	for (size_t i = 0; i < windows->sum.stratum_count; i++) {
		const struct hp_window_stratum *stratum = &windows->sum.strata[i];

		if (strcmp(stratum->command, command) != 0)
			continue;
		all += (double)stratum->time_ns;
		with += windows->scales[i] > 0 ? (double)stratum->time_ns : 0;
	}
	return all > 0 ? 1 - with / all : 0;
}

static void allow_for_others(struct hp_inference *inference)
{
	struct hp_windows *windows = &inference->windows;
	_cleanup_free_ double *missing = calloc(windows->sum.stratum_count + 1, sizeof(*missing));

	for (size_t i = 0; missing && i < windows->sum.stratum_count; i++)
		missing[i] = without_windows(inference, windows->sum.strata[i].command);
	for (size_t i = 0; i < windows->sum.stratum_count; i++) {
		double share = missing ? missing[i] : 1;

		if (!(windows->scales[i] > 0))
			continue;
		windows->scales[i] = share <= most_without ? windows->scales[i] / (1 - share) : 0;
		if (share <= most_without && share > windows->without)
			windows->without = share;
	}
}

/* The share of the command's time in the first moments of its processes, which are seldom in a
 * window. */
static double young_share(const struct hp_inference *inference,
			  const struct hp_window_stratum *stratum)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	double processes = 0;
	double time_ns = 0;

	for (size_t i = 0; i < sum->stratum_count; i++)
		if (strcmp(sum->strata[i].command, stratum->command) == 0)
			time_ns += (double)sum->strata[i].time_ns;
	for (size_t i = 0; i < inference->profiles->epochs.count; i++) {
		const struct hp_epoch_meta *meta = inference->profiles->epochs.at[i].meta;

		for (size_t j = 0; j < meta->command_count; j++)
			if (strcmp(meta->commands[j].command, stratum->command) == 0)
				processes += (double)meta->commands[j].processes;
	}
	return time_ns > 0 ? fmin(processes * youth_ns / time_ns, 1) : 0;
}

static bool had_windows(const struct hp_inference *inference, const char *command)
{
	for (size_t i = 0; i < inference->profiles->covered.count; i++) {
		const struct hp_covered *covered = &inference->profiles->covered.at[i];

		if (strcmp(covered->command, command) == 0 &&
		    (!covered->is_truncated || inference->windows.is_by_time))
			return true;
	}
	return false;
}

static void set_scales(struct hp_inference *inference)
{
	struct hp_windows *windows = &inference->windows;

	for (size_t i = 0; i < windows->sum.stratum_count; i++)
		windows->scales[i] = inference->profiles->options->pid
					     ? 0
					     : scale_of(inference, &windows->sum.strata[i]);
	allow_for_others(inference);
}

/* Adds the time and the numbers of windows of a stratum that passes --comm. */
static void add_stratum(struct hp_inference *inference, size_t i)
{
	struct hp_windows *windows = &inference->windows;
	const struct hp_window_stratum *stratum = &windows->sum.strata[i];
	double scale = windows->scales[i];

	if (had_windows(inference, stratum->command))
		windows->passing_ns += (double)stratum->time_ns;
	windows->count += (double)sum_of(stratum->groups).windows;
	windows->truncated += (double)sum_of(stratum->relative).windows;
	if (!(scale > 0))
		return;
	windows->young = fmax(windows->young, youth_deviation * young_share(inference, stratum));
	windows->is_absolute = true;
	for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++) {
		double time_ns = (double)stratum->groups[j].time_ns;

		windows->seen += time_ns;
		windows->time.counts[j / HP_WINDOW_PARTS] += scale * time_ns;
	}
}

static void add_strata(struct hp_inference *inference)
{
	struct hp_windows *windows = &inference->windows;

	windows->is_absolute = false;
	windows->told_ns = windows->passing_ns = windows->count = windows->truncated = 0;
	windows->seen = 0;
	memset(&windows->time, 0, sizeof(windows->time));
	for (size_t i = 0; i < windows->sum.stratum_count; i++) {
		const struct hp_window_stratum *stratum = &windows->sum.strata[i];

		if (had_windows(inference, stratum->command))
			windows->told_ns += (double)stratum->time_ns;
		if (passes(inference, stratum))
			add_stratum(inference, i);
	}
	if (windows->seen > 0)
		windows->seen /= hp_grouped_sum(&windows->time);
	if (windows->truncated > 0)
		windows->truncated /= windows->count + windows->truncated;
}

/* Makes truncated windows absolute: if executions are estimated from time, windows give only
 * ratios, so truncated ones count like others. */
static void take_truncated(struct hp_window_stratum *stratum)
{
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		stratum->groups[i].windows += stratum->relative[i].windows;
		stratum->groups[i].time_ns += stratum->relative[i].time_ns;
		stratum->relative[i] = (struct hp_window_group){ 0 };
	}
	for (size_t i = 0; i < stratum->item_count; i++)
		stratum->items[i].is_relative = false;
	for (size_t i = 0; i < stratum->tick_count; i++)
		stratum->ticks[i].is_relative = false;
}

/* Treats commands that have only truncated windows as commands without windows. */
static void uncover_truncated(struct hp_profiles *profiles)
{
	size_t kept = 0;

	for (size_t i = 0; i < profiles->covered.count; i++)
		if (!profiles->covered.at[i].is_truncated)
			profiles->covered.at[kept++] = profiles->covered.at[i];
	profiles->covered.count = kept;
}

static void leave_truncated(struct hp_window_stratum *stratum)
{
	size_t kept = 0;

	for (size_t i = 0; i < stratum->tick_count; i++)
		if (!stratum->ticks[i].is_relative)
			stratum->ticks[kept++] = stratum->ticks[i];
	stratum->tick_count = kept;
}

static bool has_ticks(const struct hp_windows *windows)
{
	for (size_t i = 0; i < windows->sum.stratum_count; i++)
		if (windows->sum.strata[i].tick_count)
			return true;
	return false;
}

static const char *why_relative(const struct hp_inference *inference, bool is_one)
{
	if (inference->profiles->options->pid)
		return "windows do not distinguish processes, which --pid needs";
	if (is_one)
		return "one window is not enough: record for longer, or with a larger share "
		       "(--shadow=PERCENT)";
	return inference->windows.truncated > most_uncovered
		       ? "too many windows ended early, because the thread waited for another or "
			 "made another call that a copy cannot make"
		       : "the total running time of the program is not known";
}

static void weigh(struct hp_inference *inference)
{
	struct hp_windows *windows = &inference->windows;
	bool is_one;

	windows->truncated_windows = hp_window_evidence_relative(&windows->sum).windows;
	set_scales(inference);
	add_strata(inference);
	is_one = windows->is_absolute &&
		 !isfinite(hp_grouped_ratio(&windows->time, &windows->time).deviation);
	windows->is_by_time = (is_one || !windows->is_absolute) && has_ticks(windows);
	for (size_t i = 0; i < windows->sum.stratum_count; i++)
		if (windows->is_by_time)
			take_truncated(&windows->sum.strata[i]);
		else
			leave_truncated(&windows->sum.strata[i]);
	if (windows->is_by_time) {
		set_scales(inference);
		add_strata(inference);
	} else {
		uncover_truncated(inference->profiles);
	}
	windows->is_absolute = windows->is_absolute && (!is_one || windows->is_by_time);
	windows->is_by_time = windows->is_by_time && windows->is_absolute;
	if (!windows->is_absolute && windows->count + windows->truncated > 0)
		windows->why_relative = why_relative(inference, is_one);
}

struct hp_error *windows_read(struct hp_inference *inference)
{
	struct hp_windows *windows = &inference->windows;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < inference->profiles->epochs.count && !error; i++)
		error = load_epoch_windows(inference, i);
	if (error)
		return error;
	windows->scales = calloc(windows->sum.stratum_count + 1, sizeof(*windows->scales));
	if (!windows->scales)
		return hp_error_create_no_memory();
	weigh(inference);
	return NULL;
}

void windows_forget(struct hp_windows *windows)
{
	hp_window_evidence_clear(&windows->sum);
	free(windows->scales);
	free(windows->event_weights);
	*windows = (struct hp_windows){ 0 };
}

bool hp_windows_exist(const struct hp_inference *inference)
{
	return hp_window_evidence_counted(&inference->windows.sum).windows ||
	       hp_window_evidence_relative(&inference->windows.sum).windows;
}

bool hp_windows_tried(const struct hp_inference *inference)
{
	return hp_windows_exist(inference) || inference->windows.sum.reason_count ||
	       inference->windows.sum.price.budget_ppm;
}

uint64_t hp_sum_of_items(const struct hp_counted *items, size_t count, uint8_t kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS && (!kind || items[i].kind == kind); j++)
			sum += items[i].counts[j];
	return sum;
}
