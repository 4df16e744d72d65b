/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints a stall stack for people, in at most 80 columns. */
#include "stat_stalls.h"
#include "tuning.h"

#include <hpcprof/base/buffer.h>
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/text.h>

#include <math.h>
#include <string.h>

/* What each component means, and where to see more of it. */
static const char *const meanings[HP_STACK_COMPONENTS] = {
	[HP_STACK_BASE] = "instructions, at the width of the core",
	[HP_STACK_MISPREDICT] = "wrong paths, and filling the pipeline again: report --branches",
	[HP_STACK_RESTART] = "machine clears, not by branches: report --stalls",
	[HP_STACK_ICACHE] = "code from L2 or farther: report --stalls",
	[HP_STACK_ITLB] = "pages of code: report --stalls",
	[HP_STACK_FETCH] = "the front end delivered too little: report --stalls",
	[HP_STACK_L1] = "loads that hit, and forwarding: report --memory",
	[HP_STACK_L2] = "loads that hit L2: report --memory",
	[HP_STACK_L3] = "loads that hit L3: report --memory",
	[HP_STACK_MEMORY] = "loads from memory: report --memory",
	[HP_STACK_DCACHE] = "loads from L2, L3 or memory: report --memory",
	[HP_STACK_DTLB] = "pages of data: report --memory",
	[HP_STACK_STORE] = "stores that wait for a buffer: report --memory",
	[HP_STACK_LONG] = "division, serialising: report --instructions",
	[HP_STACK_CORE] = "waits for operands and units: report --stalls",
	[HP_STACK_SMT] = "the other thread of the core had the slots",
	[HP_STACK_OTHER] = "no event claims these cycles",
};

enum { BAR = 22, COLUMNS = 80 };

/* Draws the bar: full up to the likely value, light up to the upper end. */
static void print_bar(FILE *stream, double likely, double high, double cpi)
{
	int full = (int)lround(BAR * fmin(1, fmax(0, isnan(likely) ? 0 : likely / cpi)));
	int light = (int)lround(BAR * fmin(1, fmax(0, high / cpi)));

	for (int i = 0; i < full; i++)
		fputs("█", stream);
	for (int i = full; i < light; i++)
		fputs("░", stream);
}

/* Avoids "-0.00". */
static double unsigned_nothing(double value)
{
	return fabs(value) < least_shown ? 0 : value;
}

static void print_value(FILE *stream, double value)
{
	value = unsigned_nothing(value);
	if (isnan(value))
		fputs("       -", stream);
	else
		fprintf(stream, "%8.3f", value);
}

static void print_part(FILE *stream, const struct stat_stalls *stalls, const struct hp_stack *stack,
		       enum hp_stack_component component)
{
	const struct hp_stack_part *part = &stack->parts[component];
	double likely = part->values[HP_STACK_INTERVAL];

	fprintf(stream, "  %-13s", hp_stack_component_word(component));
	print_value(stream, likely);
	if (isnan(likely))
		fputs("        ", stream);
	else
		fprintf(stream, " %4.0f %% ", 100 * unsigned_nothing(likely) / stack->cpi);
	if (stalls->accounting != HP_STACK_INTERVAL)
		print_value(stream, part->values[stalls->accounting]);
	fprintf(stream, " %6.3f to %-6.3f ", unsigned_nothing(part->low), part->high);
	print_bar(stream, likely, part->high, stack->cpi);
	putc('\n', stream);
}

/* Prints one line below a component's bar. */
static void print_meaning(FILE *stream, const struct hp_stack *stack,
			  enum hp_stack_component component)
{
	const struct hp_stack_part *part = &stack->parts[component];

	fprintf(stream, "      %s\n", meanings[component]);
	if (part->within != HP_STACK_OTHER)
		fprintf(stream, "      not counted separately: at most this much of %s\n",
			hp_stack_component_word(part->within));
}

/* A component is also counted if the missing event would only refine it. */
static bool is_counted(const struct hp_stack_part *part)
{
	return part->is_known && (!part->missing || !isnan(part->values[HP_STACK_INTERVAL]));
}

static bool is_shown(const struct hp_stack *stack, enum hp_stack_component component)
{
	const struct hp_stack_part *part = &stack->parts[component];

	return component == HP_STACK_OTHER ||
	       (is_counted(part) && part->high >= least_component * stack->cpi);
}

static void print_heading(FILE *stream, const struct stat_stalls *stalls,
			  const struct hp_stack *stack)
{
	fprintf(stream, "%.3f cycles per instruction", stack->cpi);
	if (stack->cpi_high > stack->cpi)
		fprintf(stream, " (%.3f to %.3f)", stack->cpi_low, stack->cpi_high);
	fprintf(stream, ", of which:\n\n  %-13s%8s%8s", "", "likely", "");
	if (stalls->accounting != HP_STACK_INTERVAL)
		fprintf(stream, " %7.7s",
			stalls->accounting == HP_STACK_MULTI_STAGE
				? "stages"
				: hp_stack_accounting_name(stalls->accounting));
	fprintf(stream, " %6s    %-6s (%s)\n", "from", "to", stack->table->title);
}

