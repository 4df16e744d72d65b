/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Epochs that are analysed together although they are of different machines: each such difference
 * is a warning that says what is done about it. */
#include "analyse.h"

#include <inttypes.h>
#include <string.h>

static const char advice[] = "report each epoch by itself to have each analysed as it was recorded";

static void check_cpus(const struct report *report)
{
	const struct hp_epoch_meta *first = report->epochs.at[0].meta;

	for (size_t i = 1; i < report->epochs.count; i++) {
		const struct hp_epoch_meta *other = report->epochs.at[i].meta;

		if (hp_cpu_equal(&first->cpu, &other->cpu))
			continue;
		report_warn(report, advice,
			    "the epochs are of different CPUs, %s of another than %s, so that best "
			    "cases are those of %s",
			    report->epochs.at[i].stamp, report->epochs.at[0].stamp,
			    analyse_core(report)->title);
		return;
	}
}

static const struct hp_event_info *info_in(const struct report_epoch *epoch, const char *name)
{
	for (size_t i = 0; i < epoch->meta->event_count; i++)
		if (strcmp(epoch->meta->events[i].info.name, name) == 0 &&
		    epoch->meta->events[i].samples)
			return &epoch->meta->events[i].info;
	return NULL;
}

static void check_skids(const struct report *report, const struct hp_event_info *taken)
{
	for (size_t i = 0; i < report->epochs.count; i++) {
		const struct hp_event_info *info = info_in(&report->epochs.at[i], taken->name);

		if (!info || info->skid_instructions == taken->skid_instructions)
			continue;
		report_warn(report, advice,
			    "samples of %s are %" PRIu32 " instructions late in some of the epochs "
			    "and %" PRIu32 " in %s: all are taken to be %" PRIu32,
			    taken->name, taken->skid_instructions, info->skid_instructions,
			    report->epochs.at[i].stamp, taken->skid_instructions);
		return;
	}
}

/* Of those that have one each epoch's is taken for its own samples, which needs no warning. */
static void check_clocks(const struct report *report, const struct report_event *event)
{
	const char *without = NULL;
	bool is_any = false;

	if (event->info->unit != HP_UNIT_NS)
		return;
	for (size_t i = 0; i < report->epochs.count; i++) {
		const struct report_epoch *epoch = &report->epochs.at[i];

		if (!info_in(epoch, event->info->name))
			continue;
		if (hp_clock_measurements(&epoch->meta->clock))
			is_any = true;
		else if (!without)
			without = epoch->stamp;
	}
	if (is_any && without)
		report_warn(report, "leave it out, or record it again",
			    "the clock of %s was not measured, so cycles and stalls are not known "
			    "of the epochs together",
			    without);
}

void analyse_check_epochs(const struct report *report)
{
	size_t event = analyse_event(report);

	if (report->epochs.count < 2 || event == report->events.count)
		return;
	check_cpus(report);
	check_skids(report, report->events.at[event].info);
	check_clocks(report, &report->events.at[event]);
}
