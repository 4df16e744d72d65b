/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frequencies.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>

struct hp_sampled samples[MOST];
struct hp_evidence evidence[MOST_EVIDENCE];
size_t sample_count;
size_t evidence_count;
enum hp_estimator estimator;
bool is_clock_unknown;
double off_together[HP_SOURCE_COUNT];
uint16_t phase_of[MOST];
double phase_deviation[MOST];
size_t phase_count;
bool missed[MOST];
struct hp_arena *arena;
struct hp_cfg *cfg;
struct hp_analysis *found;
struct hp_error *failure;

struct hp_error *analyse_graph(struct hp_image *image, const struct hp_analysis_input *input)
{
	struct hp_analysis_options options = { .core = hp_core_named("skylake-sp"),
					       .estimator = estimator,
					       .skid_instructions = 1,
					       .frequencies_only = true,
					       .is_clock_unknown = is_clock_unknown };
	struct hp_analysis_input whole = *input;

	whole.image = image;
	whole.cfg = cfg;
	for (unsigned i = 0; i < HP_SOURCE_COUNT; i++)
		whole.shared_deviation[i] = off_together[i];
	if (phase_count) {
		whole.phase_of = phase_of;
		whole.phase_deviation = phase_deviation;
		whole.phase_count = phase_count;
		whole.missed = missed;
	}
	return hp_analysis_create(&whole, &options, arena, &found);
}

void analyse_code(struct hp_image *image)
{
	const struct hp_procedure *procedure =
		hp_image_procedure_at(image, (hp_link_address){ FUZZ_CODE_ADDRESS });
	_cleanup_(hp_cfg_image_destroy_scope) struct hp_cfg_image *shared;

	hp_assert_ok(hp_cfg_image_create(image, &shared));
	hp_assert_ok(hp_cfg_create(shared, procedure, arena, &cfg));
	failure = analyse_graph(image,
				&(struct hp_analysis_input){ .samples = samples,
							     .sample_count = sample_count,
							     .evidence = evidence,
							     .evidence_count = evidence_count });
}

void begin(void)
{
	hp_arena_destroy(arena);
	arena = hp_arena_create();
	sample_count = evidence_count = phase_count = 0;
	memset(phase_of, 0, sizeof(phase_of));
	memset(missed, 0, sizeof(missed));
	estimator = HP_ESTIMATOR_FLOW;
	is_clock_unknown = false;
	for (unsigned i = 0; i < HP_SOURCE_COUNT; i++)
		off_together[i] = 0;
	found = NULL;
}

void sampled(size_t at, double number)
{
	samples[sample_count++] = (struct hp_sampled){ .address = { FUZZ_CODE_ADDRESS + at },
						       .samples = number,
						       .cycles = number * 1e6 };
}

void said(enum hp_evidence_source source, enum hp_evidence_kind kind, size_t at, double value,
	  double deviation)
{
	evidence[evidence_count++] = (struct hp_evidence){ .kind = (uint8_t)kind,
							   .source = (uint8_t)source,
							   .address = { FUZZ_CODE_ADDRESS + at },
							   .value = value,
							   .deviation = deviation };
}

void counted(size_t at, double times)
{
	said(0, HP_EVIDENCE_COUNT, at, times, 0);
}

void said_of_edge(size_t from, size_t to, double value, double deviation)
{
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_EDGE, from, value, deviation);
	evidence[evidence_count - 1].to.value = FUZZ_CODE_ADDRESS + to;
}

void outcome(size_t from, size_t to, double count, double bias)
{
	said(HP_SOURCE_REGISTERS, HP_EVIDENCE_OUTCOMES, from, count, bias);
	evidence[evidence_count - 1].to.value = FUZZ_CODE_ADDRESS + to;
}

uint32_t block_at(size_t at)
{
	uint32_t block = hp_cfg_block_at(cfg, (hp_link_address){ FUZZ_CODE_ADDRESS + at });

	ck_assert_uint_ne(block, HP_CFG_NONE);
	return block;
}

const struct hp_frequency *frequency(size_t at)
{
	return &found->blocks[block_at(at)].frequency;
}

double executions(size_t at)
{
	return frequency(at)->executions;
}

const struct hp_frequency *edge(size_t from, size_t to)
{
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		if (cfg->edges[i].from == block_at(from) && cfg->edges[i].to == block_at(to))
			return &found->edges[i];
	ck_abort_msg("no edge from %zu to %zu", from, to);
	return NULL;
}

/* --- what is true of every estimate ----------------------------------------------------------- */

void assert_frequency(const struct hp_frequency *one)
{
	ck_assert(one->relative >= 0 && isfinite(one->relative));
	ck_assert(one->relative_low <= one->relative && one->relative <= one->relative_high);
	ck_assert_uint_ne(one->confidence, HP_CONFIDENCE_NONE);
	if (!found->is_absolute) {
		ck_assert(isnan(one->executions));
		return;
	}
	ck_assert(one->executions >= 0 && isfinite(one->executions));
	ck_assert(one->executions_low <= one->executions);
	ck_assert(one->executions <= one->executions_high);
}

static void assert_balanced(uint32_t block)
{
	const struct hp_block *node = &cfg->blocks[block];
	double whole = found->blocks[block].frequency.relative;
	double in = 0;
	double out = 0;

	for (uint32_t i = 0; i < node->in_count; i++)
		in += found->edges[cfg->in_edges[node->first_in + i]].relative;
	for (uint32_t i = 0; i < node->out_count; i++)
		out += found->edges[node->first_out + i].relative;
	ck_assert_double_le(fabs(out - whole), 1e-6 * whole);
	if (cfg->missing_edges)
		ck_assert_double_le(in, whole * (1 + 1e-6));
	else
		ck_assert_double_le(fabs(in - whole), 1e-6 * whole);
}

void assert_sound(void)
{
	double hottest = 0;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		assert_frequency(&found->blocks[i].frequency);
		if (!(found->problems & HP_PROBLEM_NOT_CONVERGED))
			assert_balanced(i);
		hottest = fmax(hottest, found->blocks[i].frequency.relative);
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		assert_frequency(&found->edges[i]);
	if (cfg->block_count > 0)
		ck_assert(hottest == 0 || fabs(hottest - 1) < 1e-9);
}

void assert_refused(void)
{
	fuzz_with_image(diamond, sizeof(diamond), analyse_code);
	hp_assert_fails(HP_ERROR_USAGE, failure);
}
