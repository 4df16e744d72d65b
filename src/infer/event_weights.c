/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event_weights.h"

#include <hpcprof/base/cleanup.h>

#include <stdlib.h>

/* Of the windows of a group, as their counts are weighted: see balance.h. */
static double weight_of_group(const struct hp_windows *windows, size_t group)
{
	double weight = 0;

	for (size_t i = 0; i < HP_EVIDENCE_WINDOWS; i++)
		weight += windows->values[i][group];
	return weight;
}

static void add_instructions(const struct hp_counted *items, size_t count,
			     double sums[HP_EVIDENCE_GROUPS])
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS && items[i].kind == HP_COUNTED_BLOCK; j++)
			sums[j] += items[i].instructions * (double)items[i].counts[j];
}

/* By group: what is simulated there stands for so many instructions. */
struct stands {
	double simulated[HP_EVIDENCE_GROUPS];
	double executed[HP_EVIDENCE_GROUPS];
};

/* Number of windows in those of the group; parts have the same ones. */
static double windows_in(const struct hp_window_stratum *stratum, size_t window)
{
	double count = 0;

	for (size_t i = 0; i < HP_WINDOW_PARTS; i++)
		count += (double)(stratum->groups[window * HP_WINDOW_PARTS + i].windows +
				  stratum->relative[window * HP_WINDOW_PARTS + i].windows);
	return count;
}

static double simulated_in(const struct stands *stands, size_t window)
{
	double sum = 0;

	for (size_t i = 0; i < HP_WINDOW_PARTS; i++)
		sum += stands->simulated[window * HP_WINDOW_PARTS + i];
	return sum;
}

/* Of the windows in a group some may not have been simulated: how many were is known of all groups
 * together, if at all. */
static void leave_not_simulated(const struct hp_window_stratum *stratum, struct stands *stands)
{
	double windows = 0, simulated = 0, followed = (double)stratum->latencies[HP_LATENCIES];

	for (size_t i = 0; i < HP_EVIDENCE_WINDOWS; i++) {
		windows += windows_in(stratum, i);
		simulated += simulated_in(stands, i);
	}
	if (!(followed > 0) || followed >= windows)
		return;
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		if (windows_in(stratum, i / HP_WINDOW_PARTS) > 0)
			stands->executed[i] *= simulated_in(stands, i / HP_WINDOW_PARTS) /
					       simulated * followed /
					       windows_in(stratum, i / HP_WINDOW_PARTS);
}

/* A stretch stands for the window up to where the next one begins, also through parts without one. */
static void join_parts(struct stands *stands)
{
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i += HP_WINDOW_PARTS)
		for (size_t j = i, last = i; j < i + HP_WINDOW_PARTS; j++) {
			if (stands->simulated[j] > 0 || j == i) {
				last = j;
				continue;
			}
			stands->executed[last] += stands->executed[j];
			stands->executed[j] = 0;
		}
}

static struct stands stands_of(const struct hp_windows *windows, size_t number)
{
	const struct hp_window_stratum *stratum = &windows->sum.strata[number];
	double scale = windows->scales[number] > 0 ? windows->scales[number] : 1;
	struct stands stands = { 0 };

	add_instructions(stratum->items, stratum->item_count, stands.executed);
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		stands.executed[i] *= scale * weight_of_group(windows, i);
	add_instructions(stratum->events, stratum->event_count, stands.simulated);
	join_parts(&stands);
	leave_not_simulated(stratum, &stands);
	return stands;
}

double (*event_weights_make(const struct hp_windows *windows))[HP_EVIDENCE_GROUPS]
{
	size_t count = windows->sum.stratum_count;
	double(*weights)[HP_EVIDENCE_GROUPS] = calloc(count + 1, sizeof(*weights));
	_cleanup_free_ struct stands *all = calloc(count + 1, sizeof(*all));
	double simulated = 0, executed = 0;

	if (!weights || !all) {
		free(weights);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		all[i] = stands_of(windows, i);
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++) {
			simulated += all[i].simulated[j];
			executed += all[i].simulated[j] > 0 ? all[i].executed[j] : 0;
		}
	}
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			weights[i][j] = all[i].simulated[j] > 0 && all[i].executed[j] > 0
						? all[i].executed[j] / all[i].simulated[j] *
							  simulated / executed
						: 1;
	return weights;
}
