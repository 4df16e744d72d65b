/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write_culprits.h"

#include "../common/counting.h"
#include "../common/json.h"
#include "../tables/table.h"
#include "../tuning.h"
#include "stall_cells.h"
#include "write_stalls.h"

#include <hpcprof/base/number.h>
#include <hpcprof/infer/inference.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { LINE_BYTES = 64 }; /* line size of the simulated caches */

/* --- cells ------------------------------------------------------------------------------------ */

static const struct hp_happened *happened_of(const struct hp_row *row)
{
	return stall_of_row(row)->insn->happened;
}

/* Adds a share of executions, in percent; nothing if it never happened. */
static void add_share(struct hp_buffer *text, double share)
{
	if (share > 0)
		hp_buffer_printf(text, share < 0.0995 ? "%.1f" : "%.0f", 100 * share);
}

static double share_of(const struct hp_row *row, enum hp_event_kind kind)
{
	return fmin(1, happened_of(row)->mean[kind]);
}

static void cell_l1(const struct cell *cell, struct hp_buffer *text)
{
	add_share(text, share_of(cell->row, HP_EVENT_L1_MISS));
}

static void cell_l2(const struct cell *cell, struct hp_buffer *text)
{
	add_share(text, fmin(1, hp_happened_l2_misses(happened_of(cell->row))));
}

static void cell_tlb(const struct cell *cell, struct hp_buffer *text)
{
	add_share(text, share_of(cell->row, HP_EVENT_DTLB_MISS));
}

static void cell_walk(const struct cell *cell, struct hp_buffer *text)
{
	add_share(text, fmin(1, hp_happened_walks(happened_of(cell->row))));
}

/* Bytes in the lines that it accesses during a window. */
static void cell_footprint(const struct cell *cell, struct hp_buffer *text)
{
	static const char units[] = "BKMG";
	double bytes = LINE_BYTES * happened_of(cell->row)->lines;
	size_t unit = 0;

	for (; bytes >= 1024 && unit + 2 < sizeof(units); unit++)
		bytes /= 1024;
	if (bytes > 0)
		hp_buffer_printf(text, bytes < 9.95 && unit ? "%.1f%c" : "%.0f%c", bytes,
				 units[unit]);
}

static void add_count(struct hp_buffer *text, double count)
{
	if (count > 0)
		hp_buffer_printf(text, "%.0f", count);
}

static void cell_lines(const struct cell *cell, struct hp_buffer *text)
{
	add_count(text, happened_of(cell->row)->lines);
}

static void cell_pages(const struct cell *cell, struct hp_buffer *text)
{
	add_count(text, happened_of(cell->row)->pages);
}

static bool has_stride(const struct hp_happened *seen)
{
	return seen->mean[HP_EVENT_STRIDED] >= strided_share && seen->mean[HP_EVENT_STRIDE] > 0;
}

static void cell_stride(const struct cell *cell, struct hp_buffer *text)
{
	const struct hp_happened *seen = happened_of(cell->row);

	if (has_stride(seen))
		hp_buffer_printf(text, "%" PRId64, seen->stride);
}

/* Adds the access pattern: enough to tell what would help. */
static void cell_pattern(const struct cell *cell, struct hp_buffer *text)
{
	const struct hp_happened *seen = happened_of(cell->row);
	char stride[32] = "strided";
	const struct {
		bool is_so;
		const char *word;
	} words[] = {
		{ seen->mean[HP_EVENT_STRIDED] >= strided_share, stride },
		{ seen->mean[HP_EVENT_STRIDED] < scattered_share, "scattered" },
		{ seen->mean[HP_EVENT_CHASED] >= chased_share, "follows pointers" },
		{ seen->mean[HP_EVENT_ADDRESS_LOADED] >= chased_share, "address loaded" },
		{ seen->mean[HP_EVENT_PREFETCHED] >=
			  prefetched_share * fmax(seen->mean[HP_EVENT_L1_MISS], least_event),
		  "prefetched" },
		{ seen->mean[HP_EVENT_FORWARD_FAILED] >= noticeable_event, "forwarding fails" },
		{ seen->mean[HP_EVENT_LINE_SPLIT] >= noticeable_event, "splits lines" },
		{ seen->mean[HP_EVENT_ALIAS_4K] >= alias_share, "4K alias" },
	};
	const char *between = "";

	if (has_stride(seen))
		snprintf(stride, sizeof(stride), seen->stride ? "stride %" PRId64 : "one address",
			 seen->stride);
	for (size_t i = 0; i < HP_ARRAY_COUNT(words); i++) {
		if (!words[i].is_so)
			continue;
		hp_buffer_printf(text, "%s%s", between, words[i].word);
		between = ", ";
	}
}

static double taken_share(const struct hp_row *row)
{
	const struct stall *stall = stall_of_row(row);
	const struct hp_cfg *cfg = stall->analysis->cfg;
	const struct hp_block *block = &cfg->blocks[stall->insn->block];

	if (block->end != HP_END_CONDITIONAL)
		return NAN;
	for (uint32_t i = block->first_out; i < block->first_out + block->out_count; i++)
		if (cfg->edges[i].kind != HP_EDGE_FALL)
			return hp_edge_probability(stall->analysis, i);
	return NAN;
}

