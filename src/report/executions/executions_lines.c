/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often each source line ran: as often as the most executed of its instructions. If the code of
 * a line exists several times (copies of a loop, an inlined function), it counts once per
 * procedure.
 */
#include "executions.h"

#include <hpcprof/base/search.h>
#include <hpcprof/infer/counts.h>
#include <hpcprof/isa/insn.h>

#include <errno.h>
#include <string.h>

typedef HP_VECTOR(hp_link_address) addresses;

HP_ORDER_BY(compare_addresses, hp_link_address, value);

/* Adds the addresses of the instructions of a block. */
static bool add_instructions(struct hp_image *file, const struct hp_isa *isa,
			     const struct hp_counts_block *block, addresses *found)
{
	const uint8_t *bytes;
	size_t held = hp_image_text(file, (hp_link_address){ block->address },
				    (size_t)block->bytes + isa->longest, &bytes);
	struct hp_flow flow;

	for (size_t done = 0; done < held && done < block->bytes; done += flow.length) {
		hp_link_address at = { block->address + done };

		if (!isa->flow(bytes + done, held - done, at.value, &flow) || !flow.length)
			return true;
		if (!hp_vector_push(found, at))
			return false;
	}
	return true;
}

/* Lists all instructions that were executed, by address. */
static struct hp_error *list_instructions(const struct hp_loaded_part *part,
					  const struct hp_image_counts *counted, addresses *found)
{
	const struct hp_isa *isa = hp_isa_of(hp_image_machine(part->file));
	size_t n = 0;

	for (size_t i = 0; isa && i < counted->blocks.count; i++)
		if (!add_instructions(part->file, isa, &counted->blocks.at[i], found))
			return hp_error_create_no_memory();
	if (found->count)
		qsort(found->at, found->count, sizeof(*found->at), compare_addresses);
	for (size_t i = 0; i < found->count; i++)
		if (!n || found->at[n - 1].value != found->at[i].value)
			found->at[n++] = found->at[i];
	found->count = n;
	return NULL;
}

struct line {
	struct executed executed;
	struct hp_grouped runs;
};

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left;
	const struct line *b = right;
	int order = strcmp(a->executed.row.file, b->executed.row.file);

	if (!order && a->executed.row.line != b->executed.row.line)
		order = a->executed.row.line < b->executed.row.line ? -1 : 1;
	if (!order && a->executed.row.address != b->executed.row.address)
		order = a->executed.row.address < b->executed.row.address ? -1 : 1;
	return order ? order
		     : (a->executed.weight < b->executed.weight) -
			       (a->executed.weight > b->executed.weight);
}

/* Collects lines; each has the counts of its instruction that was executed most. */
static size_t collect_lines(struct report *report, const struct hp_loaded_part *part,
			    const struct hp_image_counts *counted, const addresses *found,
			    const struct hp_frames *frames, struct line *lines)
{
	const struct hp_procedure *at = NULL;
	size_t count = 0;

	for (size_t i = 0; i < found->count; i++) {
		uint64_t address = found->at[i].value;
		struct line *line = &lines[count];

		if (!frames[i].count || !frames[i].frames[0].file || !frames[i].frames[0].line)
			continue;
		if (!at || address - at->address.value >= at->size)
			at = hp_image_procedure_at(part->file, found->at[i]);
		if (!hp_profiles_matches(report->options->of.procedure, at->owner->name))
			continue;
		line->runs = hp_counts_runs(counted, address);
		line->executed.weight = hp_grouped_sum(&line->runs);
		line->executed.row = (struct hp_row){
			.image = part->image,
			.name = at->owner->name,
			.linkage = at->owner->linkage,
			.has_address = true,
			.address = at->owner->address.value,
			.file = frames[i].frames[0].file,
			.line = frames[i].frames[0].line,
		};
		count++;
	}
	qsort(lines, count, sizeof(*lines), compare_lines);
	return count;
}

static bool is_same_line(const struct executed *a, const struct executed *b)
{
	return a->row.line == b->row.line && a->row.address == b->row.address &&
	       strcmp(a->row.file, b->row.file) == 0;
}

static struct hp_error *add_lines_of(struct report *report, const struct hp_loaded_part *part,
				     struct hp_image_counts *counted, struct executions *executions)
{
	addresses found = { 0 };
	struct hp_error *error = list_instructions(part, counted, &found);
	_cleanup_free_ struct hp_frames *frames = calloc(found.count + 1, sizeof(*frames));
	_cleanup_free_ struct line *lines = calloc(found.count + 1, sizeof(*lines));
	size_t count;

	if (!error && (!frames || !lines))
		error = hp_error_create_no_memory();
	if (!error)
		error = hp_image_frames(part->file, found.at, found.count, false, frames);
	if (error && error->errno_value != ENOMEM) {
		hp_profiles_warn(report->profiles, error->advice, "%s", error->message);
		hp_error_destroy(error);
		hp_vector_free(&found);
		return NULL;
	}
	count = error ? 0 : collect_lines(report, part, counted, &found, frames, lines);
	for (size_t i = 0; i < count && !error; i++) {
		if (i && is_same_line(&lines[i - 1].executed, &lines[i].executed))
			continue;
		lines[i].executed.runs = hp_counts_figure(
			report->inference, counted, lines[i].executed.row.address, &lines[i].runs);
		if (!hp_vector_push(&executions->at, lines[i].executed))
			error = hp_error_create_no_memory();
	}
	hp_vector_free(&found);
	return error;
}

static struct hp_error *add_lines(struct report *report, const struct hp_loaded_part *part,
				  struct hp_image_counts *counted, struct executions *executions)
{
	return counted ? add_lines_of(report, part, counted, executions) : NULL;
}

struct hp_error *executions_of_lines(struct report *report, struct executions *executions)
{
	return executions_each_part(report, executions, add_lines);
}
