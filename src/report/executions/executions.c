/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "executions.h"

#include "../common/counting.h"
#include "../tuning.h"

#include <hpcprof/infer/counts.h>

#include <math.h>
#include <string.h>

void executions_clear(struct executions *executions)
{
	hp_vector_free(&executions->at);
	*executions = (struct executions){ 0 };
}

/* --- what all share --------------------------------------------------------------------------- */

static bool is_filtered(const struct hp_profiles_options *of)
{
	return of->image || of->procedure || of->comm || of->pid;
}

static struct hp_error *nothing_counted(const struct report *report)
{
	static const char nothing[] = "no shadow window counted anything in these epochs";

	if (hp_windows_exist(report->inference) && !is_filtered(&report->options->of))
		return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
						       "shadow windows counted code of no "
						       "procedure, only such as was made at run "
						       "time"),
				       "%s", counting_advice(report));
	if (hp_windows_exist(report->inference))
		return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
						       "the filters select none of the counts"),
				       "leave out the filters");
	return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT, "%s", nothing), "%s",
			       counting_advice(report));
}

static bool passes(const struct report *report, const char *name, const char *linkage)
{
	const char *pattern = report->options->of.procedure;

	return hp_profiles_matches(pattern, name) ||
	       (linkage && hp_profiles_matches(pattern, linkage));
}

static int compare_weights(const void *left, const void *right)
{
	const struct executed *a = left;
	const struct executed *b = right;
	int order = (a->weight < b->weight) - (a->weight > b->weight);

	if (!order && a->row.image != b->row.image)
		order = hp_image_id_compare(&a->row.image->id, &b->row.image->id);
	if (!order)
		order = (a->row.address > b->row.address) - (a->row.address < b->row.address);
	if (!order && a->callee && b->callee)
		order = strcmp(a->callee, b->callee);
	return order ? order : (a->row.line > b->row.line) - (a->row.line < b->row.line);
}

static struct hp_error *finish(struct report *report, struct executions *executions)
{
	const struct hp_report_options *options = report->options;
	size_t limit = options->limit ? options->limit
		       : options->format == HP_FORMAT_TEXT && !(options->percent_limit > 0)
			       ? DEFAULT_ROWS
			       : SIZE_MAX;
	size_t kept = 0;

	if (!executions->at.count)
		return nothing_counted(report);
	qsort(executions->at.at, executions->at.count, sizeof(*executions->at.at), compare_weights);
	for (size_t i = 0; i < executions->at.count; i++)
		executions->whole += executions->at.at[i].weight;
	for (; kept < executions->at.count && kept < limit; kept++) {
		const struct executed *one = &executions->at.at[kept];
		bool is_known = isfinite(one->runs.value) || one->is_by_time;

		if (100 * one->weight < options->percent_limit * executions->whole)
			break;
		executions->is_absolute |= is_known;
		executions->is_partial |= !is_known;
		executions->has_jumps |= one->is_jump;
		executions->has_unseen |= one->is_by_time;
	}
	executions->hidden = executions->at.count - kept;
	executions->at.count = kept;
	return NULL;
}

struct hp_error *executions_each_part(struct report *report, struct executions *executions,
				      struct hp_error *(*add)(struct report *report,
							      const struct hp_loaded_part *part,
							      struct hp_image_counts *counted,
							      struct executions *executions))
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < report->profiles->parts.count && !error; i++) {
		const struct hp_loaded_part *part = report->profiles->parts.at[i];
		struct hp_image_counts *counted = NULL;

		error = hp_counts_of(report->inference, part, &counted);
		if (!error)
			error = add(report, part, counted, executions);
	}
	return error ? error : finish(report, executions);
}

/* --- procedures ------------------------------------------------------------------------------- */

static struct executed executed_in(const struct hp_loaded_part *part,
				   const struct hp_procedure *owner)
{
	return (struct executed){
		.row = { .image = part->image,
			 .name = owner->name,
			 .linkage = owner->linkage,
			 .has_address = true,
			 .address = owner->address.value },
	};
}

static bool add_passing(const struct report *report, const struct executed *one,
			struct executions *executions)
{
	return !passes(report, one->row.name, one->row.linkage) ||
	       hp_vector_push(&executions->at, *one);
}

static struct hp_error *add_counted(struct report *report, const struct hp_loaded_part *part,
				    struct hp_image_counts *counted, struct executions *executions)
{
	struct hp_error *error = hp_counts_procedures(part, counted);

	for (size_t i = 0; i < counted->procedures.count && !error; i++) {
		const struct hp_counts_procedure *from = &counted->procedures.at[i];
		struct hp_row_counts counts =
			hp_counts_of_procedure(report->inference, counted, from);
		struct executed one = executed_in(part, from->owner);

		one.runs = counts.calls;
		one.instructions = counts.instructions;
		one.weight = hp_grouped_sum(&from->instructions);
		if (!add_passing(report, &one, executions))
			error = hp_error_create_no_memory();
	}
	return error;
}

