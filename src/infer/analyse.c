/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "terms.h"
#include "counts_clock.h"
#include "exact_counts.h"
#include "branches.h"
#include "events.h"
#include "probes.h"
#include "records.h"
#include "retired.h"
#include "tuning.h"

#include <hpcprof/base/search.h>
#include <hpcprof/infer/counts.h>
#include <hpcprof/infer/inference.h>

#include <errno.h>
#include <math.h>

/* Turns an error into the refusal of this analysis, so that the report continues without it. Only a
 * lack of memory remains an error. */
static struct hp_error *forgive(struct hp_inference *inference, struct hp_row_code *code,
				struct hp_error *error)
{
	if (!error || error->errno_value == ENOMEM)
		return error;
	code->refusal = hp_profiles_intern(inference->profiles, error->message);
	hp_error_destroy(error);
	return code->refusal ? NULL : hp_error_create_no_memory();
}

typedef HP_VECTOR(struct hp_sampled) sampled_vector;

/* Samples of the event in the graph's blocks, which are by address. */
static bool collect_samples(const struct hp_inference *inference, const struct hp_loaded_part *part,
			    const struct hp_cfg *cfg, sampled_vector *samples)
{
	size_t event = hp_profiles_time_event(inference->profiles);
	bool has_clock = hp_profiles_cycles_per_unit(inference->profiles) > 0;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		const struct hp_block *block = &cfg->blocks[i];
		size_t at = hp_first_located(part, block->address.value);

		for (; at < part->located_count &&
		       part->located[at].address < block->address.value + block->bytes;
		     at++) {
			const struct hp_tally *tally =
				&part->tallies[part->located[at].index *
						       inference->profiles->events.count +
					       event];
			struct hp_sampled one = { .address = { part->located[at].address },
						  .samples = (double)tally->samples,
						  .cycles = has_clock ? tally->cycles
								      : tally->weight };

			if (tally->samples && !hp_vector_push(samples, one))
				return false;
		}
	}
	return true;
}

static struct hp_error *refuse(struct hp_inference *inference, struct hp_row_code *code,
			       const char *why)
{
	return forgive(inference, code, hp_error_create(HP_ERROR_INSUFFICIENT, "%s", why));
}

/* Finds the control flow of the part. Indirect jumps that windows or registers saw become edges,
 * too, even if the code alone does not show them. */
static struct hp_error *open_flow(struct hp_inference *inference, struct hp_loaded_part *part)
{
	jump_vector jumps = { 0 };
	struct hp_image_counts *counted = NULL;
	bool is_fine = true;
	struct hp_error *error = hp_cfg_image_create(part->file, &part->flow);

	if (!error)
		error = hp_counts_of(inference, part, &counted);
	if (!error && inference->options->estimator != HP_ESTIMATOR_CONTROL)
		error = branches_jumps_of(inference, part, &jumps);
	for (size_t i = 0; !error && counted && i < counted->edges.count && is_fine; i++) {
		const struct hp_counts_edge *edge = &counted->edges.at[i];
		struct hp_known_jump jump = { { edge->from }, { edge->to } };

		if (edge->kind == HP_COUNTED_INDIRECT_JUMP && edge->is_inside)
			is_fine = hp_vector_push(&jumps, jump);
	}
	if (!error && !is_fine)
		error = hp_error_create_no_memory();
	if (!error)
		error = hp_cfg_image_know_jumps(part->flow, jumps.at, jumps.count);
	hp_vector_free(&jumps);
	return error;
}

void hp_inference_make_in(struct hp_inference *inference, struct hp_arena *arena)
{
	inference->arena = arena ? arena : inference->profiles->arena;
}

void hp_inference_forget(struct hp_row_code *code)
{
	code->cfg = NULL;
	code->analysis = NULL;
}

