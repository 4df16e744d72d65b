/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "comparison.h"

#include "../common/quantity.h"
#include "../tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/text.h>
#include <hpcprof/model/procedure_name.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ARROW "\xe2\x86\x92"
#define MINUS "\xe2\x88\x92"

/* --- figures -------------------------------------------------------------------------------- */

static void add_significant(struct hp_buffer *buffer, double value)
{
	double size = fabs(value);

	hp_buffer_printf(buffer, "%.*f", size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, value);
}

static void add_time(struct hp_buffer *buffer, double time_ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (i + 1 < HP_ARRAY_COUNT(units) && fabs(time_ns) < 0.9995 * units[i].ns)
		i++;
	if (!(fabs(time_ns) > 0)) /* most likely the same unit as everything else */
		i = 1;
	add_significant(buffer, time_ns / units[i].ns);
	hp_buffer_printf(buffer, " %s", units[i].name);
}

void comparison_add_cost(struct hp_buffer *buffer, const struct hp_comparison *comparison,
			 double cost)
{
	if (!isfinite(cost)) {
		hp_buffer_printf(buffer, "?");
	} else if (comparison->is_relative) {
		add_significant(buffer, 100 * cost);
		hp_buffer_printf(buffer, " %%");
	} else if (comparison->unit == HP_UNIT_NS) {
		add_time(buffer, cost);
	} else {
		quantity_add(buffer, cost);
		hp_buffer_printf(buffer, " %s", hp_unit_name(comparison->unit));
	}
}

static void add_percent(struct hp_buffer *buffer, double share)
{
	double percent = 100 * share;
	int digits = fabs(percent) >= 99.95 ? 0 : fabs(percent) >= 0.995 ? 1 : 2;

	if (isinf(share))
		hp_buffer_printf(buffer, "%s\xe2\x88\x9e", share < 0 ? MINUS : "+");
	else
		hp_buffer_printf(buffer, "%s%.*f %%", percent < 0 ? MINUS : "+", digits,
				 fabs(percent));
}

void comparison_add_change(struct hp_buffer *buffer, const struct hp_compared *compared)
{
	double change = compared->change.value;

	if (isnan(change))
		hp_buffer_printf(buffer, "?");
	else if (isinf(change))
		hp_buffer_printf(buffer, "new");
	else if (!(compared->side[HP_CANDIDATE].cost.value > 0) && change < 0)
		hp_buffer_printf(buffer, "gone");
	else
		add_percent(buffer, change);
}

bool comparison_is_uncertain(const struct hp_compared *compared)
{
	const struct hp_measured *change = &compared->change;

	return isfinite(change->value) && 1 + change->high > telling_factor &&
	       1 + change->low < 1 / telling_factor;
}

void comparison_add_change_interval(struct hp_buffer *buffer, const struct hp_compared *compared)
{
	const struct hp_measured *change = &compared->change;

	if (!isfinite(change->value) || isnan(change->low) || isnan(change->high))
		return;
	if (comparison_is_uncertain(compared)) {
		hp_buffer_printf(buffer, "uncertain");
		return;
	}
	if (1 + change->high > telling_factor) {
		hp_buffer_printf(buffer, "at least ");
		add_percent(buffer, change->low);
		return;
	}
	add_percent(buffer, change->low);
	hp_buffer_printf(buffer, " to ");
	add_percent(buffer, change->high);
}

void comparison_add_share_change(struct hp_buffer *buffer, const struct hp_compared *compared)
{
	double change = compared->share_change.value;
	bool is_on_both = compared->side[HP_BASE].cost.value > 0 &&
			  compared->side[HP_CANDIDATE].cost.value > 0;

	/* What is new or gone has no share to compare with. */
	if (compared->share_change.high != 0 && isfinite(change) && is_on_both)
		add_percent(buffer, change);
}

/* --- names and places ------------------------------------------------------------------------- */

