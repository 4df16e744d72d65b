/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "made_up.h"

#include "../../src/compare/judge.h"

#include <math.h>

/* --- chance -------------------------------------------------------------------------------- */

double made_up_uniform(struct hp_random *random)
{
	return ((double)(hp_random_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

double made_up_normal(struct hp_random *random)
{
	return sqrt(-2 * log(made_up_uniform(random))) * cos(2 * M_PI * made_up_uniform(random));
}

/* Marsaglia and Tsang 2000. */
static double gamma_of(struct hp_random *random, double shape)
{
	double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
	double c = 1 / sqrt(9 * d);

	for (;;) {
		double x = made_up_normal(random);
		double v = (1 + c * x) * (1 + c * x) * (1 + c * x);

		if (v <= 0 || log(made_up_uniform(random)) >= x * x / 2 + d - d * v + d * log(v))
			continue;
		return shape < 1 ? d * v * pow(made_up_uniform(random), 1 / shape) : d * v;
	}
}

/* Of many, as many as lie before the n-th of their arrivals is known at once (Ahrens and Dieter
 * 1974), so that few are left to be counted. */
static double poisson(struct hp_random *random, double mean)
{
	double count = 0;

	while (mean > 20) {
		double n = floor(mean * 7 / 8);
		double nth = gamma_of(random, n);

		if (nth > mean) {
			/* Of the n - 1 before it, each lies before the mean with this chance. */
			for (double i = 1; i < n; i++)
				count += made_up_uniform(random) < mean / nth;
			return count;
		}
		count += n;
		mean -= nth;
	}
	for (double left = mean + log(made_up_uniform(random)); left > 0;
	     left += log(made_up_uniform(random)))
		count++;
	return count;
}

double made_up_count(struct hp_random *random, double mean, double dispersion)
{
	double beyond = dispersion - 1;

	/* A Poisson count whose mean is gamma distributed is negative binomial. */
	return poisson(random, beyond > 0 ? beyond * gamma_of(random, mean / beyond) : mean);
}

/* --- runs ------------------------------------------------------------------------------------ */

/* What `struct sides` points to. */
struct drawn {
	struct hp_run runs[HP_SIDES][MADE_UP_RUNS];
	struct hp_epoch_meta metas[HP_SIDES][MADE_UP_RUNS];
	struct code codes[HP_SIDES][MADE_UP_PROCEDURES];
	struct side_image image;
	double counts[MADE_UP_PROCEDURES][2 * MADE_UP_RUNS];
	double beside[MADE_UP_RUNS]; /* what the two `i`-th runs have in common */
	struct sides sides;
};

static double share_of(size_t procedure)
{
	return procedure ? 0.8 * 2 * (double)(MADE_UP_PROCEDURES - procedure) /
				   ((MADE_UP_PROCEDURES - 1) * (double)MADE_UP_PROCEDURES)
			 : 0.2;
}

/* Which run of all is the side's `i`-th. */
static size_t turn_of(const struct made_up *program, enum hp_side side, size_t i)
{
	if (program->at_once)
		return i;
	if (!program->in_turns)
		return side == HP_BASE ? i : program->runs + i;
	return 2 * i + (i % 2 != (side == HP_CANDIDATE));
}

static void draw_run(const struct made_up *program, struct hp_random *random, enum hp_side side,
		     size_t i, struct drawn *drawn)
{
	size_t turn = turn_of(program, side, i);
	double drift = program->drift * (double)turn / (double)(2 * program->runs - 1);
	double factor = (1 + drift) * drawn->beside[i] *
			exp(program->run_deviation * made_up_normal(random)) *
			(side == HP_CANDIDATE ? 1 + program->slower : 1);
	double first = side == HP_CANDIDATE ? 1 + program->first_slower : 1;
	struct hp_run *run = &drawn->runs[side][i];
	struct hp_epoch_meta *meta = &drawn->metas[side][i];
	struct replicate replicate = { .meta = meta, .scale = 1, .exposure = 1 };

	run->user_ns = (uint64_t)(3e9 * factor * (1 + share_of(0) * (first - 1)));
	run->elapsed_ns = run->user_ns;
	meta->start_ns = run->start_ns = (1000 + 30 * turn) * 1000000000;
	meta->runs = run;
	meta->run_count = 1;
	for (size_t p = 0; p < MADE_UP_PROCEDURES; p++) {
		double extent = program->unlike ? (double)(p % 3) - 1 : 0;
		double mean = program->samples * share_of(p) * factor * (p ? 1 : first) *
			      pow(drawn->beside[i], extent);
		double count = made_up_count(random, mean, program->dispersion);
		double cost = count * 3e9 / program->samples;
		struct code *code = &drawn->codes[side][p];

		drawn->counts[p][(side == HP_CANDIDATE ? program->runs : 0) + i] = count;
		code->samples += (uint64_t)count;
		code->cost += cost;
		replicate.samples += (uint64_t)count;
		replicate.cost += cost;
	}
	drawn->sides.at[side].samples += replicate.samples;
	drawn->sides.at[side].cost += replicate.cost;
	ck_assert(hp_vector_push(&drawn->sides.at[side].replicates, replicate));
}

static void add_unit(struct drawn *drawn, size_t procedure)
{
	struct unit unit = { .image_key = "program", .counts = drawn->counts[procedure] };

	for (size_t side = 0; side < HP_SIDES; side++) {
		struct code *code = &drawn->codes[side][procedure];

		code->side = (enum hp_side)side;
		code->image = &drawn->image;
		code->name = code->key =
			sides_format(drawn->sides.arena, "procedure%zu", procedure);
		unit.samples[side] = code->samples;
		unit.cost[side] = code->cost;
		ck_assert(hp_vector_push(&unit.codes, code));
	}
	ck_assert(hp_vector_push(&drawn->sides.units, unit));
}

static struct judged judged_of(const struct hp_comparison *comparison, const struct sides *sides)
{
	return (struct judged){
		.verdict = comparison->verdict,
		.program_p = comparison->program->p,
		.more_runs = comparison->shortage_count ? comparison->shortages[0].more_runs : 0,
		.is_first_found = sides->units.at[0].shown->is_finding,
	};
}

static void clear(struct drawn *drawn)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		hp_vector_free(&drawn->sides.at[side].replicates);
	for (size_t i = 0; i < drawn->sides.units.count; i++)
		hp_vector_free(&drawn->sides.units.at[i].codes);
	hp_vector_free(&drawn->sides.units);
	hp_vector_free(&drawn->sides.notes);
	hp_arena_destroy(drawn->sides.arena);
	free(drawn);
}

struct judged made_up_judge(const struct made_up *program, struct hp_random *random)
{
	static const struct hp_compare_options options = { .without_code = true };
	char path[] = "/program";
	char target[] = "made up";
	struct drawn *drawn = calloc(1, sizeof(*drawn));
	struct hp_comparison comparison = { .least_change = 0.03, .least_of_program = 0.005 };
	struct judging judging = { .comparison = &comparison };
	struct judged judged;

	ck_assert_ptr_nonnull(drawn);
	ck_assert_uint_le(program->runs, MADE_UP_RUNS);
	judging.sides = &drawn->sides;
	drawn->image.id.path = path;
	drawn->sides.arena = hp_arena_create();
	drawn->sides.options = &options;
	drawn->sides.unit = HP_UNIT_NS;
	for (size_t i = 0; i < program->runs; i++)
		drawn->beside[i] = exp(program->beside * made_up_normal(random));
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < program->runs; i++)
			draw_run(program, random, (enum hp_side)side, i, drawn);
	drawn->metas[HP_CANDIDATE][0].target = target;
	for (size_t i = 0; i < MADE_UP_PROCEDURES; i++)
		add_unit(drawn, i);
	hp_assert_ok(judge_program(&judging));
	hp_assert_ok(judge_parts(&judging));
	hp_assert_ok(judge_verdict(&judging));
	judged = judged_of(&comparison, &drawn->sides);
	clear(drawn);
	return judged;
}
