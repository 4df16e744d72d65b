/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How profiles measure time: the event, the clock frequency and the core. */
#include <hpcprof/base/search.h>
#include <hpcprof/isa/machine.h>
#include <hpcprof/profile/profiles.h>

size_t hp_profiles_time_event(const struct hp_profiles *profiles)
{
	size_t in_ns = profiles->events.count;

	for (size_t i = 0; i < profiles->events.count; i++) {
		const struct hp_event_info *info = profiles->events.at[i].info;

		if (info->unit == HP_UNIT_CYCLES)
			return i;
		if (info->unit == HP_UNIT_NS && in_ns == profiles->events.count)
			in_ns = i;
	}
	return in_ns;
}

double hp_profiles_cycles_per_unit(const struct hp_profiles *profiles)
{
	size_t at = hp_profiles_time_event(profiles);
	const struct hp_loaded_event *event;

	if (at == profiles->events.count)
		return 0;
	event = &profiles->events.at[at];
	if (event->info->unit == HP_UNIT_CYCLES)
		return 1;
	return event->lacks_clock || !(event->all.weight > 0)
		       ? 0
		       : event->all.cycles / event->all.weight;
}

const struct hp_cpu *hp_profiles_cpu(const struct hp_profiles *profiles)
{
	static const struct hp_cpu unknown;
	const struct hp_cpu *cpu = &profiles->epochs.at[0].meta->cpu;

	for (size_t i = 1; i < profiles->epochs.count; i++)
		if (!hp_cpu_equal(cpu, &profiles->epochs.at[i].meta->cpu))
			return &unknown;
	return cpu;
}

const struct hp_core *hp_profiles_core(const struct hp_profiles *profiles)
{
	return hp_core_of_cpu(hp_profiles_cpu(profiles));
}

size_t hp_first_located(const struct hp_loaded_part *part, uint64_t address)
{
	return hp_bisect(i, part->located_count, part->located[i].address < address);
}
