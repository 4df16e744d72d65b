/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse.h"

#include "counted.h"
#include "probed.h"
#include "recorded.h"
#include "retired.h"
#include "ways.h"

#include <hpcprof/base/search.h>

#include <errno.h>
#include <math.h>

size_t analyse_event(const struct report *report)
{
	size_t in_ns = report->events.count;

	for (size_t i = 0; i < report->events.count; i++) {
		const struct hp_event_info *info = report->events.at[i].info;

		if (info->unit == HP_UNIT_CYCLES)
			return i;
		if (info->unit == HP_UNIT_NS && in_ns == report->events.count)
			in_ns = i;
	}
	return in_ns;
}

double analyse_cycles_per_unit(const struct report *report)
{
	size_t at = analyse_event(report);
	const struct report_event *event;

	if (at == report->events.count)
		return 0;
	event = &report->events.at[at];
	if (event->info->unit == HP_UNIT_CYCLES)
		return 1;
	return event->lacks_clock || !(event->all.weight > 0)
		       ? 0
		       : event->all.cycles / event->all.weight;
}

const struct hp_core *analyse_core(const struct report *report)
{
	const struct hp_cpu *cpu = &report->epochs.at[0].meta->cpu;

	for (size_t i = 1; i < report->epochs.count; i++)
		if (!hp_cpu_equal(cpu, &report->epochs.at[i].meta->cpu))
			return hp_core_of_cpu(&(struct hp_cpu){ 0 });
	return hp_core_of_cpu(cpu);
}

/* What stands in the way of an analysis is no reason to go without the rest; memory is. */
static struct hp_error *forgive(struct report *report, struct row_code *code,
				struct hp_error *error)
{
	if (!error || error->errno_value == ENOMEM)
		return error;
	code->refusal = report_intern(report, error->message);
	hp_error_destroy(error);
	return code->refusal ? NULL : hp_error_create_no_memory();
}

size_t analyse_first_located(const struct report_part *part, uint64_t address)
{
	return hp_bisect(i, part->located_count, part->located[i].address < address);
}

typedef HP_VECTOR(struct hp_sampled) sampled_vector;

