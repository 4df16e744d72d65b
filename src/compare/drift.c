/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drift.h"

#include "lineage.h"
#include "tuning.h"

#include <math.h>
#include <string.h>

/* --- occasions ------------------------------------------------------------------------------- */

/* The runs of one epoch. */
struct moment {
	uint64_t start_ns;
	uint64_t end_ns;
	size_t group;	  /* epochs with the same builds */
	double cost;	  /* mean of the logarithms of its runs' costs */
	double reference; /* the same for the reference loop; NAN: unknown */
	double runs;
};

/* An unknown cost is 0, whose logarithm makes the mean infinite. */
double drift_reference(const struct hp_epoch_meta *meta)
{
	double sum = 0;

	for (size_t i = 0; i < meta->run_count; i++)
		sum += log((double)meta->runs[i].reference_begin_ns) +
		       log((double)meta->runs[i].reference_end_ns);
	return meta->run_count && isfinite(sum) ? sum / (2 * (double)meta->run_count) : NAN;
}

/* For time, what the kernel counted for the run; for other events, the samples, equal for each
 * run. */
static double cost_of(const struct hp_epoch_meta *meta, double sampled, const struct hp_run *run)
{
	double cost = sampled > 0 ? sampled / (double)meta->run_count
				  : (double)run->user_ns + (double)run->system_ns;

	return cost / (run->work > 0 ? run->work : 1);
}

/* `sampled`: in all runs; 0 for time. */
static struct moment moment_of(const struct hp_epoch_meta *meta, double sampled, size_t group)
{
	struct moment moment = {
		.start_ns = meta->start_ns,
		.end_ns = meta->end_ns,
		.group = group,
		.runs = (double)meta->run_count,
		.reference = drift_reference(meta),
	};

	for (size_t i = 0; i < meta->run_count; i++)
		moment.cost += log(cost_of(meta, sampled, &meta->runs[i])) / moment.runs;
	return moment;
}

