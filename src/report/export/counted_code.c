/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counted_code.h"
#include "../tuning.h"

#include <hpcprof/base/search.h>
#include <hpcprof/infer/counts.h>

#include <math.h>
#include <stdlib.h>

void counted_code_clear(struct counted_code *code)
{
	hp_vector_free(&code->branches);
	hp_vector_free(&code->falls);
	hp_vector_free(&code->ranges);
}

/* --- which image ------------------------------------------------------------------------------ */

static double instructions_of(const struct hp_image_counts *counted)
{
	double sum = 0;

	for (size_t i = 0; i < counted->blocks.count; i++)
		sum += hp_grouped_sum(&counted->blocks.at[i].runs) *
		       counted->blocks.at[i].instructions;
	return sum;
}

static struct hp_error *nothing_counted(const struct report *report)
{
	if (hp_windows_exist(report->inference))
		return hp_error_advise(
			hp_error_create(HP_ERROR_INSUFFICIENT,
					"no execution of the program was counted in code that can "
					"be read: the profile would be empty"),
			"leave out filters, or name another image with --image");
	return hp_error_advise(
		hp_error_create(HP_ERROR_INSUFFICIENT,
				"no executions were counted in these epochs: the profile "
				"would be empty"),
		"record with: hpcprof record --shadow -- COMMAND");
}

static struct hp_error *find_part(struct report *report, struct hp_loaded_part **part,
				  struct hp_image_counts **counted)
{
	double most = 0;

	*part = NULL;
	*counted = NULL;
	for (size_t i = 0; i < report->profiles->parts.count; i++) {
		struct hp_loaded_part *one = report->profiles->parts.at[i];
		struct hp_image_counts *found = NULL;
		struct hp_error *error = hp_counts_of(report->inference, one, &found);
		double instructions = !error && found ? instructions_of(found) : 0;

		if (error)
			return error;
		if (one->image->id.kind != HP_IMAGE_FILE || !(instructions > most))
			continue;
		most = instructions;
		*part = one;
		*counted = found;
	}
	return *part ? NULL : nothing_counted(report);
}

/* Finds the part with the most samples of time. */
static struct hp_error *find_sampled_part(const struct report *report, struct hp_loaded_part **part)
{
	const struct hp_profiles *profiles = report->profiles;
	size_t event = hp_profiles_time_event(profiles);
	uint64_t most = 0;

	for (size_t i = 0; i < profiles->parts.count && event < profiles->events.count; i++) {
		struct hp_loaded_part *one = profiles->parts.at[i];
		uint64_t samples = one->image->tallies[event].samples;

		if (!one->file || one->image->id.kind != HP_IMAGE_FILE || samples <= most)
			continue;
		most = samples;
		*part = one;
	}
	if (*part)
		return NULL;
	return hp_error_create(HP_ERROR_INSUFFICIENT,
			       "no code that can be read was sampled in time, nor counted: the "
			       "profile would be empty");
}

/* --- its procedures --------------------------------------------------------------------------- */

struct found_procedure {
	const struct hp_procedure *owner;
	const struct hp_analysis *analysis; /* NULL: there is none */
	double factor;			    /* executions per unit of `relative` */
	bool is_counted;
};

struct finding {
	struct report *report;
	struct hp_loaded_part *part;
	struct hp_image_counts *counted;	      /* NULL: estimates come from samples */
	HP_VECTOR(struct found_procedure) procedures; /* sorted by address */
	struct counted_code *code;
};

static bool add(counted_items *items, uint64_t from, uint64_t to, double runs)
{
	struct counted_item item = { .from = from, .to = to, .runs = runs };

	return !(runs > 0) || hp_vector_push(items, item);
}

static double counted_at(const struct finding *finding, uint64_t address)
{
	struct hp_grouped runs = { 0 };

	if (finding->counted)
		runs = hp_counts_runs(finding->counted, address);

	return hp_grouped_sum(&runs);
}

/* Best-case cycles of the code per unit of `relative`. */
static double best_of(const struct hp_analysis *analysis)
{
	double best = 0;

	for (uint32_t i = 0; i < analysis->cfg->block_count; i++)
		if (isfinite(analysis->blocks[i].frequency.relative))
			best += analysis->blocks[i].frequency.relative *
				analysis->blocks[i].best_case_cycles;
	return best;
}

static double cycles_of(const struct hp_analysis *analysis)
{
	double cycles = 0;

	for (uint32_t i = 0; i < analysis->cfg->block_count; i++)
		cycles += analysis->blocks[i].cycles;
	return cycles;
}

/* If the estimate is only relative, it is scaled so that as many instructions are executed as were
 * counted. */