struct hp_error *hp_inference_graph(struct hp_inference *inference, struct hp_row_code *code,
				    const struct hp_cfg **cfg)
{
	struct hp_loaded_part *part = code->part;
	struct hp_cfg *created = NULL;
	struct hp_error *error = NULL;
	const uint8_t *bytes;

	*cfg = code->cfg;
	if (code->cfg || code->refusal)
		return NULL;
	if (!part->file || !code->procedure)
		return refuse(inference, code, "its code is not known");
	if (code->procedure->source == HP_PROCEDURE_GAP)
		return refuse(inference, code,
			      "the extents of procedures in this code are not known");
	if (part->image->kept && !hp_image_text(part->file, code->procedure->address, 1, &bytes))
		return refuse(inference, code,
			      "the file is gone or is another build, and the recording does not "
			      "contain its code");
	if (!part->flow)
		error = open_flow(inference, part);
	if (!error)
		error = hp_cfg_create(part->flow, code->procedure, inference->arena, &created);
	*cfg = code->cfg = created;
	return forgive(inference, code, error);
}

/* Collects all evidence except samples of time: --evidence, windows, registers, sampled
 * instructions, breakpoints, and branch records. */
static struct hp_error *collect_evidence(struct hp_inference *inference,
					 const struct hp_row_code *code, struct counts_terms *terms,
					 struct hp_analysis_input *input)
{
	const struct image_events *events = NULL;
	struct hp_image_counts *counted = NULL;
	const struct hp_evidence *given;
	size_t count;
	struct hp_error *error = hp_counts_of(inference, code->part, &counted);

	if (!error && counted)
		error = counts_terms_of(inference, counted, input, terms);
	/* The control estimator uses no evidence from samples, which includes registers. */
	if (!error && inference->options->estimator != HP_ESTIMATOR_CONTROL)
		error = branches_terms_of(inference, code->part, input->cfg, &terms->terms);
	if (!error && inference->options->estimator != HP_ESTIMATOR_CONTROL)
		error = retired_terms_of(inference, code->part, input->cfg, &terms->terms);
	if (!error)
		error = probes_terms_of(inference, code->part, input->cfg, &terms->terms);
	if (!error)
		error = records_terms_of(inference, code->part, input->cfg, &terms->terms);
	if (!error)
		error = events_of(inference, code->part, &events);
	if (error)
		return error;
	given = exact_counts_of(inference, code->part->image, input->cfg, &count);
	for (size_t i = 0; i < count; i++)
		if (!hp_vector_push(&terms->terms, given[i]))
			return hp_error_create_no_memory();
	input->evidence = terms->terms.at;
	input->evidence_count = terms->terms.count;
	input->shared_deviation[HP_SOURCE_SHADOW] = terms->shared_deviation;
	input->phase_of = terms->phase_of;
	input->phase_deviation = terms->phase_deviation;
	input->phase_count = terms->phase_count;
	input->missed = terms->missed;
	if (counted)
		input->apart = counts_apart_share(counted, code->procedure->address.value);
	input->happened = events ? events_happened : NULL;
	input->happened_context = events;
	return NULL;
}

/* The row of the procedure in profiles of events of stalls; NULL: it has no samples there. */
static const struct hp_row *stalled_row(const struct hp_profiles *profiles,
					const struct hp_row_code *code)
{
	uint64_t address = code->procedure->owner->address.value;

	for (size_t i = 0; i < profiles->rows.count; i++) {
		const struct hp_row *row = profiles->rows.at[i];

		if (row->has_address && row->address == address && !row->inlined &&
		    hp_image_id_compare(&row->image->id, &code->part->image->id) == 0)
			return row;
	}
	return NULL;
}

/* Sets the limits that counters of stalls give for the causes in this procedure. */
static struct hp_error *find_limits(const struct hp_inference *inference,
				    const struct hp_row_code *code,
				    double limits[HP_CAUSE_DYNAMIC_COUNT],
				    struct hp_analysis_input *input)
{
	const struct hp_stalled *stalled = inference->stalled;
	const struct hp_row *row = stalled ? stalled_row(stalled->profiles, code) : NULL;
	struct hp_error *error;
	struct hp_stack stack;