const char *comparison_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *comparison_relative_path(const struct comparison_writer *writer, const char *path)
{
	const char *root = writer->options->source_root;
	size_t length = root ? strlen(root) : 0;

	if (length && strncmp(path, root, length) == 0 && path[length] == '/')
		path += length + 1;
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	return path;
}

/* The extent in the candidate, or in the base if only that has it. */
static void add_extent(struct hp_buffer *buffer, const struct hp_compared *compared)
{
	bool is_gone = !compared->extent[HP_CANDIDATE].end;
	const struct hp_compared_extent *extent =
		&compared->extent[is_gone ? HP_BASE : HP_CANDIDATE];

	hp_buffer_printf(buffer, "0x%" PRIx64 "-0x%" PRIx64 "%s of ", extent->start, extent->end,
			 is_gone ? " (that is gone)" : "");
}

/* Whether another procedure has the same short name. */
static bool looks_alike(const struct hp_compared *among, const char *name, const char *text)
{
	_cleanup_free_ char *other = NULL;

	if (among->scope == HP_SCOPE_PROCEDURE && strcmp(among->name, name) != 0) {
		other = hp_name_shorten(among->name, NULL);
		return other && strcmp(other, text) == 0;
	}
	for (size_t i = 0; i < among->part_count; i++)
		if (looks_alike(among->parts[i], name, text))
			return true;
	return false;
}

/* The short name if it is unique. Names of languages other than C++ contain no "::". */
static void add_shown(struct hp_buffer *buffer, const struct hp_comparison *comparison,
		      const char *name)
{
	_cleanup_free_ char *text = strstr(name, "::") ? hp_name_shorten(name, NULL) : NULL;
	bool is_short = text && comparison->program &&
			!looks_alike(comparison->program, name, text);

	text_escape(buffer, is_short ? text : name);
}

void comparison_add_name(struct hp_buffer *buffer, const struct hp_comparison *comparison,
			 const struct hp_compared *compared)
{
	if (compared->scope == HP_SCOPE_PROGRAM) {
		hp_buffer_printf(buffer, "the program");
		return;
	}
	hp_buffer_printf(buffer, "%s ", hp_scope_name(compared->scope));
	if (compared->scope == HP_SCOPE_LINE)
		hp_buffer_printf(buffer, "%" PRIu32 " of ", compared->line);
	if (compared->scope == HP_SCOPE_BLOCK)
		add_extent(buffer, compared);
	if (compared->scope == HP_SCOPE_IMAGE)
		text_escape(buffer, comparison_base_name(compared->name));
	else
		add_shown(buffer, comparison, compared->name);
	if (compared->scope != HP_SCOPE_IMAGE && compared->image) {
		hp_buffer_printf(buffer, " in ");
		text_escape(buffer, comparison_base_name(compared->image));
	}
	if (compared->former_name) {
		hp_buffer_printf(buffer, " (was ");
		add_shown(buffer, comparison, compared->former_name);
		hp_buffer_printf(buffer, ")");
	}
}

void comparison_add_place(struct hp_buffer *buffer, const struct comparison_writer *writer,
			  const struct hp_compared *compared)
{
	if (!compared->file)
		return;
	text_escape(buffer, comparison_relative_path(writer, compared->file));
	if (compared->line)
		hp_buffer_printf(buffer, ":%" PRIu32, compared->line);
}

/* --- sentences ------------------------------------------------------------------------------ */

/* The cost shown is corrected for a machine that became slower or faster; this adds the measured
 * one. */
static void add_machine(struct hp_buffer *buffer, const struct hp_comparison *comparison)
{
	double slower = comparison->machine - 1;

	if (!(fabs(slower) >= noticeable_machine))
		return;
	hp_buffer_printf(buffer, " (measured ");
	comparison_add_cost(buffer, comparison,
			    comparison->machine *
				    comparison->program->side[HP_CANDIDATE].cost.value);
	hp_buffer_printf(buffer, ", while the machine made all %.2g %% %s)", 100 * fabs(slower),
			 slower > 0 ? "slower" : "faster");
}