static double factor_of(const struct finding *finding, const struct hp_analysis *analysis)
{
	double counted = 0;
	double estimated = 0;

	if (analysis->is_absolute && isfinite(analysis->scale))
		return analysis->scale;
	for (uint32_t i = 0; i < analysis->cfg->block_count; i++) {
		const struct hp_block *block = &analysis->cfg->blocks[i];
		double relative = analysis->blocks[i].frequency.relative;

		counted += counted_at(finding, block->address.value) * block->instructions;
		if (isfinite(relative))
			estimated += relative * block->instructions;
	}
	return estimated > 0 ? counted / estimated : 0;
}

/* Code that was sampled but not counted is scaled as if it ran as close to its best case as the
 * counted code. */
static void set_factors_by_time(struct finding *finding)
{
	double best = 0;
	double cycles = 0;

	for (size_t i = 0; i < finding->procedures.count; i++) {
		const struct found_procedure *found = &finding->procedures.at[i];

		if (!(found->factor > 0))
			continue;
		best += found->factor * best_of(found->analysis);
		cycles += cycles_of(found->analysis);
	}
	for (size_t i = 0; i < finding->procedures.count; i++) {
		struct found_procedure *found = &finding->procedures.at[i];
		double own_best = found->analysis ? best_of(found->analysis) : 0;

		if (found->is_counted || !(own_best > 0))
			continue;
		found->factor = cycles_of(found->analysis) / own_best;
		if (finding->counted)
			found->factor *= cycles > 0 ? best / cycles : 0;
	}
}

static struct hp_error *list_counted(struct finding *finding)
{
	struct hp_error *error = hp_counts_procedures(finding->part, finding->counted);

	for (size_t i = 0; i < finding->counted->procedures.count && !error; i++) {
		struct found_procedure found = {
			.owner = finding->counted->procedures.at[i].owner,
			.is_counted = true,
		};

		if (!hp_vector_push(&finding->procedures, found))
			error = hp_error_create_no_memory();
	}
	return error;
}

static int compare_found(const void *left, const void *right)
{
	const struct found_procedure *a = left;
	const struct found_procedure *b = right;

	return (a->owner->address.value > b->owner->address.value) -
	       (a->owner->address.value < b->owner->address.value);
}

/* Counted procedures come first. */
static int compare_listed(const void *left, const void *right)
{
	int order = compare_found(left, right);

	return order ? order
		     : ((const struct found_procedure *)right)->is_counted -
			       ((const struct found_procedure *)left)->is_counted;
}

static struct hp_error *list_sampled(struct finding *finding)
{
	const struct hp_loaded_part *part = finding->part;
	size_t kept = 0;

	for (size_t i = 0; i < part->located_count; i++) {
		hp_link_address address = { part->located[i].address };
		struct found_procedure found = {
			.owner = hp_image_procedure_at(part->file, address)->owner,
		};

		if (!hp_vector_push(&finding->procedures, found))
			return hp_error_create_no_memory();
	}
	if (finding->procedures.count)
		qsort(finding->procedures.at, finding->procedures.count,
		      sizeof(*finding->procedures.at), compare_listed);
	for (size_t i = 0; i < finding->procedures.count; i++)
		if (!kept ||
		    finding->procedures.at[i].owner != finding->procedures.at[kept - 1].owner)
			finding->procedures.at[kept++] = finding->procedures.at[i];
	finding->procedures.count = kept;
	return NULL;
}

static struct hp_error *analyse(struct finding *finding)
{
	struct hp_error *error = finding->counted ? list_counted(finding) : NULL;

	if (!error)
		error = list_sampled(finding);
	for (size_t i = 0; i < finding->procedures.count && !error; i++) {
		struct found_procedure *found = &finding->procedures.at[i];
		struct hp_row_code code = { .part = finding->part, .procedure = found->owner };

		error = hp_inference_analyse(finding->report->inference, &code, &found->analysis);
		if (!error && found->analysis && found->is_counted)
			found->factor = factor_of(finding, found->analysis);
	}
	if (!error)
		set_factors_by_time(finding);
	return error;
}

/* NULL for code in no known procedure. */
static const struct found_procedure *procedure_of(const struct finding *finding, uint64_t address)
{
	struct found_procedure key = {
		.owner = hp_image_procedure_at(finding->part->file, (hp_link_address){ address })
				 ->owner,
	};

	return finding->procedures.count
		       ? bsearch(&key, finding->procedures.at, finding->procedures.count,
				 sizeof(key), compare_found)
		       : NULL;
}

/* --- as estimated ----------------------------------------------------------------------------- */

/* Executions; 0 for code that was never seen. */
static double runs_of(const struct finding *finding, const struct found_procedure *procedure,
		      double relative, bool is_seen)
{
	double runs = procedure->factor * relative;
	double one = finding->counted ? finding->counted->one : 1;

	return runs > 0 && (is_seen || runs >= one) ? runs : 0;
}