static int compare_moments(const void *left, const void *right)
{
	const struct moment *a = left;
	const struct moment *b = right;
	int order = (a->group > b->group) - (a->group < b->group);

	return order ? order : (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Merges consecutive moments into the first one. Returns how many are left. */
static size_t join_moments(struct moment *moments, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(moments, count, sizeof(*moments), compare_moments);
	for (size_t i = 1; i < count; i++) {
		struct moment *last = &moments[kept];
		const struct moment *next = &moments[i];
		double runs = last->runs + next->runs;

		if (next->group != last->group || next->start_ns > last->end_ns + occasion_gap_ns) {
			moments[++kept] = *next;
			continue;
		}
		last->cost += (next->cost - last->cost) * next->runs / runs;
		last->reference += (next->reference - last->reference) * next->runs / runs;
		last->runs = runs;
		if (next->end_ns > last->end_ns)
			last->end_ns = next->end_ns;
	}
	return count ? kept + 1 : 0;
}

/* --- what they differ by --------------------------------------------------------------------- */

struct squares {
	double sum;
	double freedom;
};

/* Sums of squares around each group's mean. */
static struct squares squares_of(const struct moment *moments, size_t count, double slope)
{
	struct squares squares = { 0 };
	size_t end;

	for (size_t first = 0; first < count; first = end) {
		double mean = 0;
		double square = 0;
		double known = 0;

		for (end = first; end < count && moments[end].group == moments[first].group;
		     end++) {
			double level = moments[end].cost;

			if (slope > 0)
				level -= slope * moments[end].reference;
			if (!isfinite(level))
				continue;
			known++;
			square += (level - mean) * (level - mean) * (known - 1) / known;
			mean += (level - mean) / known;
		}
		squares.sum += square;
		squares.freedom += known > 1 ? known - 1 : 0;
	}
	return squares;
}

static double variance_of(const struct squares *squares, double assumed)
{
	return (squares->sum + assumed * assumed * assumed_drift_freedom) /
	       (squares->freedom + assumed_drift_freedom);
}

/* --- the sides ------------------------------------------------------------------------------- */

static double sampled_of(const struct sides *sides, const struct replicate *replicate)
{
	return sides->unit == HP_UNIT_NS ? 0 : replicate->cost;
}

static void list_side(const struct sides *sides, const struct side *side, struct moment *moments,
		      size_t *count)
{
	for (size_t i = 0; i < side->replicates.count; i++) {
		const struct replicate *replicate = &side->replicates.at[i];

		moments[(*count)++] = moment_of(replicate->meta, sampled_of(sides, replicate), 0);
	}
}

/* The variance of a side's mean, in units of that of one occasion; and its mean reference. */
static double weigh_side(const struct sides *sides, const struct side *side, double *reference,
			 bool *enough)
{
	struct moment *moments =
		hp_arena_array(sides->arena, side->replicates.count, sizeof(*moments));
	size_t count = 0;
	double runs = 0;
	double square = 0;

	*enough = moments != NULL;
	if (!moments)
		return 0;
	list_side(sides, side, moments, &count);
	*reference = 0;
	count = join_moments(moments, count);
	for (size_t i = 0; i < count; i++) {
		double weight = fmax(1, moments[i].runs);

		runs += weight;
		square += weight * weight;
		*reference += weight * moments[i].reference;
	}
	*reference /= runs;
	return square / (runs * runs);
}

/* --- all together ---------------------------------------------------------------------------- */

/* The compared event's total in an earlier epoch; 0 for time. */
static double sampled_before(const struct sides *sides, const struct hp_epoch_meta *meta)
{
	for (size_t i = 0; i < meta->event_count && sides->unit != HP_UNIT_NS; i++)
		if (strcmp(meta->events[i].info.name, sides->event) == 0)
			return (double)meta->events[i].period_total;
	return 0;
}

/* Lists the base's epochs and the earlier ones that were found. The base's belong to the group with
 * the same builds. */
static struct moment *list_moments(const struct sides *sides, const struct lineage *lineage,
				   size_t *count)
{
	const struct side *base = &sides->at[HP_BASE];
	size_t room = base->replicates.count + lineage->found.count;
	struct moment *moments = hp_arena_array(sides->arena, room, sizeof(*moments));
	size_t group = lineage->group_count;

	*count = 0;
	for (size_t i = 0; moments && i < lineage->found.count; i++) {
		const struct lineage_epoch *found = &lineage->found.at[i];
		const struct hp_epoch_meta *meta = hp_epoch_meta(found->epoch);

		if (!meta->run_count)
			continue;
		moments[(*count)++] = moment_of(meta, sampled_before(sides, meta), found->group);
		if (group == lineage->group_count &&
		    lineage_are_alike(found->epoch, base->replicates.at[0].epoch))
			group = found->group;
	}
	for (size_t i = 0; moments && i < base->replicates.count; i++) {
		const struct replicate *replicate = &base->replicates.at[i];

		if (replicate->meta->run_count)
			moments[(*count)++] =
				moment_of(replicate->meta, sampled_of(sides, replicate), group);
	}
	return moments;
}

static struct hp_error *conclude(const struct sides *sides, const struct lineage *lineage,
				 struct drift *drift)
{
	size_t count;
	struct moment *moments = list_moments(sides, lineage, &count);
	double references[HP_SIDES];
	double weight = 0;
	struct squares raw;
	struct squares left;
	struct squares used;
	double assumed;
	double square;
	double doubt;

	for (size_t side = 0; side < HP_SIDES; side++) {
		bool enough;

		weight += weigh_side(sides, &sides->at[side], &references[side], &enough);
		if (!moments || !enough)
			return hp_error_create_no_memory();
	}
	count = join_moments(moments, count);
	raw = squares_of(moments, count, 0);
	left = squares_of(moments, count, DRIFT_SLOPE);
	drift->moved = references[HP_CANDIDATE] - references[HP_BASE];
	/* The reference is used if costs vary less around what it predicts than around no
	 * change. */
	drift->by_reference = isfinite(drift->moved) &&
			      !(left.freedom >= ENOUGH_TO_DOUBT && raw.sum < left.sum);
	used = drift->by_reference ? left : raw;
	assumed = drift->by_reference ? assumed_drift_left : assumed_drift;
	square = weight * variance_of(&used, assumed);
	doubt = drift->by_reference ? DRIFT_SLOPE_DEVIATION * drift->moved : 0;
	drift->deviation = sqrt(square + doubt * doubt);
	drift->freedom = assumed_drift_freedom + used.freedom;
	drift->occasions = (size_t)(drift->freedom - assumed_drift_freedom);
	drift->occasions += drift->occasions ? 1 : 0;
	/* On a machine whose occasions differ less, procedures differ less, too. */
	drift->shares = assumed_share_drift * sqrt(square) / assumed;
	return NULL;
}

struct hp_error *drift_learn(const struct sides *sides,
			     const struct hp_compare_epochs compared[HP_SIDES], struct drift *drift)
{
	struct lineage lineage = { 0 };
	struct hp_error *error = NULL;

	*drift = (struct drift){ .moved = NAN };
	if (compared)
		error = lineage_find(sides, compared, MOST_DRIFT_EPOCHS, &lineage);
	if (!error)
		error = conclude(sides, &lineage, drift);
	lineage_clear(&lineage);
	return error;
}
