/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "matches.h"

#include <hpcprof/base/number.h>

static uint64_t cpu_now(const struct matches *matches)
{
	struct timespec now;

	if (clock_gettime(matches->clock, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The CPU time since slow-down began that the shadow would not have taken otherwise. */
static uint64_t spare(const struct matches *matches, uint64_t now_ns)
{
	if (matches->slowness <= 1 || now_ns < matches->slow_ns)
		return 0;
	return (uint64_t)((double)(now_ns - matches->slow_ns) * (1 - 1 / matches->slowness));
}

uint64_t matches_now(const struct matches *matches)
{
	uint64_t now_ns = cpu_now(matches);

	return now_ns - spare(matches, now_ns) - matches->spare_ns;
}

void matches_slow_down(struct matches *matches, double times)
{
	uint64_t now_ns = cpu_now(matches);

	matches->spare_ns += spare(matches, now_ns);
	matches->slow_ns = now_ns;
	matches->slowness = times;
}

void matches_begin(struct matches *matches, pid_t pid, const struct hp_engine_sample *samples,
		   size_t count, size_t wanted, const struct matches_past *past)
{
	*matches = (struct matches){
		.samples = samples,
		.wanted = wanted < count ? wanted : count,
		.past = *past,
		.end = SIZE_MAX,
		.kept = SIZE_MAX,
		/* All counters start at 0, including those of blocks that are not counted yet. */
		.start = { .sample = SIZE_MAX, .counts.count_starts = UINT32_MAX },
	};
	if (matches->wanted > 1)
		matches->part_ns = (samples[matches->wanted - 1].time_ns - samples[0].time_ns) /
				   HP_WINDOW_PARTS;
	if (count < 2 || clock_getcpuclockid(pid, &matches->clock) != 0)
		return;
	matches->start_ns = matches_now(matches);
	if (matches->start_ns && samples[count - 1].time_ns > samples[0].time_ns)
		matches->watch_ns = WATCHED_DISTANCES *
				    (samples[count - 1].time_ns - samples[0].time_ns) / (count - 1);
}

void matches_set_end(struct matches *matches)
{
	matches->end = matches->wanted - 1;
}

bool matches_is_end(const struct matches *matches, size_t sample)
{
	return sample == matches->end;
}

void matches_clear(struct matches *matches)
{
	for (size_t i = 0; i < WATCHED_MATCHES; i++)
		shadow_counts_free(&matches->watched[i].counts);
	for (size_t i = 0; i < HP_ARRAY_COUNT(matches->believed); i++)
		shadow_counts_free(&matches->believed[i].counts);
}

bool matches_is_watched(const struct matches *matches, size_t sample)
{
	for (size_t i = 0; i < matches->watched_count; i++)
		if (matches->watched[i].sample == sample)
			return true;
	return false;
}

static const struct match *newest_believed(const struct matches *matches)
{
	return matches->believed_count ? &matches->believed[matches->believed_count - 1] : NULL;
}

static const struct match *newest(const struct matches *matches)
{
	return matches->watched_count ? &matches->watched[matches->watched_count - 1]
				      : newest_believed(matches);
}

size_t matches_newest(const struct matches *matches)
{
	const struct match *match = newest(matches);

	return match ? match->sample : SIZE_MAX;
}

/* The original's time from the newest match to the sample; `since_ns`: the shadow's time of that
 * match. In rounds only the beginning is certain. */
static double distance_ns(const struct matches *matches, size_t sample, uint64_t *since_ns)
{
	const struct match *since = matches->is_in_rounds ? NULL : newest(matches);

	*since_ns = since ? since->cpu_ns : matches->start_ns;
	return (double)(matches->samples[sample].time_ns -
			(since ? matches->samples[since->sample].time_ns : 0));
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

/* Pace as far as known; 0: unknown. */
static double known_pace(const struct matches *matches)
{
	return matches->pace > 0 ? matches->pace : matches->past.pace;
}

/* Earlier windows may have been slow for a reason of their own, such as new code or calls that map memory,
 * and if this one's matches were taken for too early, its pace would never be known. For the same reason a
 * pace of this window that is of new code does not count in full. */
static double least_pace(const struct matches *matches)
{
	double pace = matches->pace > 0 ? lesser(matches->pace, slowest_pace)
					: lesser(matches->past.pace, likely_pace);

	return least_of_pace * greater(pace, 1);
}

bool matches_is_too_early(const struct matches *matches, size_t sample, uint64_t now_ns)
{
	double pace = least_pace(matches);
	uint64_t since_ns;
	double ns = distance_ns(matches, sample, &since_ns);

	return matches->watch_ns && (double)(now_ns - since_ns) < pace * ns;
}

bool matches_can_be(const struct matches *matches, size_t sample, uint64_t now_ns)
{
	return !matches_is_too_early(matches, sample, now_ns) ||
	       (matches_is_end(matches, sample) && !matches->is_in_rounds);
}

bool matches_is_too_late(const struct matches *matches, size_t sample, uint64_t now_ns,
			 uint64_t blocks)
{
	double pace = most_of_pace * greater(known_pace(matches), 1);
	uint64_t since_ns;
	double ns = distance_ns(matches, sample, &since_ns);

	return matches->watch_ns &&
	       (double)(now_ns - since_ns) >
		       pace * ns + most_delay_ns + new_block_ns * (double)blocks;
}

uint64_t matches_lost_ns(const struct matches *matches, size_t next, uint64_t seen_ns,
			 uint64_t blocks)
{
	/* In rounds it is not known before the window's end: replays of earlier windows met fewer of the
	 * states that are looked for, and each takes time. */
	bool is_known = (matches->is_in_rounds ? matches->pace : known_pace(matches)) > 0;
	/* A first pace beyond that is of new code, which is allowed for by itself. */
	double pace = is_known ? lesser(greater(known_pace(matches), 1), slowest_pace)
			       : slowest_pace;
	double patience_ns = LOST_DISTANCES * pace * (double)matches->watch_ns / WATCHED_DISTANCES +
			     most_delay_ns + new_block_ns * (double)blocks;
	uint64_t since_ns;
	double ns = distance_ns(matches, next, &since_ns);
	uint64_t due_ns = since_ns + (uint64_t)(pace * ns);

	if (!matches->watch_ns || !(is_known || matches->is_in_rounds))
		return UINT64_MAX;
	return (due_ns > seen_ns ? due_ns : seen_ns) + (uint64_t)patience_ns;
}

static uint64_t watch_until(const struct matches *matches, size_t sample, uint64_t now_ns)
{
	uint64_t since_ns;
	double ns = distance_ns(matches, sample, &since_ns);
	double pace = known_pace(matches) > 0 ? greater(known_pace(matches), 1) : likely_pace;
	uint64_t likely_ns;

	if (matches_is_end(matches, sample)) {
		/* The rounds may be alike in all that is known of the end. */
		bool is_early = matches->is_in_rounds &&
				watched_of_pace * (double)(now_ns - since_ns) < pace * ns;

		if (matches_is_too_early(matches, sample, now_ns))
			pace = slowest_pace;
		else if (!is_early)
			return now_ns + matches->watch_ns;
	}
	likely_ns = since_ns + (uint64_t)(watched_of_pace * pace * ns);
	return matches->watch_ns + (likely_ns > now_ns ? likely_ns : now_ns);
}

uint64_t matches_left_to_watch(const struct matches *matches, uint64_t now_ns)
{
	uint64_t until_ns = now_ns;

	for (size_t i = 0; i < matches->watched_count; i++)
		if (matches->watched[i].until_ns > until_ns)
			until_ns = matches->watched[i].until_ns;
	return until_ns - now_ns;
}

/* --- the ones that are watched ---------------------------------------------------------------- */

/* The memory of its counters is kept at the end of the array, to be reused. */
static void remove_watched(struct matches *matches, size_t index)
{
	struct match removed = matches->watched[index];

	for (size_t i = index; i + 1 < matches->watched_count; i++)
		matches->watched[i] = matches->watched[i + 1];
	matches->watched[--matches->watched_count] = removed;
}

bool matches_add(struct matches *matches, size_t sample, uint64_t now_ns,
		 const struct code_cache *cache)
{
	uint64_t until_ns = watch_until(matches, sample, now_ns);
	struct match *match;

	if (matches->watched_count == WATCHED_MATCHES)
		remove_watched(matches, 0);
	match = &matches->watched[matches->watched_count++];
	match->sample = sample;
	match->cpu_ns = now_ns;
	match->until_ns = until_ns;
	matches->late = 0;
	return shadow_counts_take(&match->counts, cache);
}

bool matches_is_kept(const struct matches *matches, size_t sample)
{
	return sample != SIZE_MAX && sample == matches->kept && !matches->is_in_rounds;
}

void matches_meet_again(struct matches *matches)
{
	if (!matches->is_in_rounds)
		matches->pace = 0;
	matches->is_in_rounds = true;
}

void matches_take_back(struct matches *matches, size_t sample)
{
	for (size_t i = 0; i < matches->watched_count; i++)
		if (matches->watched[i].sample == sample) {
			remove_watched(matches, i);
			return;
		}
}

void matches_add_late(struct matches *matches)
{
	if (++matches->late < MOST_LATE)
		return;
	matches->late = 0;
	if (matches->watched_count)
		matches->watched_count--;
	else if (matches->believed_count)
		matches->believed_count--;
}

static void swap(struct match *left, struct match *right)
{
	struct match swapped = *left;

	*left = *right;
	*right = swapped;
}

/* The newest believed match ends a part, or begins the first one, so the next one does not replace
 * it. */
static bool is_cut(const struct matches *matches)
{
	size_t count = matches->believed_count;

	if (count < 2)
		return true;
	return count <= HP_WINDOW_PARTS && matches->part_ns &&
	       matches->samples[matches->believed[count - 1].sample].time_ns -
			       matches->samples[matches->believed[count - 2].sample].time_ns >=
		       matches->part_ns;
}

static void learn_pace(struct matches *matches, uint64_t shadow_ns, uint64_t original_ns)
{
	double pace = (double)shadow_ns / (double)original_ns;

	if (!(matches->pace > 0) || pace < matches->pace)
		matches->pace = pace;
}

bool matches_are_complete(const struct matches *matches)
{
	const struct match *last = newest_believed(matches);

	return last && (matches->is_in_rounds ? matches_is_end(matches, last->sample)
					      : last->sample + 1 >= matches->wanted);
}

/* Believes the oldest watched match. */
static void believe(struct matches *matches)
{
	struct match *oldest = &matches->watched[0];
	const struct match *before = newest_believed(matches);
	uint64_t time_ns = matches->samples[oldest->sample].time_ns;

	if (matches->kept == SIZE_MAX && matches->watch_ns)
		matches->kept = oldest->sample;
	if (before && matches->watch_ns && !matches->is_in_rounds)
		learn_pace(matches, oldest->cpu_ns - before->cpu_ns,
			   time_ns - matches->samples[before->sample].time_ns);
	/* If the oldest was too early, this one only seems to be slow. */
	if (((before && !matches->is_in_rounds) || matches_is_end(matches, oldest->sample)) &&
	    matches->watch_ns)
		learn_pace(matches, oldest->cpu_ns - matches->start_ns, time_ns);
	if (is_cut(matches))
		matches->believed_count++;
	swap(oldest, &matches->believed[matches->believed_count - 1]);
	remove_watched(matches, 0);
}

bool matches_tell(struct matches *matches, size_t sample, const struct code_cache *cache)
{
	struct match *match;

	matches->is_told = true;
	if (is_cut(matches))
		matches->believed_count++;
	match = &matches->believed[matches->believed_count - 1];
	match->sample = sample;
	match->cpu_ns = matches_now(matches);
	return shadow_counts_take(&match->counts, cache);
}

void matches_settle(struct matches *matches, uint64_t now_ns)
{
	while (matches->watched_count && !matches_are_complete(matches)) {
		struct match *oldest = &matches->watched[0];
		/* A process that is gone has a CPU time of 0. */
		bool is_over = matches->watch_ns ? now_ns >= oldest->until_ns
						 : matches->watched_count > 1;

		if (!is_over)
			return;
		believe(matches);
	}
}

void matches_finish(struct matches *matches, uint64_t now_ns)
{
	const struct match *last;

	matches_settle(matches, now_ns);
	last = newest(matches);
	if (!last || !matches_is_end(matches, last->sample))
		return;
	while (matches->watched_count)
		believe(matches);
}

static bool has_end(const struct matches *matches)
{
	const struct match *last = newest_believed(matches);

	return last && matches_is_end(matches, last->sample);
}

void matches_remember(const struct matches *matches, struct matches_past *past)
{
	if (matches->pace > 0)
		past->pace = past->pace > 0 ? (past->pace + matches->pace) / 2 : matches->pace;
	if (has_end(matches))
		past->was_in_rounds = matches->is_in_rounds;
}

size_t matches_moments(const struct matches *matches,
		       const struct match *moments[HP_WINDOW_PARTS + 1])
{
	bool needs_end = matches->is_in_rounds ||
			 (matches->past.was_in_rounds && !matches->is_told);
	size_t count = matches->is_in_rounds ? 1 : matches->believed_count;

	if (needs_end && !has_end(matches))
		return 0;

	for (size_t i = 0; i < count; i++)
		moments[i] = &matches->believed[i];
	if (has_end(matches)) {
		moments[0] = &matches->start;
		moments[count == 1 ? count++ : count - 1] = newest_believed(matches);
	}
	return count < 2 ? 0 : count;
}