static void add_costs(struct hp_buffer *buffer, const struct hp_comparison *comparison,
		      const struct hp_compared *compared)
{
	comparison_add_cost(buffer, comparison, compared->side[HP_BASE].cost.value);
	hp_buffer_printf(buffer, " " ARROW " ");
	comparison_add_cost(buffer, comparison, compared->side[HP_CANDIDATE].cost.value);
	if (comparison->is_relative)
		hp_buffer_printf(buffer, " of the program");
	else
		hp_buffer_printf(buffer, " per %s", comparison->per);
	if (compared->scope == HP_SCOPE_PROGRAM)
		add_machine(buffer, comparison);
	hp_buffer_printf(buffer, ", ");
	comparison_add_change(buffer, compared);
	if (isfinite(compared->change.value)) {
		hp_buffer_printf(buffer, " (");
		comparison_add_change_interval(buffer, compared);
		hp_buffer_printf(buffer, ")");
	}
}

static void add_counted(struct hp_buffer *buffer, size_t count, const char *what)
{
	if (count)
		hp_buffer_printf(buffer, "; %zu %s%s", count, what, count == 1 ? "" : "s");
}

static size_t count_regressions(const struct hp_comparison *comparison)
{
	size_t count = 0;

	for (size_t i = 0; i < comparison->finding_count; i++)
		count += hp_comparison_is_regression(comparison->findings[i]);
	return count;
}

static size_t count_improvements(const struct hp_comparison *comparison)
{
	size_t count = 0;

	for (size_t i = 0; i < comparison->finding_count; i++) {
		const struct hp_compared *compared = comparison->findings[i];

		count += !compared->is_shift && compared->lost.value < 0;
	}
	return count;
}

void comparison_add_summary(struct hp_buffer *buffer, const struct hp_comparison *comparison)
{
	const struct hp_compared *program = comparison->program;

	if (comparison->is_relative) {
		hp_buffer_printf(buffer, "shares of the program compared");
	} else {
		hp_buffer_printf(buffer, "the program costs ");
		add_costs(buffer, comparison, program);
	}
	if (comparison->verdict == HP_VERDICT_INSUFFICIENT && comparison->shortage_count) {
		hp_buffer_printf(buffer, "; ");
		comparison_add_shortage(buffer, &comparison->shortages[0]);
	}
	add_counted(buffer, count_regressions(comparison), "regression");
	add_counted(buffer, count_improvements(comparison), "improvement");
	if (comparison->verdict == HP_VERDICT_PASS && isfinite(program->smallest_change) &&
	    !comparison->is_relative)
		hp_buffer_printf(buffer, "; a change of %.1f %% would have been detected",
				 100 * program->smallest_change);
}

void comparison_add_headline(struct hp_buffer *buffer, const struct hp_comparison *comparison)
{
	hp_buffer_printf(buffer, "%s: ", hp_verdict_name(comparison->verdict));
	comparison_add_summary(buffer, comparison);
}

void comparison_add_finding(struct hp_buffer *buffer, const struct hp_comparison *comparison,
			    const struct hp_compared *compared)
{
	comparison_add_name(buffer, comparison, compared);
	hp_buffer_printf(buffer, " costs ");
	add_costs(buffer, comparison, compared);
	if (isfinite(compared->q))
		hp_buffer_printf(buffer, ", q = %.2g", compared->q);
}

const struct hp_compared *comparison_next_inner(const struct hp_compared *compared, size_t *at)
{
	size_t count = compared->block_count + compared->part_count;

	if (compared->scope != HP_SCOPE_PROCEDURE)
		return NULL;
	while (*at < count) {
		size_t i = (*at)++;
		const struct hp_compared *inner =
			i < compared->block_count ? compared->blocks[i]
						  : compared->parts[i - compared->block_count];

		if (inner->is_finding)
			return inner;
	}
	return NULL;
}