static void cell_taken(const struct cell *cell, struct hp_buffer *text)
{
	double taken = taken_share(cell->row);

	if (isfinite(taken))
		hp_buffer_printf(text, "%.1f", 100 * taken);
}

static void cell_mispredicted(const struct cell *cell, struct hp_buffer *text)
{
	hp_buffer_printf(text, "%.2f", 100 * share_of(cell->row, HP_EVENT_MISPREDICTED));
}

static const struct column columns_of_memory[] = {
	{ "%", true, false, NO_EVENT, stall_cell_percent },
	{ "between", true, false, NO_EVENT, stall_cell_range },
	{ "cycles", true, false, NO_EVENT, stall_cell_cycles },
	{ "executions", true, false, NO_EVENT, stall_cell_executions },
	{ "L1miss%", true, false, NO_EVENT, cell_l1 },
	{ "L2miss%", true, false, NO_EVENT, cell_l2 },
	{ "TLBmiss%", true, false, NO_EVENT, cell_tlb },
	{ "walk%", true, false, NO_EVENT, cell_walk },
	{ "footprint", true, false, NO_EVENT, cell_footprint },
	{ "pattern", false, true, NO_EVENT, cell_pattern },
	{ "address", true, false, NO_EVENT, cell_address },
	{ "procedure", false, true, NO_EVENT, cell_shown },
	{ "line", false, true, NO_EVENT, stall_cell_position },
};

static const struct column columns_of_branches[] = {
	{ "%", true, false, NO_EVENT, stall_cell_percent },
	{ "between", true, false, NO_EVENT, stall_cell_range },
	{ "cycles", true, false, NO_EVENT, stall_cell_cycles },
	{ "executions", true, false, NO_EVENT, stall_cell_executions },
	{ "taken%", true, false, NO_EVENT, cell_taken },
	{ "mispredicted%", true, false, NO_EVENT, cell_mispredicted },
	{ "address", true, false, NO_EVENT, cell_address },
	{ "procedure", false, true, NO_EVENT, cell_shown },
	{ "line", false, true, NO_EVENT, stall_cell_position },
};

#define COMMON_CSV_BEGIN                                                                           \
	{ "percent", true, false, NO_EVENT, stall_cell_exact_percent },                            \
		{ "percent_low", true, false, NO_EVENT, stall_cell_percent_low },                  \
		{ "percent_high", true, false, NO_EVENT, stall_cell_percent_high },                \
		{ "cycles", true, false, NO_EVENT, stall_cell_exact_cycles },                      \
	{                                                                                          \
		"executions", true, false, NO_EVENT, stall_cell_estimate                           \
	}
#define COMMON_CSV_END                                                                             \
	{ "address", true, false, NO_EVENT, cell_address },                                        \
		{ "procedure", false, false, NO_EVENT, cell_name },                                \
		{ "image", false, false, NO_EVENT, cell_image },                                   \
		{ "build_id", false, false, NO_EVENT, cell_build_id },                             \
		{ "file", false, false, NO_EVENT, cell_file },                                     \
	{                                                                                          \
		"line", false, false, NO_EVENT, cell_line                                          \
	}

static const struct column csv_columns_of_memory[] = {
	COMMON_CSV_BEGIN,
	{ "l1_miss_percent", true, false, NO_EVENT, cell_l1 },
	{ "l2_miss_percent", true, false, NO_EVENT, cell_l2 },
	{ "dtlb_miss_percent", true, false, NO_EVENT, cell_tlb },
	{ "walk_percent", true, false, NO_EVENT, cell_walk },
	{ "stride", true, false, NO_EVENT, cell_stride },
	{ "lines", true, false, NO_EVENT, cell_lines },
	{ "pages", true, false, NO_EVENT, cell_pages },
	COMMON_CSV_END,
	{ "pattern", false, false, NO_EVENT, cell_pattern },
};

static const struct column csv_columns_of_branches[] = {
	COMMON_CSV_BEGIN,
	{ "taken_percent", true, false, NO_EVENT, cell_taken },
	{ "mispredicted_percent", true, false, NO_EVENT, cell_mispredicted },
	COMMON_CSV_END,
};

static struct hp_error *fill(const struct report *report, struct columns *columns)
{
	bool is_memory = report->options->view == HP_VIEW_MEMORY;

	if (report->options->format == HP_FORMAT_CSV)
		return is_memory ? stall_columns(csv_columns_of_memory,
						 HP_ARRAY_COUNT(csv_columns_of_memory), columns)
				 : stall_columns(csv_columns_of_branches,
						 HP_ARRAY_COUNT(csv_columns_of_branches), columns);
	return is_memory ? stall_columns(columns_of_memory, HP_ARRAY_COUNT(columns_of_memory),
					 columns)
			 : stall_columns(columns_of_branches, HP_ARRAY_COUNT(columns_of_branches),
					 columns);
}

/* --- what there is ---------------------------------------------------------------------------- */