/* Samples of the event in the graph's blocks, which are by address. */
static bool collect_samples(const struct report *report, const struct report_part *part,
			    const struct hp_cfg *cfg, sampled_vector *samples)
{
	size_t event = analyse_event(report);
	bool has_clock = analyse_cycles_per_unit(report) > 0;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		const struct hp_block *block = &cfg->blocks[i];
		size_t at = analyse_first_located(part, block->address.value);

		for (; at < part->located_count &&
		       part->located[at].address < block->address.value + block->bytes;
		     at++) {
			const struct tally *tally =
				&part->tallies[part->located[at].index * report->events.count +
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

static struct hp_error *refuse(struct report *report, struct row_code *code, const char *why)
{
	return forgive(report, code, hp_error_create(HP_ERROR_INSUFFICIENT, "%s", why));
}

/* Jumps that windows or registers saw are edges, whether the code tells or not. */
static struct hp_error *open_flow(struct report *report, struct report_part *part)
{
	jump_vector jumps = { 0 };
	const struct counted *counted = NULL;
	bool is_fine = true;
	struct hp_error *error = hp_cfg_image_create(part->file, &part->flow);

	if (!error)
		error = counted_of(report, part, &counted);
	if (!error && report->options->estimator != HP_ESTIMATOR_CONTROL)
		error = ways_jumps_of(report, part, &jumps);
	for (size_t i = 0; !error && counted && i < counted->edges.count && is_fine; i++) {
		const struct counted_edge *edge = &counted->edges.at[i];
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

struct hp_error *analyse_graph(struct report *report, struct row_code *code,
			       const struct hp_cfg **cfg)
{
	struct report_part *part = code->part;
	struct hp_cfg *created = NULL;
	struct hp_error *error = NULL;
	const uint8_t *bytes;

	*cfg = code->cfg;
	if (code->cfg || code->refusal)
		return NULL;
	if (!part->file || !code->procedure)
		return refuse(report, code, "its code is not known");
	if (code->procedure->source == HP_PROCEDURE_GAP)
		return refuse(report, code,
			      "nothing says where procedures begin and end in this code");
	if (part->image->kept && !hp_image_text(part->file, code->procedure->address, 1, &bytes))
		return refuse(report, code,
			      "the file is gone or is another build, and the recording kept none "
			      "of its code");
	if (!part->flow)
		error = open_flow(report, part);
	if (!error)
		error = hp_cfg_create(part->flow, code->procedure, report->arena, &created);
	*cfg = code->cfg = created;
	return forgive(report, code, error);
}

/* All that is known beside time: what --evidence says, windows, registers, sampled instructions,
 * breakpoints, and branch records. */
static struct hp_error *collect_evidence(struct report *report, const struct row_code *code,
					 struct counted_terms *terms,
					 struct hp_analysis_input *input)
{
	const struct counted *counted = NULL;
	const struct hp_evidence *given;
	size_t count;
	struct hp_error *error = counted_of(report, code->part, &counted);

	if (!error && counted)
		error = counted_terms_of(report, counted, input, terms);
	/* The control is to be beaten by what samples tell, and registers are of samples. */
	if (!error && report->options->estimator != HP_ESTIMATOR_CONTROL)
		error = ways_terms_of(report, code->part, input->cfg, &terms->terms);
	if (!error && report->options->estimator != HP_ESTIMATOR_CONTROL)
		error = retired_terms_of(report, code->part, input->cfg, &terms->terms);
	if (!error)
		error = probed_terms_of(report, code->part, input->cfg, &terms->terms);
	if (!error)
		error = recorded_terms_of(report, code->part, input->cfg, &terms->terms);
	if (error)
		return error;
	given = evidence_of(code->part->image, input->cfg, &count);
	for (size_t i = 0; i < count; i++)
		if (!hp_vector_push(&terms->terms, given[i]))
			return hp_error_create_no_memory();
	input->evidence = terms->terms.at;
	input->evidence_count = terms->terms.count;
	input->shared_deviation[HP_SOURCE_SHADOW] = terms->shared_deviation;
	return NULL;
}

struct hp_error *analyse_code(struct report *report, struct row_code *code,
			      const struct hp_analysis **analysis)
{
	sampled_vector samples = { 0 };
	struct hp_analysis_options options = { .estimator = report->options->estimator };
	struct hp_analysis_input input = { 0 };
	struct counted_terms terms = { 0 };
	struct hp_analysis *created = NULL;
	struct hp_error *error = analyse_graph(report, code, &input.cfg);

	*analysis = code->analysis;
	if (error || code->analysis || code->refusal)
		return error;
	if (analyse_event(report) == report->events.count)
		return refuse(report, code, "no event that measures time was sampled");
	options.core = analyse_core(report);
	options.is_clock_unknown = !(analyse_cycles_per_unit(report) > 0);
	options.skid_instructions =
		report->events.at[analyse_event(report)].info->skid_instructions;
	if (!collect_samples(report, code->part, input.cfg, &samples))
		error = hp_error_create_no_memory();
	input.image = code->part->file;
	input.samples = samples.at;
	input.sample_count = samples.count;
	if (!error)
		error = collect_evidence(report, code, &terms, &input);
	if (!error)
		error = hp_analysis_create(&input, &options, report->arena, &created);
	hp_vector_free(&samples);
	hp_vector_free(&terms.terms);
	if (created)
		hp_analysis_withhold(created);
	*analysis = code->analysis = created;
	return forgive(report, code, error);
}

struct hp_error *analyse_row(struct report *report, const struct row *row,
			     const struct hp_analysis **analysis)
{
	*analysis = NULL;
	if (!row->code || row->code->next)
		return NULL;
	return analyse_code(report, row->code, analysis);
}

const struct hp_analysed_insn *analyse_insn(const struct hp_analysis *analysis, uint64_t address)
{
	size_t count = analysis ? analysis->insn_count : 0;
	size_t first = hp_bisect(i, count, analysis->insns[i].insn->address < address);

	return first < count && analysis->insns[first].insn->address == address
		       ? &analysis->insns[first]
		       : NULL;
}

double loop_trips(const struct hp_analysis *analysis, uint32_t loop)
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

double edge_probability(const struct hp_analysis *analysis, uint32_t edge)
{
	static const double rarely = 0.01;
	uint32_t from = analysis->cfg->edges[edge].from;
	double whole = from < analysis->cfg->block_count ? analysis->blocks[from].frequency.relative
							 : NAN;
	const struct hp_frequency *frequency = &analysis->edges[edge];

	return whole > 0 && hp_interval_suffices(frequency->relative, frequency->relative_low,
						 frequency->relative_high, rarely * whole)
		       ? fmin(frequency->relative / whole, 1)
		       : NAN;
}