static double block_runs(const struct finding *finding, const struct found_procedure *procedure,
			 uint32_t number)
{
	const struct hp_analysis *analysis = procedure->analysis;

	return runs_of(finding, procedure, analysis->blocks[number].frequency.relative,
		       counted_at(finding, analysis->cfg->blocks[number].address.value) > 0 ||
			       analysis->blocks[number].samples > 0);
}

static uint64_t last_of(const struct hp_analysis *analysis, uint32_t number)
{
	const struct hp_analysed_block *block = &analysis->blocks[number];

	return analysis->insns[block->first_insn + block->insn_count - 1].insn->address;
}

static bool is_seen_edge(const struct finding *finding, uint64_t from, uint64_t to)
{
	size_t count = 0;
	const struct hp_counts_edge *edges =
		finding->counted ? hp_counts_edges_from(finding->counted, from, &count) : NULL;

	for (size_t i = 0; i < count; i++)
		if (edges[i].is_inside && edges[i].to == to && hp_grouped_sum(&edges[i].runs) > 0)
			return true;
	return false;
}

static bool add_edge(const struct finding *finding, const struct found_procedure *procedure,
		     uint32_t number)
{
	const struct hp_analysis *analysis = procedure->analysis;
	const struct hp_cfg *cfg = analysis->cfg;
	const struct hp_edge *edge = &cfg->edges[number];
	uint64_t to;
	bool is_only;
	double runs;

	if ((edge->kind != HP_EDGE_FALL && edge->kind != HP_EDGE_JUMP &&
	     edge->kind != HP_EDGE_TABLE) ||
	    edge->from >= cfg->block_count || edge->to >= cfg->block_count ||
	    !analysis->blocks[edge->from].insn_count)
		return true;
	to = cfg->blocks[edge->to].address.value;
	is_only = cfg->blocks[edge->from].out_count == 1 &&
		  block_runs(finding, procedure, edge->from) > 0;
	runs = runs_of(finding, procedure, analysis->edges[number].relative,
		       is_only || is_seen_edge(finding, last_of(analysis, edge->from), to));
	return add(edge->kind == HP_EDGE_FALL ? &finding->code->falls : &finding->code->branches,
		   last_of(analysis, edge->from), to, runs);
}

static bool add_block(const struct finding *finding, const struct found_procedure *procedure,
		      uint32_t number)
{
	const struct hp_analysis *analysis = procedure->analysis;
	struct counted_item item = { .from = analysis->cfg->blocks[number].address.value };

	if (!analysis->blocks[number].insn_count)
		return true;
	item.to = last_of(analysis, number);
	item.runs = block_runs(finding, procedure, number);
	return hp_vector_push(&finding->code->ranges, item);
}

static bool add_procedure(const struct finding *finding, const struct found_procedure *procedure)
{
	const struct hp_cfg *cfg = procedure->analysis->cfg;

	for (uint32_t i = 0; i < cfg->block_count; i++)
		if (!add_block(finding, procedure, i))
			return false;
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		if (!add_edge(finding, procedure, i))
			return false;
	return true;
}

/* --- as counted ------------------------------------------------------------------------------- */

/* The block's last instruction. False if its bytes are missing, or cannot be decoded. */
static bool find_last(const struct finding *finding, const struct hp_counts_block *block,
		      uint64_t *last)
{
	const struct hp_isa *isa = hp_isa_of(hp_image_machine(finding->part->file));
	const uint8_t *bytes;
	size_t at = 0;

	if (!isa || hp_image_text(finding->part->file, (hp_link_address){ block->address },
				  block->bytes, &bytes) != block->bytes)
		return false;
	while (at < block->bytes) {
		struct hp_flow flow;

		if (!isa->flow(bytes + at, block->bytes - at, block->address + at, &flow) ||
		    !flow.length)
			return false;
		*last = block->address + at;
		at += flow.length;
	}
	return at == block->bytes;
}

static bool add_counted_ranges(const struct finding *finding)
{
	for (size_t i = 0; i < finding->counted->blocks.count; i++) {
		const struct hp_counts_block *block = &finding->counted->blocks.at[i];
		const struct found_procedure *procedure = procedure_of(finding, block->address);
		uint64_t last = 0;

		if ((!procedure || !procedure->analysis) && find_last(finding, block, &last) &&
		    !add(&finding->code->ranges, block->address, last,
			 hp_grouped_sum(&block->runs)))
			return false;
	}
	return true;
}

static bool is_call_or_return(uint8_t kind)
{
	return kind == HP_COUNTED_CALL || kind == HP_COUNTED_INDIRECT_CALL ||
	       kind == HP_COUNTED_RETURN;
}