void comparison_add_inner(struct hp_buffer *buffer, const struct comparison_writer *writer,
			  const struct hp_compared *inner)
{
	comparison_add_finding(buffer, writer->comparison, inner);
	if (inner->file) {
		hp_buffer_printf(buffer, " (");
		comparison_add_place(buffer, writer, inner);
		hp_buffer_printf(buffer, ")");
	}
}

void comparison_add_shift(struct hp_buffer *buffer, const struct hp_comparison *comparison,
			  const struct hp_cost_shift *shift)
{
	comparison_add_cost(buffer, comparison, fabs(shift->cost));
	hp_buffer_printf(buffer, shift->cost >= 0 ? " of it came from " : " of it went to ");
	text_escape(buffer, shift->partner->name);
	if (shift->why) {
		hp_buffer_printf(buffer, " (");
		text_escape(buffer, shift->why);
		hp_buffer_printf(buffer, ")");
	}
}

const char *comparison_way(const struct hp_comparison *comparison)
{
	if (comparison->is_side_by_side)
		return "; the sides ran side by side";
	return comparison->is_interleaved ? "; the sides were recorded in turns" : "";
}

void comparison_add_command(struct hp_buffer *buffer, const char *command)
{
	enum { MOST_COLUMNS = 120 };
	_cleanup_(hp_buffer_free) struct hp_buffer escaped = { 0 };

	text_escape(&escaped, command);
	text_cut(buffer, hp_buffer_text(&escaped), MOST_COLUMNS);
	buffer->failed |= escaped.failed;
}

void comparison_add_shortage(struct hp_buffer *buffer, const struct hp_shortage *shortage)
{
	text_escape(buffer, shortage->reason);
	if (shortage->advice) {
		hp_buffer_printf(buffer, "; ");
		text_escape(buffer, shortage->advice);
	}
}

/* Control characters and bytes that are not UTF-8 are visible escapes already. U+FFFE and U+FFFF
 * are no characters of XML. */
void comparison_add_markup(struct hp_buffer *out, const char *text)
{
	while (*text) {
		uint32_t point = 0;
		size_t length = hp_text_utf8(text, &point);

		if (point == '<')
			hp_buffer_printf(out, "&lt;");
		else if (point == '>')
			hp_buffer_printf(out, "&gt;");
		else if (point == '&')
			hp_buffer_printf(out, "&amp;");
		else if (point == '"')
			hp_buffer_printf(out, "&quot;");
		else if (!length || point == 0xfffe || point == 0xffff)
			hp_buffer_printf(out, "\xef\xbf\xbd");
		else
			hp_buffer_add(out, text, length);
		text += length ? length : 1;
	}
}

/* --- the whole -------------------------------------------------------------------------------- */

bool hp_comparison_is_regression(const struct hp_compared *compared)
{
	return compared->is_finding && !compared->is_shift && compared->lost.value > 0;
}

static int compare_differences(const void *left, const void *right)
{
	const struct hp_compared *a = *(const struct hp_compared *const *)left;
	const struct hp_compared *b = *(const struct hp_compared *const *)right;
	double a_lost = fabs(a->lost.value);
	double b_lost = fabs(b->lost.value);

	return (a_lost < b_lost) - (a_lost > b_lost);
}

const struct hp_compared **comparison_differences(const struct hp_comparison *comparison,
						  size_t *count)
{
	const struct hp_compared *program = comparison->program;
	const struct hp_compared **list;
	size_t room = 1;

	*count = 0;
	for (size_t i = 0; i < program->part_count; i++)
		room += program->parts[i]->part_count;
	list = calloc(room, sizeof(*list));
	if (!list)
		return NULL;
	list[(*count)++] = program;
	for (size_t i = 0; i < program->part_count; i++)
		for (size_t j = 0; j < program->parts[i]->part_count; j++)
			list[(*count)++] = program->parts[i]->parts[j];
	qsort(list + 1, *count - 1, sizeof(*list), compare_differences);
	return list;
}

size_t comparison_most_findings(const struct comparison_writer *writer)
{
	return writer->options->most_findings ? writer->options->most_findings
					      : COMPARISON_MOST_FINDINGS;
}