/* Prints a remark in lines of 80 columns. */
static void print_remark(FILE *stream, const char *about, const char *says)
{
	size_t room = COLUMNS - strlen("# : ") - strlen(about);

	fprintf(stream, "# %s: ", about);
	for (;;) {
		size_t length = hp_text_line(says, room);

		fprintf(stream, "%.*s\n", (int)length, says);
		says += length + strspn(says + length, " ");
		if (!*says)
			return;
		fputs("#   ", stream);
		room = COLUMNS - strlen("#   ");
	}
}

/* Prints the missing components that another component contains, or that none does, and the largest
 * value they can have. */
static void print_missing(FILE *stream, const struct hp_stack *stack,
			  enum hp_stack_component within)
{
	_cleanup_(hp_buffer_free) struct hp_buffer names = { 0 };
	double high = 0;

	for (unsigned i = 0; i < HP_STACK_OTHER; i++) {
		const struct hp_stack_part *part = &stack->parts[i];

		if (!part->is_known || is_counted(part) || part->within != within)
			continue;
		hp_buffer_printf(&names, "%s%s", names.size ? ", " : "",
				 hp_stack_component_word((enum hp_stack_component)i));
		high = fmax(high, part->high);
	}
	if (!names.size)
		return;
	hp_buffer_printf(&names, ": each 0 to %.3f, in %s", high,
			 within == HP_STACK_OTHER ? "the others" : hp_stack_component_word(within));
	print_remark(stream, "not counted here", hp_buffer_text(&names));
}

static void print_doubts(FILE *stream, const struct stat_stalls *stalls,
			 const struct hp_stack *stack)
{
	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++)
		print_missing(stream, stack, (enum hp_stack_component)i);
	if (isnan(stack->cpi_high))
		fputs("# there were too few slices for an interval of the cycles per instruction\n",
		      stream);
	if (!stack->adds_up)
		fprintf(stream,
			"# the components are %.3f more than there were cycles (%.0f %%): these "
			"counts do not\n# add up, and nothing was rescaled\n",
			stack->excess, 100 * stack->excess / stack->cpi);
	if (stack->violated)
		fprintf(stream, "# these counts contradict: %s\n", stack->violated);
	if (stalls->accounting != HP_STACK_INTERVAL) {
		print_remark(stream, hp_stack_accounting_name(stalls->accounting),
			     hp_stack_accounting_says(stalls->accounting));
		print_remark(stream, "likely", hp_stack_accounting_says(HP_STACK_INTERVAL));
	}
	if (hp_stack_table_is_generic(stack->table))
		fputs("# hpcprof has no table of this core's events: only two levels can be "
		      "told\n",
		      stream);
}

void stat_stalls_text(FILE *stream, const struct stat_stalls *stalls, const struct hp_stack *stack)
{
	enum hp_stack_component order[HP_STACK_COMPONENTS];

	if (isnan(stack->cpi)) {
		bool has_cycles = !isnan(stack->cycles);

		fprintf(stream, "no stack: %s were not counted (%s)\n",
			has_cycles ? "instructions" : "cycles",
			stack->table->events[has_cycles].name);
		return;
	}
	print_heading(stream, stalls, stack);
	hp_stack_order(stack, order);
	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++) {
		if (!is_shown(stack, order[i]))
			continue;
		print_part(stream, stalls, stack, order[i]);
		print_meaning(stream, stack, order[i]);
	}
	print_doubts(stream, stalls, stack);
}

static double likely_of(const struct hp_stack *stack, enum hp_stack_component component)
{
	double likely = stack->parts[component].values[HP_STACK_INTERVAL];

	return isnan(likely) ? 0 : likely;
}

/* Prints the largest components that the line has room for, `other` among them. */
void stat_stalls_line(FILE *stream, double end_s, const struct hp_stack *stack)
{
	enum hp_stack_component order[HP_STACK_COMPONENTS];
	double other = likely_of(stack, HP_STACK_OTHER);
	bool has_other = !(other > 0);
	unsigned next = 0;

	fprintf(stream, "%10.4f  %8.3f", end_s, stack->cpi);
	hp_stack_order(stack, order);
	for (unsigned i = 0; i < LINE_COMPONENTS; i++) {
		bool is_other = !has_other && other > likely_of(stack, order[next]);
		enum hp_stack_component one = is_other ? HP_STACK_OTHER : order[next++];

		has_other |= is_other;
		if (likely_of(stack, one) > 0)
			fprintf(stream, "  %3.0f %% %-13s",
				100 * likely_of(stack, one) / stack->cpi,
				hp_stack_component_word(one));
	}
	putc('\n', stream);
}
