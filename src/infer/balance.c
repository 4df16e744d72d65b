/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "balance.h"

#include <hpcprof/base/search.h>
#include <hpcprof/infer/counts.h>
#include "windows.h"
#include "tuning.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/infer/inference.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = HP_EVIDENCE_GROUPS, WINDOWS = HP_EVIDENCE_WINDOWS, PARTS = HP_WINDOW_PARTS };

/* A place in the code, and the time spent there. */
struct place {
	uint32_t image; /* index in the windows' images */
	uint64_t offset;
	unsigned fold;	      /* of its procedure */
	double time;	      /* by all samples */
	double ticks[GROUPS]; /* by samples in windows, multiplied by what they stand for */
};

struct balance {
	const struct hp_inference *inference;
	size_t event;
	HP_VECTOR(struct place) places;
	double time; /* sum over all places, as is the next */
	double ticks;
	double samples;	      /* number of samples in the whole time */
	double ticks_counted; /* number of samples in windows */
	/* Normal equations: products of the ticks of two groups, and of ticks and time. */
	double products[GROUPS][GROUPS];
	double wanted[GROUPS];
	double times[GROUPS];		 /* ns that the groups stand for */
	double matrix[GROUPS][GROUPS];	 /* of the equations that are being solved */
	double without[WINDOWS][GROUPS]; /* [i]: the weights of groups if window i is left out */
};

HP_ORDER_BY_TWO(compare_places, struct place, image, offset);

/* --- places ----------------------------------------------------------------------------------- */

/* The ns of the whole time that one sample within the stratum's windows stands for. */
static double time_of_tick(const struct hp_windows *windows, size_t number)
{
	const struct hp_window_stratum *stratum = &windows->sum.strata[number];
	double ticks = (double)hp_sum_of_items(stratum->ticks, stratum->tick_count, 0);
	double time = 0;

	for (size_t i = 0; i < GROUPS; i++)
		time += windows->scales[number] * (double)stratum->groups[i].time_ns;
	return ticks > 0 ? time / ticks : 0;
}

unsigned balance_fold(uint32_t image, uint64_t procedure)
{
	const uint64_t key[] = { image, procedure };

	return (unsigned)(XXH3_64bits(key, sizeof(key)) % HP_BALANCE_FOLDS);
}

static unsigned fold_at(const struct hp_loaded_part *part, uint32_t image, uint64_t offset)
{
	hp_link_address address = { 0 };

	if (!part->file ||
	    !hp_image_link_address(part->file, (hp_image_offset){ offset }, &address))
		return balance_fold(image, 0);
	return balance_fold(image,
			    hp_image_procedure_at(part->file, address)->owner->address.value);
}

static bool add_ticks(struct balance *balance, uint32_t image, const struct hp_loaded_part *part)
{
	const struct hp_windows *windows = &balance->inference->windows;

	for (size_t i = 0; i < windows->sum.stratum_count; i++) {
		const struct hp_window_stratum *stratum = &windows->sum.strata[i];
		double each = time_of_tick(windows, i);

		for (size_t j = 0; j < stratum->tick_count && each > 0; j++) {
			const struct hp_counted *item = &stratum->ticks[j];
			struct place place = { .image = image, .offset = item->at.value };

			if (item->image != image)
				continue;
			place.fold = fold_at(part, image, place.offset);
			for (size_t k = 0; k < GROUPS; k++) {
				place.ticks[k] = each * (double)item->counts[k];
				balance->ticks += place.ticks[k];
				balance->ticks_counted += (double)item->counts[k];
			}
			if (!hp_vector_push(&balance->places, place))
				return false;
		}
	}
	return true;
}

static bool add_samples(struct balance *balance, uint32_t image, const struct hp_loaded_part *part)
{
	for (size_t i = 0; i < part->count; i++) {
		const struct hp_tally *tally =
			&part->tallies[i * balance->inference->profiles->events.count +
				       balance->event];
		struct place place = {
			.image = image,
			.offset = part->offsets[i],
			.time = tally->weight,
		};

		if (!tally->samples)
			continue;
		place.fold = fold_at(part, image, place.offset);
		balance->time += tally->weight;
		balance->samples += (double)tally->samples;
		if (!hp_vector_push(&balance->places, place))
			return false;
	}
	return true;
}

/* Lists the places of images that are in the report; a filter may have removed others. */
static struct hp_error *find_places(struct balance *balance)
{
	const struct hp_inference *inference = balance->inference;
	const struct hp_window_evidence *sum = &inference->windows.sum;