	if (!row)
		return NULL;
	error = hp_stalled_stack(stalled, row->tallies, &stack);
	if (error)
		return error;
	hp_stalled_limits(&stack, limits);
	input->most_cycles = limits;
	return NULL;
}

struct hp_error *hp_inference_analyse(struct hp_inference *inference, struct hp_row_code *code,
				      const struct hp_analysis **analysis)
{
	sampled_vector samples = { 0 };
	struct hp_analysis_options options = {
		.estimator = inference->options->estimator,
		.frequencies_only = inference->options->frequencies_only,
		.schedules = inference->schedules,
	};
	struct hp_analysis_input input = { 0 };
	struct counts_terms terms = { 0 };
	struct hp_analysis *created = NULL;
	double limits[HP_CAUSE_DYNAMIC_COUNT];
	struct hp_error *error = hp_inference_graph(inference, code, &input.cfg);

	*analysis = code->analysis;
	if (error || code->analysis || code->refusal)
		return error;
	if (hp_profiles_time_event(inference->profiles) == inference->profiles->events.count)
		return refuse(inference, code, "no event that measures time was sampled");
	options.core = &inference->core;
	options.is_clock_unknown = !(hp_profiles_cycles_per_unit(inference->profiles) > 0);
	options.skid_instructions =
		inference->profiles->events.at[hp_profiles_time_event(inference->profiles)]
			.info->skid_instructions;
	if (!collect_samples(inference, code->part, input.cfg, &samples))
		error = hp_error_create_no_memory();
	input.image = code->part->file;
	input.samples = samples.at;
	input.sample_count = samples.count;
	if (!error)
		error = collect_evidence(inference, code, &terms, &input);
	if (!error)
		error = find_limits(inference, code, limits, &input);
	if (!error)
		error = hp_analysis_create(&input, &options, inference->arena, &created);
	hp_vector_free(&samples);
	counts_terms_clear(&terms);
	if (created)
		hp_analysis_withhold(created);
	*analysis = code->analysis = created;
	return forgive(inference, code, error);
}

struct hp_error *hp_inference_row(struct hp_inference *inference, const struct hp_row *row,
				  const struct hp_analysis **analysis)
{
	*analysis = NULL;
	if (!row->code || row->code->next)
		return NULL;
	return hp_inference_analyse(inference, row->code, analysis);
}

const struct hp_analysed_insn *hp_analysis_insn(const struct hp_analysis *analysis,
						uint64_t address)
{
	size_t count = analysis ? analysis->insn_count : 0;
	size_t first = hp_bisect(i, count, analysis->insns[i].insn->address < address);

	return first < count && analysis->insns[first].insn->address == address
		       ? &analysis->insns[first]
		       : NULL;
}

double hp_loop_trips(const struct hp_analysis *analysis, uint32_t loop)
{
	const struct hp_cfg *cfg = analysis->cfg;
	uint32_t header = cfg->loops[loop].header;
	const struct hp_block *block = &cfg->blocks[header];
	double entered = 0;
	double low = 0;
	double high = 0;

	for (uint32_t i = 0; i < block->in_count; i++) {
		uint32_t edge = cfg->in_edges[block->first_in + i];

		if (hp_cfg_is_in_loop(cfg, cfg->edges[edge].from, loop))
			continue;
		entered += analysis->edges[edge].relative;
		low += analysis->edges[edge].relative_low;
		high += analysis->edges[edge].relative_high;
	}
	return entered > 0 && hp_interval_suffices(entered, low, high, 0)
		       ? analysis->blocks[header].frequency.relative / entered
		       : NAN;
}

double hp_edge_probability(const struct hp_analysis *analysis, uint32_t edge)
{
	uint32_t from = analysis->cfg->edges[edge].from;
	double whole = from < analysis->cfg->block_count ? analysis->blocks[from].frequency.relative
							 : NAN;
	const struct hp_frequency *frequency = &analysis->edges[edge];

	return whole > 0 && hp_interval_suffices(frequency->relative, frequency->relative_low,
						 frequency->relative_high, hp_hardly_ran * whole)
		       ? fmin(frequency->relative / whole, 1)
		       : NAN;
}