static struct hp_error *add_unseen(struct report *report, const struct hp_loaded_part *part,
				   struct executions *executions)
{
	static const struct hp_counted_figure unknown = { NAN, NAN, NAN };
	hp_unseen_vector unseen = { 0 };
	struct hp_error *error = hp_unseen_procedures(report->inference, part, &unseen);

	for (size_t i = 0; i < unseen.count && !error; i++) {
		struct executed one = executed_in(part, unseen.at[i].owner);

		one.runs = unknown;
		one.instructions = unseen.at[i].instructions;
		one.weight = one.instructions.value;
		one.is_by_time = true;
		if (isfinite(one.weight) && !add_passing(report, &one, executions))
			error = hp_error_create_no_memory();
	}
	hp_vector_free(&unseen);
	return error;
}

static struct hp_error *add_procedures(struct report *report, const struct hp_loaded_part *part,
				       struct hp_image_counts *counted,
				       struct executions *executions)
{
	struct hp_error *error = counted ? add_counted(report, part, counted, executions) : NULL;

	return error ? error : add_unseen(report, part, executions);
}

struct hp_error *executions_of_procedures(struct report *report, struct executions *executions)
{
	return executions_each_part(report, executions, add_procedures);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* A place in an image, which may have no readable file. */
struct place {
	const struct hp_loaded_image *image;
	const struct hp_loaded_part *part;
	uint64_t address; /* link-time address if there is a part, otherwise an offset */
};

static struct place place_of(const struct report *report, const struct hp_loaded_part *from,
			     const struct hp_counts_edge *edge)
{
	const struct hp_image_id *id = &report->inference->windows.sum.images[edge->to_image];
	struct place place = { NULL, NULL, edge->to };

	if (edge->is_inside)
		return (struct place){ from->image, from, edge->to };
	for (size_t i = 0; i < report->profiles->parts.count; i++) {
		const struct hp_loaded_part *part = report->profiles->parts.at[i];
		hp_link_address address;

		if (hp_image_id_compare(&part->image->id, id) != 0)
			continue;
		place.image = part->image;
		if (part->file &&
		    hp_image_link_address(part->file, (hp_image_offset){ edge->to }, &address)) {
			place.part = part;
			place.address = address.value;
		}
	}
	return place;
}

static const struct hp_procedure *procedure_at(const struct place *place)
{
	return place->part ? hp_image_procedure_at(place->part->file,
						   (hp_link_address){ place->address })
			   : NULL;
}

/* The procedure that the dynamic linker has put behind an entry of the PLT: the target of most
 * jumps from there. */
static void follow_plt(const struct report *report, struct place *place)
{
	const struct hp_procedure *entry = procedure_at(place);
	const struct hp_counts_edge *most = NULL;
	const struct hp_image_counts *counted;

	if (!entry || entry->source != HP_PROCEDURE_PLT)
		return;
	counted = hp_counts_made(report->inference, place->image);
	if (!counted)
		return;
	for (uint64_t at = entry->address.value; at < entry->address.value + entry->size; at++) {
		size_t count;
		const struct hp_counts_edge *edges = hp_counts_edges_from(counted, at, &count);

		for (size_t i = 0; i < count; i++)
			if (edges[i].kind == HP_COUNTED_INDIRECT_JUMP &&
			    (!most || hp_grouped_sum(&edges[i].runs) > hp_grouped_sum(&most->runs)))
				most = &edges[i];
	}
	if (most)
		*place = place_of(report, place->part, most);
}

/* Whether the edge is a call, or a jump to the beginning of another procedure. */
static bool is_call(const struct hp_loaded_part *part, const struct hp_counts_edge *edge,
		    const struct hp_procedure *caller)
{
	const struct hp_procedure *callee;

	if (edge->kind == HP_COUNTED_CALL || edge->kind == HP_COUNTED_INDIRECT_CALL)
		return true;
	if (edge->kind == HP_COUNTED_RETURN || edge->kind == HP_COUNTED_SYSTEM_CALL ||
	    caller->source == HP_PROCEDURE_PLT)
		return false;
	if (!edge->is_inside)
		return true;
	callee = hp_image_procedure_at(part->file, (hp_link_address){ edge->to });
	return callee->owner != caller->owner && callee->address.value == edge->to;
}

struct call {
	struct executed executed;
	struct hp_grouped runs;
	const struct hp_image_counts *counted;
};
typedef HP_VECTOR(struct call) calls;

static struct hp_error *add_call(struct report *report, const struct hp_loaded_part *part,
				 const struct hp_image_counts *counted,
				 const struct hp_counts_edge *edge,
				 const struct hp_procedure *caller, calls *found)
{
	struct place place = place_of(report, part, edge);
	struct call call = { .runs = edge->runs, .counted = counted };
	struct executed *one = &call.executed;
	const struct hp_procedure *callee;

	follow_plt(report, &place);
	callee = procedure_at(&place);
	*one = (struct executed){
		.row = { .image = part->image,
			 .name = caller->owner->name,
			 .linkage = caller->owner->linkage,
			 .has_address = true,
			 .address = caller->owner->address.value },
		.callee_image = place.image,
		.callee_address = callee ? callee->owner->address.value : place.address,
		.has_callee_address = place.part,
		.is_jump = edge->kind != HP_COUNTED_CALL && edge->kind != HP_COUNTED_INDIRECT_CALL,
	};
	one->callee = callee ? callee->owner->name
			     : hp_image_basename(
				       report->inference->windows.sum.images[edge->to_image].path);
	if (!passes(report, one->row.name, one->row.linkage) &&
	    !passes(report, one->callee, callee ? callee->owner->linkage : NULL))
		return NULL;
	return hp_vector_push(found, call) ? NULL : hp_error_create_no_memory();
}

static int compare_calls(const void *left, const void *right)
{
	const struct executed *a = &((const struct call *)left)->executed;
	const struct executed *b = &((const struct call *)right)->executed;

	if (a->row.address != b->row.address)
		return a->row.address < b->row.address ? -1 : 1;
	if (a->callee_image != b->callee_image)
		return (uintptr_t)a->callee_image < (uintptr_t)b->callee_image ? -1 : 1;
	if (a->callee_address != b->callee_address)
		return a->callee_address < b->callee_address ? -1 : 1;
	if (a->returns != b->returns)
		return a->returns < b->returns ? -1 : 1;
	return a->is_jump - b->is_jump;
}

/* One edge per pair of procedures, or per call site if these are shown. */
static struct hp_error *give_out(struct report *report, calls *found, struct executions *executions)
{
	size_t end;