	for (size_t i = 0; i < inference->profiles->parts.count; i++) {
		const struct hp_loaded_part *part = inference->profiles->parts.at[i];

		for (uint32_t j = 0; j < sum->image_count; j++)
			if (part->image->id.kind == HP_IMAGE_FILE &&
			    hp_image_id_compare(&sum->images[j], &part->image->id) == 0 &&
			    (!add_ticks(balance, j, part) || !add_samples(balance, j, part)))
				return hp_error_create_no_memory();
	}
	if (balance->places.count)
		qsort(balance->places.at, balance->places.count, sizeof(*balance->places.at),
		      compare_places);
	return NULL;
}

/* --- equations -------------------------------------------------------------------------------- */

/* Adds the equation of a place. Its weight is the inverse of the variance that Poisson noise gives
 * to the ticks and to the samples expected there. */
static void add_equation(struct balance *balance, const struct place *place)
{
	double tick = balance->ticks / balance->ticks_counted;
	double variance = (place->time + tick) * (tick + balance->ticks / balance->samples);

	for (size_t i = 0; i < GROUPS; i++) {
		balance->wanted[i] += place->ticks[i] * place->time / variance;
		for (size_t j = 0; j < GROUPS; j++)
			balance->products[i][j] += place->ticks[i] * place->ticks[j] / variance;
	}
}

/* Adds the equations of all places except those of the fold `without` (HP_BALANCE_FOLDS: none). */
static void add_equations(struct balance *balance, unsigned without)
{
	double enough = ticks_of_place * balance->ticks / balance->ticks_counted;
	struct place sum = { 0 };

	memset(balance->products, 0, sizeof(balance->products));
	memset(balance->wanted, 0, sizeof(balance->wanted));
	for (size_t i = 0; i < balance->places.count; i++) {
		const struct place *place = &balance->places.at[i];

		if (place->fold == without)
			continue;
		if (sum.time >= enough || place->image != sum.image) {
			add_equation(balance, &sum);
			sum = (struct place){ .image = place->image };
		}
		/* Scaled so that time and ticks have the same sum over all places. */
		sum.time += place->time * balance->ticks / balance->time;
		for (size_t j = 0; j < GROUPS; j++)
			sum.ticks[j] += place->ticks[j];
	}
	add_equation(balance, &sum);
}

/* Gaussian elimination without pivoting: the matrix is symmetric and has a ridge. */
static void solve(double matrix[GROUPS][GROUPS], double values[GROUPS])
{
	for (size_t i = 0; i < GROUPS; i++) {
		for (size_t j = i + 1; j < GROUPS; j++) {
			double factor = matrix[j][i] / matrix[i][i];

			for (size_t k = i; k < GROUPS; k++)
				matrix[j][k] -= factor * matrix[i][k];
			values[j] -= factor * values[i];
		}
	}
	for (size_t i = GROUPS; i-- > 0;) {
		for (size_t k = i + 1; k < GROUPS; k++)
			values[i] -= matrix[i][k] * values[k];
		values[i] /= matrix[i][i];
	}
}

/* Computes the weights of all groups except those of window `without` (WINDOWS: no exception). */
static void weigh(struct balance *balance, const struct hp_grouped *time, size_t without,
		  double weights[GROUPS])
{
	const double ridge = 1 / (weight_deviation * weight_deviation);
	double all = hp_grouped_sum(time);
	double base = all / (all - (without < WINDOWS ? time->counts[without] : 0));
	double sum = 0;

	/* weight = base * (1 + change): the equations are solved for the changes. */
	for (size_t i = 0; i < GROUPS; i++) {
		weights[i] = i / PARTS == without ? 0 : base * balance->wanted[i];
		for (size_t j = 0; j < GROUPS; j++) {
			bool is_out = i / PARTS == without || j / PARTS == without;

			balance->matrix[i][j] = is_out ? 0 : base * base * balance->products[i][j];
			weights[i] -= balance->matrix[i][j];
		}
		balance->matrix[i][i] += ridge;
	}
	solve(balance->matrix, weights);
	for (size_t i = 0; i < GROUPS; i++) {
		weights[i] = i / PARTS == without ? 0 : fmax(1 + weights[i], least_window_weight);
		sum += weights[i] * balance->times[i];
	}
	for (size_t i = 0; i < GROUPS; i++)
		weights[i] *= all / sum;
}

/* --- pseudo-values ---------------------------------------------------------------------------- */

/* Computes values[i][j]: the count of group j, multiplied by it, is the contribution to
 * pseudo-value i of the estimate. */
