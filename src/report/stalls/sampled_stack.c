/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampled_stack.h"

#include "../common/json.h"
#include "../common/text.h"
#include "../tables/breakdown.h"
#include "../tables/cells.h"
#include "../tuning.h"

#include <math.h>
#include <string.h>

bool shows_sampled_stacks(const struct report *report)
{
	if (report->options->stacks != HP_STACKS_THERE_ARE)
		return report->options->stacks == HP_STACKS_OF_COUNTERS;
	return hp_stalled_exists(report->profiles) ||
	       (hp_stalled_has_cpi(report->profiles) && !hp_windows_exist(report->inference));
}

/* --- what is written -------------------------------------------------------------------------- */

/* State of writing the stacks, one after the other. */
struct sampled_stacks {
	const struct report *report;
	struct hp_stalled *stalled; /* owned */
	struct hp_tally *all;	    /* of the whole program, by event; owned */
	size_t cycles;		    /* index of the event */
	size_t shown;		    /* number of rows */
};

static void clear(struct sampled_stacks *stacks)
{
	if (stacks->stalled)
		hp_stalled_destroy(stacks->stalled);
	free(stacks->all);
}

static size_t count_shown(const struct report *report, size_t cycles)
{
	const struct hp_report_options *options = report->options;
	const struct hp_profiles *profiles = report->profiles;
	bool for_people = options->format == HP_FORMAT_TEXT;
	size_t limit = options->limit				     ? options->limit
		       : for_people && !(options->percent_limit > 0) ? DEFAULT_ROWS
								     : SIZE_MAX;
	size_t shown = 0;

	while (shown < profiles->rows.count && shown < limit &&
	       100 * hp_profiles_share(profiles, cycles,
				       &profiles->rows.at[shown]->tallies[cycles]) >=
		       options->percent_limit)
		shown++;
	return shown;
}

static struct hp_error *begin(struct report *report, struct sampled_stacks *stacks)
{
	const struct hp_profiles *profiles = report->profiles;
	struct hp_error *error;

	*stacks = (struct sampled_stacks){ .report = report };
	if (!hp_stalled_has_cpi(profiles))
		return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
						       "cycles and instructions were not both "
						       "sampled, so there is no stack by counters"),
				       "record with: hpcprof record --stalls -- COMMAND");
	error = hp_stalled_create(profiles, &stacks->stalled);
	if (error)
		return error;
	stacks->all = calloc(profiles->events.count, sizeof(*stacks->all));
	if (!stacks->all)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < profiles->events.count; i++)
		stacks->all[i] = profiles->events.at[i].kept;
	stacks->cycles = hp_profiles_time_event(profiles);
	stacks->shown = count_shown(report, stacks->cycles);
	return NULL;
}

static double share_of(const struct sampled_stacks *stacks, const struct hp_tally *tallies)
{
	return hp_profiles_share(stacks->report->profiles, stacks->cycles,
				 &tallies[stacks->cycles]);
}

static double likely_of(const struct hp_stack *stack, unsigned component)
{
	return stack->parts[component].values[HP_STACK_INTERVAL];
}

/* --- text ------------------------------------------------------------------------------------- */

static void write_part(const struct hp_stack *stack, enum hp_stack_component component, FILE *out)
{
	enum { WIDEST = 40 };
	const struct hp_stack_part *part = &stack->parts[component];
	double likely = likely_of(stack, component) / stack->cpi;
	int blocks = (int)lround(WIDEST * fmin(1, fmax(0, likely)));

	fprintf(out, "  %-16s %4.0f %%  %4.0f to %3.0f  ", hp_stack_component_word(component),
		100 * likely, 100 * part->low / stack->cpi, 100 * fmin(1, part->high / stack->cpi));
	for (int i = 0; i < blocks; i++)
		fputs("█", out);
	putc('\n', out);
}

/* Writes parts that are large enough, the largest first. */
static void write_parts(const struct hp_stack *stack, unsigned most, FILE *out)
{
	enum hp_stack_component order[HP_STACK_COMPONENTS];
	unsigned written = 0;

	hp_stack_order(stack, order);
	for (unsigned i = 0; i < HP_STACK_COMPONENTS && written < most; i++) {
		double likely = likely_of(stack, order[i]) / stack->cpi;

		if (!stack->parts[order[i]].is_known || !(fabs(likely) >= least_stack_share))
			continue;
		write_part(stack, order[i], out);
		written++;
	}
	if (!stack->adds_up)
		fprintf(out,
			"  # the components are %.0f %% more than there were cycles: these counts "
			"do "
			"not add up\n",
			100 * stack->excess / stack->cpi);
}

static void write_cpi(const struct hp_stack *stack, FILE *out)
{
	if (stack->cpi > 0)
		fprintf(out, ", %.2f cycles per instruction (%.2f to %.2f)\n", stack->cpi,
			stack->cpi_low, stack->cpi_high);
	else
		fputs(", too few samples for a stack\n", out);
}

