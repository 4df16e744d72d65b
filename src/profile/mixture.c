/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Epochs of different machines that are analysed together: each difference is a warning that says
 * how it is handled.
 */
#include <hpcprof/isa/machine.h>
#include <hpcprof/profile/profiles.h>

#include <inttypes.h>
#include <string.h>

static const char advice[] = "report each epoch separately for an analysis with its own data";

static void check_cpus(const struct hp_profiles *profiles)
{
	const struct hp_epoch_meta *first = profiles->epochs.at[0].meta;

	for (size_t i = 1; i < profiles->epochs.count; i++) {
		const struct hp_epoch_meta *other = profiles->epochs.at[i].meta;

		if (hp_cpu_equal(&first->cpu, &other->cpu))
			continue;
		hp_profiles_warn(profiles, advice,
				 "the epochs are from different CPUs (%s is from another than %s), "
				 "so best cases are those of %s",
				 profiles->epochs.at[i].stamp, profiles->epochs.at[0].stamp,
				 hp_profiles_core(profiles)->title);
		return;
	}
}

static const struct hp_event_info *info_in(const struct hp_loaded_epoch *epoch, const char *name)
{
	for (size_t i = 0; i < epoch->meta->event_count; i++)
		if (strcmp(epoch->meta->events[i].info.name, name) == 0 &&
		    epoch->meta->events[i].samples)
			return &epoch->meta->events[i].info;
	return NULL;
}

static void check_skids(const struct hp_profiles *profiles, const struct hp_event_info *taken)
{
	for (size_t i = 0; i < profiles->epochs.count; i++) {
		const struct hp_event_info *info = info_in(&profiles->epochs.at[i], taken->name);

		if (!info || info->skid_instructions == taken->skid_instructions)
			continue;
		hp_profiles_warn(profiles, advice,
				 "samples of %s are %" PRIu32
				 " instructions late in some of the epochs "
				 "and %" PRIu32 " in %s: all are treated as %" PRIu32,
				 taken->name, taken->skid_instructions, info->skid_instructions,
				 profiles->epochs.at[i].stamp, taken->skid_instructions);
		return;
	}
}

/* Each epoch with a clock has its own used for its samples, which needs no warning. */
static void check_clocks(const struct hp_profiles *profiles, const struct hp_loaded_event *event)
{
	const char *without = NULL;
	bool is_any = false;

	if (event->info->unit != HP_UNIT_NS)
		return;
	for (size_t i = 0; i < profiles->epochs.count; i++) {
		const struct hp_loaded_epoch *epoch = &profiles->epochs.at[i];

		if (!info_in(epoch, event->info->name))
			continue;
		if (hp_clock_measurements(&epoch->meta->clock))
			is_any = true;
		else if (!without)
			without = epoch->stamp;
	}
	if (is_any && without)
		hp_profiles_warn(profiles, "leave it out, or record it again",
				 "the clock of %s was not measured, so cycles and stalls of the "
				 "epochs together are not known",
				 without);
}

void hp_profiles_check_mixture(const struct hp_profiles *profiles)
{
	size_t event = hp_profiles_time_event(profiles);

	if (profiles->epochs.count < 2 || event == profiles->events.count)
		return;
	check_cpus(profiles);
	check_skids(profiles, profiles->events.at[event].info);
	check_clocks(profiles, &profiles->events.at[event]);
}