static void jackknife(struct balance *balance, struct hp_windows *windows)
{
	const struct hp_grouped time = windows->time;
	double mean[GROUPS] = { 0 };
	double all[GROUPS];
	double count = 0;

	weigh(balance, &time, WINDOWS, all);
	for (size_t i = 0; i < WINDOWS; i++)
		count += time.counts[i] > 0;
	for (size_t i = 0; i < WINDOWS; i++) {
		if (!(time.counts[i] > 0))
			continue;
		weigh(balance, &time, i, balance->without[i]);
		for (size_t j = 0; j < GROUPS; j++)
			mean[j] += balance->without[i][j] / count;
	}
	for (size_t i = 0; i < WINDOWS; i++) {
		bool has_windows = time.counts[i] > 0;

		for (size_t j = 0; j < GROUPS; j++)
			windows->values[i][j] =
				has_windows ? all[j] / count +
						      (count - 1) / count *
							      (mean[j] - balance->without[i][j])
					    : 0;
		windows->time.counts[i] = has_windows ? hp_grouped_sum(&time) / count : 0;
	}
}

/* The sum of all ticks, multiplied by what they stand for and by the weights of their groups. */
static double weighted_ticks(const struct hp_windows *windows, const double weights[GROUPS])
{
	double sum = 0;

	for (size_t i = 0; i < windows->sum.stratum_count; i++) {
		const struct hp_window_stratum *stratum = &windows->sum.strata[i];

		for (size_t j = 0; j < stratum->tick_count; j++)
			for (size_t k = 0; k < GROUPS; k++)
				sum += windows->scales[i] * weights[k] *
				       (double)stratum->ticks[j].counts[k];
	}
	return sum;
}

/* Weights that make ticks fit samples do not show how well they fit elsewhere. So further weights
 * are computed, each without the places of one fold. */
static void cross_validate(struct balance *balance, struct hp_windows *windows)
{
	for (unsigned fold = 0; fold < HP_BALANCE_FOLDS; fold++) {
		double *weights = windows->apart[fold];
		double sum;

		add_equations(balance, fold);
		weigh(balance, &windows->time, WINDOWS, weights);
		sum = weighted_ticks(windows, weights);
		for (size_t j = 0; j < GROUPS && sum > 0; j++)
			weights[j] /= sum;
	}
}

/* Gives all groups the same weight, because samples cannot weight a single window. */
static void share_alike(struct hp_windows *windows)
{
	double ones[GROUPS];
	double sum;

	for (size_t j = 0; j < GROUPS; j++)
		ones[j] = 1;
	sum = weighted_ticks(windows, ones);
	for (unsigned fold = 0; fold < HP_BALANCE_FOLDS; fold++)
		for (size_t j = 0; j < GROUPS; j++)
			windows->apart[fold][j] = 1 / sum;
}

static void add_times(struct balance *balance)
{
	const struct hp_windows *windows = &balance->inference->windows;

	for (size_t i = 0; i < windows->sum.stratum_count; i++)
		for (size_t j = 0; j < GROUPS; j++)
			balance->times[j] += windows->scales[i] *
					     (double)windows->sum.strata[i].groups[j].time_ns;
}

struct hp_error *balance_windows(struct hp_inference *inference)
{
	struct hp_windows *windows = &inference->windows;
	struct balance *balance = calloc(1, sizeof(*balance));
	struct hp_error *error = NULL;

	if (!balance)
		return hp_error_create_no_memory();
	balance->inference = inference;
	balance->event = hp_profiles_time_event(inference->profiles);
	for (size_t i = 0; i < GROUPS; i++)
		windows->values[i / PARTS][i] = 1;
	if (windows->is_absolute && balance->event < inference->profiles->events.count)
		error = find_places(balance);
	if (windows->is_by_time)
		share_alike(windows);
	else if (!error && balance->ticks > 0 && balance->time > 0) {
		add_times(balance);
		cross_validate(balance, windows);
		add_equations(balance, HP_BALANCE_FOLDS);
		jackknife(balance, windows);
	}
	hp_vector_free(&balance->places);
	free(balance);
	return error;
}

struct hp_grouped hp_balanced(const struct hp_windows *windows, double scale,
			      const uint64_t counts[HP_EVIDENCE_GROUPS])
{
	struct hp_grouped sum = { 0 };

	for (size_t j = 0; j < GROUPS; j++)
		for (size_t i = 0; i < WINDOWS && counts[j]; i++)
			sum.counts[i] += scale * windows->values[i][j] * (double)counts[j];
	return sum;
}