/* Writes causes within one component, or outside of all, whose parts are unknown. */
static void write_missing(const struct hp_stack *stack, enum hp_stack_component within, FILE *out)
{
	bool any = false;

	for (unsigned i = 0; i < HP_STACK_OTHER; i++) {
		if (!stack->parts[i].is_known || stack->parts[i].within != within ||
		    !isnan(likely_of(stack, i)))
			continue;
		fprintf(out, "%s%s", any ? ", " : "# not counted separately: ",
			hp_stack_component_word((enum hp_stack_component)i));
		any = true;
	}
	if (any)
		fprintf(out, ": in %s\n", hp_stack_component_word(within));
}

static void write_doubts(const struct hp_stack *stack, FILE *out)
{
	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++)
		write_missing(stack, (enum hp_stack_component)i, out);
	if (stack->violated)
		fprintf(out, "# these counts contradict: %s\n", stack->violated);
	if (hp_stack_table_is_generic(stack->table))
		fputs("# hpcprof has no table of this core's events: only two levels can be "
		      "told\n",
		      out);
}

/* Adds the row's keys, for people. */
static struct hp_error *name_row(const struct report *report, const struct hp_row *row,
				 struct hp_buffer *text)
{
	_cleanup_(columns_clear) struct columns columns = { 0 };
	struct hp_error *error = NULL;

	if (!report->profiles->by.count) {
		text_escape(text, row->shown ? row->shown : row->name);
		return NULL;
	}
	error = breakdown_columns(report, true, &columns);
	for (size_t i = 0; i < columns.at.count && !error; i++) {
		_cleanup_(hp_buffer_free) struct hp_buffer raw = { 0 };
		const struct cell cell = { report, row, NO_EVENT };

		columns.at.at[i].cell(&cell, &raw);
		hp_buffer_printf(text, "%s%s ", i ? "  " : "", columns.at.at[i].title);
		text_escape(text, hp_buffer_text(&raw));
	}
	return error;
}

static struct hp_error *write_row(const struct sampled_stacks *stacks, const struct hp_row *row,
				  FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer name = { 0 };
	struct hp_stack stack;
	struct hp_error *error = hp_stalled_stack(stacks->stalled, row->tallies, &stack);

	if (!error)
		error = name_row(stacks->report, row, &name);
	if (error)
		return error;
	fprintf(out, "\n%.2f %%  %s", 100 * share_of(stacks, row->tallies), hp_buffer_text(&name));
	write_cpi(&stack, out);
	if (stack.cpi > 0)
		write_parts(&stack, STACK_LINES, out);
	return NULL;
}

static void write_footer(const struct sampled_stacks *stacks, FILE *out)
{
	size_t hidden = stacks->report->profiles->rows.count - stacks->shown;

	if (hidden)
		fprintf(out, "\n# not shown: %zu rows; --limit N shows more\n", hidden);
	fprintf(out,
		"# shares of cycles, by events of %s that were sampled; to: ranges, which overlap\n"
		"# samples are late: of a line, some belong to the line before\n",
		stacks->stalled->table->title);
	if (hp_windows_exist(stacks->report->inference))
		fputs("# --stack=windows shows the stacks of shadow windows\n", out);
}

struct hp_error *write_sampled_stacks_text(struct report *report, FILE *out)
{
	_cleanup_(clear) struct sampled_stacks stacks;
	struct hp_stack whole;
	struct hp_error *error = begin(report, &stacks);

	if (!error)
		error = hp_stalled_stack(stacks.stalled, stacks.all, &whole);
	if (error)
		return error;
	fputs("\nprogram", out);
	write_cpi(&whole, out);
	if (whole.cpi > 0) {
		write_parts(&whole, HP_STACK_COMPONENTS, out);
		write_doubts(&whole, out);
	}
	for (size_t i = 0; i < stacks.shown && !error; i++)
		error = write_row(&stacks, report->profiles->rows.at[i], out);
	if (!error)
		write_footer(&stacks, out);
	return error;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *part_object(const struct hp_stack_part *part)
{
	json_t *object = json_pack("{s:o, s:o, s:o}", "likely",
				   json_number(part->values[HP_STACK_INTERVAL]), "low",
				   json_number(part->low), "high", json_number(part->high));

	if (part->within != HP_STACK_OTHER)
		json_object_set_new(object, "within",
				    json_string(hp_stack_component_name(part->within)));
	if (part->missing)
		json_object_set_new(object, "not_counted", json_string(part->missing));
	return object;
}

static json_t *parts_object(const struct hp_stack *stack)
{
	json_t *parts = json_object();

	for (unsigned i = 0; i < HP_STACK_COMPONENTS && stack->cpi > 0; i++)
		if (stack->parts[i].is_known)
			json_object_set_new(parts,
					    hp_stack_component_name((enum hp_stack_component)i),
					    part_object(&stack->parts[i]));
	return parts;
}

static void add_stack(json_t *object, const struct hp_stack *stack)
{
	json_object_set_new(object, "cpi",
			    json_pack("{s:o, s:o, s:o}", "value", json_number(stack->cpi), "low",
				      json_number(stack->cpi_low), "high",
				      json_number(stack->cpi_high)));
	json_object_set_new(object, "stack", parts_object(stack));
	json_object_set_new(object, "adds_up", json_boolean(stack->adds_up));
	json_object_set_new(object, "contradicted", json_text(stack->violated));
}

static json_t *row_object(const struct report *report, const struct hp_row *row)
{
	if (report->profiles->by.count)
		return breakdown_object(report, row);
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "procedure", json_text(row->name), "image",
			 json_text(row->image->id.path), "build_id",
			 json_text(row->image->build_id), "samples",
			 json_samples(report, row->tallies), "share",
			 json_shares(report, row->tallies));
}