static bool is_jump(uint8_t kind)
{
	return kind == HP_COUNTED_JUMP || kind == HP_COUNTED_TAKEN ||
	       kind == HP_COUNTED_INDIRECT_JUMP;
}

/* Edges out of a procedure have the block's counts; others come from the estimate. */
static double edge_runs(const struct finding *finding, const struct hp_counts_edge *edge)
{
	const struct found_procedure *procedure = procedure_of(finding, edge->from);
	double runs = hp_grouped_sum(&edge->runs);
	const struct hp_analysis *analysis;
	uint32_t block;
	double counted;

	if (!procedure || !procedure->analysis)
		return runs;
	analysis = procedure->analysis;
	block = hp_cfg_block_at(analysis->cfg, (hp_link_address){ edge->from });
	if (block == HP_CFG_NONE)
		return runs;
	if (!is_call_or_return(edge->kind) &&
	    hp_cfg_edge_between(analysis->cfg, (hp_link_address){ edge->from },
				(hp_link_address){ edge->to }) != HP_CFG_NONE)
		return 0;
	counted = counted_at(finding, edge->from);
	return counted > 0 ? runs / counted * block_runs(finding, procedure, block) : runs;
}

static bool add_counted_edges(const struct finding *finding)
{
	for (size_t i = 0; i < finding->counted->edges.count; i++) {
		const struct hp_counts_edge *edge = &finding->counted->edges.at[i];
		bool is_fall = edge->kind == HP_COUNTED_FALL;
		struct counted_item item = {
			.from = edge->from,
			.to = edge->to,
			.is_call = edge->kind == HP_COUNTED_CALL ||
				   edge->kind == HP_COUNTED_INDIRECT_CALL,
		};

		if (!edge->is_inside ||
		    (!is_fall && !is_jump(edge->kind) && !is_call_or_return(edge->kind)))
			continue;
		item.runs = edge_runs(finding, edge);
		if (item.runs > 0 &&
		    !hp_vector_push(is_fall ? &finding->code->falls : &finding->code->branches,
				    item))
			return false;
	}
	return true;
}

/* --- whole numbers ---------------------------------------------------------------------------- */

static void limits_of(const counted_items *items, double *least, double *most)
{
	for (size_t i = 0; i < items->count; i++) {
		if (items->at[i].runs > 0)
			*least = fmin(*least, items->at[i].runs);
		*most = fmax(*most, items->at[i].runs);
	}
}

static void round_all(const counted_items *items, double scale)
{
	for (size_t i = 0; i < items->count; i++)
		if (items->at[i].runs > 0)
			items->at[i].count = (uint64_t)fmax(round(items->at[i].runs * scale), 1);
}

static void scale(struct counted_code *code)
{
	double least = INFINITY;
	double most = 0;

	limits_of(&code->branches, &least, &most);
	limits_of(&code->falls, &least, &most);
	limits_of(&code->ranges, &least, &most);
	code->scale = 1;
	while (least * code->scale < least_export_count &&
	       most * code->scale * 10 <= most_export_count)
		code->scale *= 10;
	while (most * code->scale > most_export_count)
		code->scale /= 10;
	round_all(&code->branches, code->scale);
	round_all(&code->falls, code->scale);
	round_all(&code->ranges, code->scale);
}

static struct hp_error *collect(struct finding *finding)
{
	bool is_fine = true;
	bool is_any = false;
	struct hp_error *error = analyse(finding);

	if (error)
		return error;
	for (size_t i = 0; i < finding->procedures.count && is_fine; i++)
		is_fine = !finding->procedures.at[i].analysis ||
			  add_procedure(finding, &finding->procedures.at[i]);
	if (is_fine && finding->counted)
		is_fine = add_counted_ranges(finding) && add_counted_edges(finding);
	if (!is_fine)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < finding->code->ranges.count && !is_any; i++)
		is_any = finding->code->ranges.at[i].runs > 0;
	return is_any ? NULL : nothing_counted(finding->report);
}

struct hp_error *counted_code_find(struct report *report, bool or_sampled,
				   struct counted_code *code)
{
	struct finding finding = { .report = report, .code = code };
	struct hp_error *error;

	*code = (struct counted_code){ 0 };
	error = find_part(report, &finding.part, &finding.counted);
	if (error && error->class == HP_ERROR_INSUFFICIENT && or_sampled) {
		hp_error_destroy(error);
		code->is_sampled = true;
		error = find_sampled_part(report, &finding.part);
	}
	if (!error)
		error = collect(&finding);
	if (!error)
		scale(code);
	code->part = finding.part;
	hp_vector_free(&finding.procedures);
	return error;
}
