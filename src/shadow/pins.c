/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pins.h"

#include <hpcprof/base/number.h>

enum {
	/* In distances of samples; the shadow may be three times slower than the original. */
	WATCH = 3,
	/* So many in a row are not all wrong. */
	MOST_LATE = 3,
};
/* A shadow is hardly ever faster than the original, but the original's clock counted page faults
 * that copying it caused. Of its pace so far, phases differ. */
static const double least_pace = 0.25;
static const double least_of_pace = 0.33;
/* Slower phases, and on top of them code that it meets for the first time: stops, a few a block. */
static const double most_of_pace = 4;
static const double most_delay_ns = 30e6;
static const double block_ns = 300e3;
/* How far behind the moment that its pace so far makes likely a match is watched. */
static const double watched_of_pace = 1.5;
/* Before any is known. */
static const double likely_pace = 2;

uint64_t pins_now(const struct pins *pins)
{
	struct timespec now;

	if (clock_gettime(pins->clock, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void pins_begin(struct pins *pins, pid_t pid, const struct hp_engine_sample *samples, size_t count,
		size_t wanted, double usual_pace)
{
	*pins = (struct pins){
		.samples = samples,
		.wanted = wanted < count ? wanted : count,
		.usual_pace = usual_pace,
	};
	if (pins->wanted > 1)
		pins->part_ns =
			(samples[pins->wanted - 1].time_ns - samples[0].time_ns) / HP_WINDOW_PARTS;
	if (count < 2 || clock_getcpuclockid(pid, &pins->clock) != 0)
		return;
	pins->start_ns = pins_now(pins);
	if (pins->start_ns && samples[count - 1].time_ns > samples[0].time_ns)
		pins->watch_ns =
			WATCH * (samples[count - 1].time_ns - samples[0].time_ns) / (count - 1);
}

void pins_end(struct pins *pins)
{
	for (size_t i = 0; i < PINS; i++)
		shadow_counts_free(&pins->watched[i].counts);
	for (size_t i = 0; i < HP_ARRAY_COUNT(pins->believed); i++)
		shadow_counts_free(&pins->believed[i].counts);
}

bool pins_is_watched(const struct pins *pins, size_t sample)
{
	for (size_t i = 0; i < pins->watched_count; i++)
		if (pins->watched[i].sample == sample)
			return true;
	return false;
}

static const struct pin *newest_believed(const struct pins *pins)
{
	return pins->believed_count ? &pins->believed[pins->believed_count - 1] : NULL;
}

static const struct pin *newest(const struct pins *pins)
{
	return pins->watched_count ? &pins->watched[pins->watched_count - 1]
				   : newest_believed(pins);
}

size_t pins_newest(const struct pins *pins)
{
	const struct pin *pin = newest(pins);

	return pin ? pin->sample : SIZE_MAX;
}

/* From the newest match to the sample, in the original's time; and when that was in the shadow's. */
static double distance_ns(const struct pins *pins, size_t sample, uint64_t *since_ns)
{
	const struct pin *since = newest(pins);

	*since_ns = since ? since->cpu_ns : pins->start_ns;
	return (double)(pins->samples[sample].time_ns -
			(since ? pins->samples[since->sample].time_ns : 0));
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

/* As far as is known; 0 not at all. */
static double known_pace(const struct pins *pins)
{
	return pins->pace > 0 ? pins->pace : pins->usual_pace;
}

bool pins_is_too_early(const struct pins *pins, size_t sample, uint64_t now_ns)
{
	double pace = greater(least_of_pace * known_pace(pins), least_pace);
	uint64_t since_ns;
	double ns = distance_ns(pins, sample, &since_ns);

	return pins->watch_ns && (double)(now_ns - since_ns) < pace * ns;
}

bool pins_is_too_late(const struct pins *pins, size_t sample, uint64_t now_ns, uint64_t blocks)
{
	double pace = most_of_pace * greater(known_pace(pins), 1);
	uint64_t since_ns;
	double ns = distance_ns(pins, sample, &since_ns);

	return pins->watch_ns &&
	       (double)(now_ns - since_ns) > pace * ns + most_delay_ns + block_ns * (double)blocks;
}

static uint64_t watch_until(const struct pins *pins, size_t sample, uint64_t now_ns)
{
	uint64_t since_ns;
	double ns = distance_ns(pins, sample, &since_ns);
	double pace = known_pace(pins) > 0 ? greater(known_pace(pins), 1) : likely_pace;
	uint64_t likely_ns = since_ns + (uint64_t)(watched_of_pace * pace * ns);

	return pins->watch_ns + (likely_ns > now_ns ? likely_ns : now_ns);
}

uint64_t pins_left_to_watch(const struct pins *pins, uint64_t now_ns)
{
	uint64_t until_ns = now_ns;

	for (size_t i = 0; i < pins->watched_count; i++)
		if (pins->watched[i].until_ns > until_ns)
			until_ns = pins->watched[i].until_ns;
	return until_ns - now_ns;
}

/* --- the ones that are watched ------------------------------------------------------------------
 */

/* The memory of its counters goes to the end, to be used again. */
static void remove_watched(struct pins *pins, size_t index)
{
	struct pin removed = pins->watched[index];

	for (size_t i = index; i + 1 < pins->watched_count; i++)
		pins->watched[i] = pins->watched[i + 1];
	pins->watched[--pins->watched_count] = removed;
}

bool pins_add(struct pins *pins, size_t sample, uint64_t now_ns, const struct code_cache *cache)
{
	uint64_t until_ns = watch_until(pins, sample, now_ns);
	struct pin *pin;

	if (pins->watched_count == PINS)
		remove_watched(pins, 0);
	pin = &pins->watched[pins->watched_count++];
	pin->sample = sample;
	pin->cpu_ns = now_ns;
	pin->until_ns = until_ns;
	pins->late = 0;
	return shadow_counts_take(&pin->counts, cache);
}

void pins_take_back(struct pins *pins, size_t sample)
{
	for (size_t i = 0; i < pins->watched_count; i++)
		if (pins->watched[i].sample == sample) {
			remove_watched(pins, i);
			return;
		}
}

void pins_add_late(struct pins *pins)
{
	if (++pins->late < MOST_LATE)
		return;
	pins->late = 0;
	if (pins->watched_count)
		pins->watched_count--;
	else if (pins->believed_count)
		pins->believed_count--;
}

static void swap(struct pin *left, struct pin *right)
{
	struct pin swapped = *left;

	*left = *right;
	*right = swapped;
}

/* The newest that is believed ends a part, or begins the first: the next one does not take its
 * place. */
static bool is_cut(const struct pins *pins)
{
	size_t count = pins->believed_count;

	if (count < 2)
		return true;
	return count <= HP_WINDOW_PARTS && pins->part_ns &&
	       pins->samples[pins->believed[count - 1].sample].time_ns -
			       pins->samples[pins->believed[count - 2].sample].time_ns >=
		       pins->part_ns;
}

static void learn_pace(struct pins *pins, uint64_t shadow_ns, uint64_t original_ns)
{
	double pace = (double)shadow_ns / (double)original_ns;

	if (!(pins->pace > 0) || pace < pins->pace)
		pins->pace = pace;
}

bool pins_are_complete(const struct pins *pins)
{
	const struct pin *last = newest_believed(pins);

	return last && last->sample + 1 >= pins->wanted;
}

/* Believes the oldest. */
static void believe(struct pins *pins)
{
	struct pin *oldest = &pins->watched[0];
	const struct pin *before = newest_believed(pins);
	uint64_t time_ns = pins->samples[oldest->sample].time_ns;

	if (before && pins->watch_ns) {
		learn_pace(pins, oldest->cpu_ns - before->cpu_ns,
			   time_ns - pins->samples[before->sample].time_ns);
		/* Should that one have been early, this one only seems to be slow. */
		learn_pace(pins, oldest->cpu_ns - pins->start_ns, time_ns);
	}
	if (is_cut(pins))
		pins->believed_count++;
	swap(oldest, &pins->believed[pins->believed_count - 1]);
	remove_watched(pins, 0);
}

void pins_settle(struct pins *pins, uint64_t now_ns)
{
	while (pins->watched_count && !pins_are_complete(pins)) {
		struct pin *oldest = &pins->watched[0];
		/* The clock of one that is gone is 0. */
		bool is_over = pins->watch_ns ? now_ns >= oldest->until_ns
					      : pins->watched_count > 1;

		if (!is_over)
			return;
		believe(pins);
	}
}