struct hp_error *write_sampled_stacks_json(struct report *report, FILE *out)
{
	_cleanup_(clear) struct sampled_stacks stacks;
	struct hp_error *error = begin(report, &stacks);
	const struct hp_stack_table *table = error ? NULL : stacks.stalled->table;
	json_t *program = json_object();
	struct hp_stack stack;

	if (!error)
		error = hp_stalled_stack(stacks.stalled, stacks.all, &stack);
	if (!error)
		error = json_write(json_header(report, "hpcprof-stall-stack/1"), true, out);
	if (error) {
		json_decref(program);
		return error;
	}
	add_stack(program, &stack);
	fprintf(out, ",\n\"core\": \"%s\", \"core_is_known\": %s,\n\"program\": ", table->name,
		hp_stack_table_is_generic(table) ? "false" : "true");
	error = json_write(program, false, out);
	fputs(",\n\"rows\": [", out);
	for (size_t i = 0; i < stacks.shown && !error; i++) {
		const struct hp_row *row = report->profiles->rows.at[i];
		json_t *object = row_object(report, row);

		error = hp_stalled_stack(stacks.stalled, row->tallies, &stack);
		add_stack(object, &stack);
		fputs(i ? ",\n" : "\n", out);
		if (error)
			json_decref(object);
		else
			error = json_write(object, false, out);
	}
	fputs("]}\n", out);
	return error;
}

/* --- CSV -------------------------------------------------------------------------------------- */

static struct hp_error *csv_columns(const struct report *report, struct columns *columns)
{
	static const struct column own[] = {
		{ "image", false, true, NO_EVENT, cell_image },
		{ "procedure", false, true, NO_EVENT, cell_name },
	};

	if (report->profiles->by.count)
		return breakdown_columns(report, false, columns);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!hp_vector_push(&columns->at, own[i]))
			return hp_error_create_no_memory();
	return NULL;
}

/* Writes what the stack belongs to; nothing for the program. */
static void csv_names(const struct report *report, const struct columns *columns,
		      const struct hp_row *row, struct hp_buffer *names)
{
	for (size_t i = 0; i < columns->at.count; i++) {
		_cleanup_(hp_buffer_free) struct hp_buffer raw = { 0 };
		const struct cell cell = { report, row, NO_EVENT };

		if (row)
			columns->at.at[i].cell(&cell, &raw);
		text_csv(names, hp_buffer_text(&raw));
		hp_buffer_add(names, ",", 1);
	}
}

static void csv_number(double value, FILE *out)
{
	if (isfinite(value))
		fprintf(out, ",%.17g", value);
	else
		putc(',', out);
}

static struct hp_error *csv_stack(const struct sampled_stacks *stacks,
				  const struct columns *columns, const struct hp_row *row,
				  FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer names = { 0 };
	struct hp_stack stack;
	struct hp_error *error =
		hp_stalled_stack(stacks->stalled, row ? row->tallies : stacks->all, &stack);

	if (error)
		return error;
	csv_names(stacks->report, columns, row, &names);
	for (unsigned i = 0; i < HP_STACK_COMPONENTS && stack.cpi > 0; i++) {
		const struct hp_stack_part *part = &stack.parts[i];

		if (!part->is_known)
			continue;
		fprintf(out, "%s%s", hp_buffer_text(&names),
			hp_stack_component_name((enum hp_stack_component)i));
		csv_number(stack.cpi, out);
		csv_number(part->values[HP_STACK_INTERVAL], out);
		csv_number(part->low, out);
		csv_number(part->high, out);
		fputs("\r\n", out);
	}
	return NULL;
}

struct hp_error *write_sampled_stacks_csv(struct report *report, FILE *out)
{
	_cleanup_(columns_clear) struct columns columns = { 0 };
	_cleanup_(clear) struct sampled_stacks stacks;
	struct hp_error *error = begin(report, &stacks);

	if (!error)
		error = csv_columns(report, &columns);
	for (size_t i = 0; i < columns.at.count && !error; i++)
		fprintf(out, "%s,", columns.at.at[i].title);
	if (!error)
		fputs("component,cpi,likely,low,high\r\n", out);
	if (!error)
		error = csv_stack(&stacks, &columns, NULL, out);
	for (size_t i = 0; i < stacks.shown && !error; i++)
		error = csv_stack(&stacks, &columns, report->profiles->rows.at[i], out);
	return error;
}