struct hp_error *nothing_simulated(const struct report *report)
{
	if (!hp_windows_exist(report->inference))
		return hp_error_advise(
			hp_error_create(
				HP_ERROR_INSUFFICIENT,
				hp_windows_tried(report->inference)
					? "no shadow window counted anything, so none was simulated"
					: "recorded without shadow windows, which tell what "
					  "caches and predictors do"),
			"%s", counting_advice(report));
	return hp_error_advise(
		hp_error_create(HP_ERROR_INSUFFICIENT,
				"no shadow window was simulated in the code that has samples"),
		"record for longer, or with: hpcprof record --shadow --causes=always -- COMMAND");
}

static struct hp_error *make(struct report *report, struct survey *survey, struct hp_row ***rows)
{
	struct hp_error *error = survey_stalls(
		report, report->options->view == HP_VIEW_MEMORY ? SURVEY_MEMORY : SURVEY_BRANCHES,
		survey);

	if (!error && !survey->simulated)
		error = nothing_simulated(report);
	return error ? error : stall_rows(survey, rows);
}

struct hp_error *write_culprits_text(struct report *report, FILE *out)
{
	_cleanup_(survey_clear) struct survey survey = { 0 };
	_cleanup_(columns_clear) struct columns columns = { 0 };
	_cleanup_free_ struct hp_row **rows = NULL;
	bool is_memory = report->options->view == HP_VIEW_MEMORY;
	struct hp_error *error = make(report, &survey, &rows);

	if (!error)
		error = fill(report, &columns);
	if (error)
		return error;
	putc('\n', out);
	error = write_text_table(report, &columns, rows, survey.stalls.count, out);
	if (error)
		return error;
	if (survey.hidden)
		fprintf(out, "# not shown: %zu %s (%.2f %%); --limit N shows more\n", survey.hidden,
			is_memory ? "accesses" : "branches",
			100 * survey_share(&survey, survey.hidden_cycles));
	fputs("# %, cycles: lost to the instruction in all of the profile, likeliest; between: 90 "
	      "% "
	      "interval\n",
	      out);
	fputs(is_memory ? "# misses and page walks: of 100 executions, by models of this core's "
			  "caches "
			  "that followed shadow windows\n"
			: "# mispredicted: of 100 executions, by a model of a predictor that "
			  "followed "
			  "shadow windows\n",
	      out);
	return NULL;
}

struct hp_error *write_culprits_csv(struct report *report, FILE *out)
{
	_cleanup_(survey_clear) struct survey survey = { 0 };
	_cleanup_(columns_clear) struct columns columns = { 0 };
	_cleanup_free_ struct hp_row **rows = NULL;
	struct hp_error *error = make(report, &survey, &rows);

	if (!error)
		error = fill(report, &columns);
	return error ? error : write_csv_table(report, &columns, rows, survey.stalls.count, out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void add_memory(json_t *object, const struct hp_happened *seen)
{
	json_object_set_new(object, "stride",
			    has_stride(seen) ? json_integer(seen->stride) : json_null());
	json_object_set_new(object, "lines", json_number(seen->lines > 0 ? seen->lines : NAN));
	json_object_set_new(object, "pages", json_number(seen->pages > 0 ? seen->pages : NAN));
}

static json_t *culprit_object(const struct hp_row *row, bool is_memory)
{
	const struct stall *stall = stall_of_row(row);
	_cleanup_(hp_buffer_free) struct hp_buffer line = { 0 };
	json_t *object, *happened;

	if (row->file)
		hp_buffer_printf(&line, "%s:%" PRIu32, hp_source_name(row->file), row->line);
	object = json_pack(
		"{s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "share", row->local,
		"share_low", stall->share.low, "share_high", stall->share.high, "cycles",
		stall->cycles, "executions", json_executions(stall_frequency(row)), "address",
		json_address(true, row->address), "procedure", json_text(row->name), "image",
		json_text(row->image->id.path), "build_id", json_text(row->image->build_id), "line",
		row->file ? json_text(hp_buffer_text(&line)) : json_null());
	happened = json_happened(stall->insn->happened);
	if (object && json_object_update(object, happened) != 0) {
		json_decref(object);
		object = NULL;
	}
	json_decref(happened);
	if (object && !is_memory)
		json_object_set_new(object, "taken", json_number(taken_share(row)));
	if (object && is_memory)
		add_memory(object, stall->insn->happened);
	return object;
}

struct hp_error *write_culprits_json(struct report *report, FILE *out)
{
	_cleanup_(survey_clear) struct survey survey = { 0 };
	_cleanup_free_ struct hp_row **rows = NULL;
	bool is_memory = report->options->view == HP_VIEW_MEMORY;
	struct hp_error *error = make(report, &survey, &rows);

	if (!error)
		error = json_write(
			json_header(report, is_memory ? "hpcprof-memory/1" : "hpcprof-branches/1"),
			true, out);
	if (error)
		return error;
	fprintf(out, ",\n\"%s\": [", is_memory ? "accesses" : "branches");
	for (size_t i = 0; i < survey.stalls.count && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = json_write(culprit_object(rows[i], is_memory), false, out);
	}
	fputs("]}\n", out);
	return error;
}