	if (found->count)
		qsort(found->at, found->count, sizeof(*found->at), compare_calls);
	for (size_t i = 0; i < found->count; i = end) {
		struct call sum = found->at[i];

		for (end = i + 1;
		     end < found->count && compare_calls(&found->at[i], &found->at[end]) == 0;
		     end++)
			hp_grouped_add(&sum.runs, &found->at[end].runs);
		sum.executed.runs = hp_counts_figure(report->inference, sum.counted,
						     sum.executed.row.address, &sum.runs);
		sum.executed.weight = hp_grouped_sum(&sum.runs);
		if (!hp_vector_push(&executions->at, sum.executed))
			return hp_error_create_no_memory();
	}
	return NULL;
}

/* The return address of the call at this address; 0: unknown. */
static uint64_t return_of(const struct hp_loaded_part *part, uint64_t address)
{
	const struct hp_isa *isa = hp_isa_of(hp_image_machine(part->file));
	const uint8_t *bytes;
	struct hp_flow flow;
	size_t size =
		isa ? hp_image_text(part->file, (hp_link_address){ address }, isa->longest, &bytes)
		    : 0;

	return size && isa->flow(bytes, size, address, &flow) ? address + flow.length : 0;
}

static struct hp_error *add_edges(struct report *report, const struct hp_loaded_part *part,
				  struct hp_image_counts *counted, bool by_site,
				  struct executions *executions)
{
	const struct hp_procedure *caller = NULL;
	struct hp_error *error = NULL;
	calls found = { 0 };

	for (size_t i = 0; i < counted->edges.count && !error; i++) {
		const struct hp_counts_edge *edge = &counted->edges.at[i];
		size_t before = found.count;

		if (!caller || edge->from - caller->address.value >= caller->size)
			caller = hp_image_procedure_at(part->file, (hp_link_address){ edge->from });
		if (caller->source == HP_PROCEDURE_PLT || !is_call(part, edge, caller))
			continue;
		error = add_call(report, part, counted, edge, caller, &found);
		if (!error && by_site && found.count > before) {
			struct executed *one = &found.at[before].executed;

			one->returns = one->is_jump ? 0 : return_of(part, edge->from);
			found.count = one->returns ? found.count : before;
		}
	}
	if (!error)
		error = give_out(report, &found, executions);
	hp_vector_free(&found);
	return error;
}

static struct hp_error *add_calls(struct report *report, const struct hp_loaded_part *part,
				  struct hp_image_counts *counted, struct executions *executions)
{
	return counted ? add_edges(report, part, counted, false, executions) : NULL;
}

static struct hp_error *add_call_sites(struct report *report, const struct hp_loaded_part *part,
				       struct hp_image_counts *counted,
				       struct executions *executions)
{
	return counted ? add_edges(report, part, counted, true, executions) : NULL;
}

/* Counts of all images are made first, since following one image's PLT needs another's. */
static struct hp_error *make_counts(struct report *report)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < report->profiles->parts.count && !error; i++) {
		struct hp_image_counts *ignored;

		error = hp_counts_of(report->inference, report->profiles->parts.at[i], &ignored);
	}
	return error;
}

struct hp_error *executions_of_calls(struct report *report, struct executions *executions)
{
	struct hp_error *error = make_counts(report);

	return error ? error : executions_each_part(report, executions, add_calls);
}

struct hp_error *executions_of_call_sites(struct report *report, struct executions *executions)
{
	struct hp_error *error = make_counts(report);

	return error ? error : executions_each_part(report, executions, add_call_sites);
}
