/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common_error.h"
#include "image_counts.h"
#include "tuning.h"

#include <math.h>

double counts_uncovered(const struct hp_inference *inference, const struct hp_loaded_image *image)
{
	size_t event = hp_profiles_time_event(inference->profiles);
	double told = counts_told_share(inference);
	double all;

	if (event == inference->profiles->events.count)
		return 1;
	all = image->tallies[event].weight;
	return 1 - told * (1 - (all > 0 ? image->uncovered[event].weight / all : 0));
}

/* The deviation of an error that is at most `share`, in one direction. In most cases the real
 * error is less than half of that. */
static double deviation_within(double share)
{
	return bias_within * log1p(share) / HP_NORMAL_90;
}

/* Windows slow the program down, and a part of that falls within windows (taking samples, cold
 * caches), so their time is a little slower than the rest. Three costs are excluded: stops, what
 * copies take from windows and other time alike, and the losses of windows whose time was measured
 * without them. */
static double disturbed_deviation(const struct hp_inference *inference)
{
	double counted_ns = (double)hp_window_evidence_counted(&inference->windows.sum).time_ns;
	const struct hp_window_price *price = &inference->windows.sum.price;
	double lost_ns = fmax((double)price->lost_ns - (double)price->aside_ns, 0);

	return counted_ns > 0 ? deviation_within(disturbed_in_windows * lost_ns / counted_ns) : 0;
}

/* While a copy runs, the program is slower because CPUs share resources; how much is not measured
 * here. Windows include this effect where other copies run beside them, which is rarer than beside
 * the rest of the time if there is only one window now and then. */
static double beside_deviation(const struct hp_inference *inference)
{
	const struct hp_window_price *price = &inference->windows.sum.price;
	double counted_ns = (double)hp_window_evidence_counted(&inference->windows.sum).time_ns;
	double all, seen;

	if (!price->target_ns || !(counted_ns > 0))
		return 0;
	all = fmin((double)price->replay_ns / (double)price->target_ns, 1);
	seen = fmin((double)price->beside_ns / counted_ns, 1);
	return deviation_within(slower_beside * fabs(all - seen));
}

/* The part of the intended window time that was not counted because some copies left the
 * original's path, or reached a call that copies cannot make. The code that ran in this time was
 * counted too seldom, by no more than this share. */
static double lost_deviation(const struct hp_inference *inference)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	struct hp_window_group absolute = hp_window_evidence_counted(sum);
	struct hp_window_group relative = hp_window_evidence_relative(sum);
	double windows = (double)(absolute.windows + relative.windows);
	/* From the first sample to the last. */
	double wanted_ns = ((double)sum->samples - windows) * HP_WINDOW_SAMPLE_NS;
	double counted_ns = (double)(absolute.time_ns + relative.time_ns);

	return counted_ns > 0 && wanted_ns > counted_ns
		       ? deviation_within(wanted_ns / counted_ns - 1)
		       : 0;
}

double counts_common_deviation(const struct hp_inference *inference, double uncovered)
{
	const struct hp_windows *windows = &inference->windows;

	return hypot(hypot(hypot(least_count_deviation, windows->young),
			   fmax(fmax(uncovered, windows->without), windows->truncated)),
		     hypot(hypot(disturbed_deviation(inference), beside_deviation(inference)),
			   lost_deviation(inference)));
}
