/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write_what_if.h"

#include "../common/json.h"
#include "../common/text.h"
#include "../tuning.h"
#include "stall_cells.h"
#include "survey.h"
#include <hpcprof/analyze/what_if.h>
#include "write_culprits.h"
#include "write_stalls.h"

#include <math.h>
#include <string.h>

struct predicted {
	struct hp_what_if what_if;
	const struct hp_core *core;
	struct survey survey;
	struct hp_row **rows;
	size_t count; /* number of rows that are shown */
	double timed; /* cycles in code that was timed */
	/* cycles gained in all of the program, by all changes together … */
	struct hp_what_gain of_program;
	struct hp_what_gain of_changes[HP_MOST_CHANGES]; /* … and by each change */
};

static void predicted_clear(struct predicted *predicted)
{
	survey_clear(&predicted->survey);
	free(predicted->rows);
}

/* By fitted penalties, and by those of the table. */
struct timed {
	struct hp_prediction fitted, by_table;
};

static struct timed timed_of(const struct predicted *predicted, const struct hp_row *row)
{
	const struct hp_analysis *analysis = stall_of_row(row)->analysis;
	struct hp_prediction fitted =
		hp_penalties_apply(&predicted->survey.penalties, &analysis->prediction);

	return (struct timed){ hp_cpi_scaled(analysis, &fitted),
			       hp_cpi_scaled(analysis, &analysis->prediction) };
}

static struct hp_what_gain gain_of(const struct predicted *predicted, const struct timed *one)
{
	struct hp_what_gain gain =
		hp_what_if_gain(&predicted->what_if, predicted->core, &one->fitted);
	struct hp_what_gain other =
		hp_what_if_gain(&predicted->what_if, predicted->core, &one->by_table);

	hp_what_gain_widen(&gain, &other);
	return gain;
}

static struct hp_what_gain gain_of_change(const struct predicted *predicted, size_t change,
					  const struct timed *one)
{
	const struct hp_what_change *asked = &predicted->what_if.changes[change];
	struct hp_what_gain gain = hp_what_change_gain(asked, predicted->core, &one->fitted);
	struct hp_what_gain other = hp_what_change_gain(asked, predicted->core, &one->by_table);

	hp_what_gain_widen(&gain, &other);
	return gain;
}

/* For code that was not timed, any gain is possible. */
static void add_unknown(struct hp_what_gain *gain, const struct hp_what_change *changes,
			size_t count, double cycles)
{
	struct hp_what_gain share = hp_what_if_unknown(changes, count);

	gain->low += share.low * cycles;
	gain->high += share.high * cycles;
}

static void add_up(struct predicted *predicted)
{
	const struct hp_what_if *what_if = &predicted->what_if;
	double unknown;

	for (size_t i = 0; i < predicted->survey.stalls.count; i++) {
		struct timed one = timed_of(predicted, predicted->rows[i]);
		struct hp_what_gain gain = gain_of(predicted, &one);

		predicted->timed += one.fitted.measured;
		hp_what_gain_add(&predicted->of_program, &gain);
		for (size_t j = 0; j < what_if->count; j++) {
			if (what_if->count > 1)
				gain = gain_of_change(predicted, j, &one);
			hp_what_gain_add(&predicted->of_changes[j], &gain);
		}
	}
	unknown = fmax(0, predicted->survey.cycles - predicted->timed);
	add_unknown(&predicted->of_program, what_if->changes, what_if->count, unknown);
	for (size_t j = 0; j < what_if->count; j++)
		add_unknown(&predicted->of_changes[j], &what_if->changes[j], 1, unknown);
}

/* Limits only affect what is shown: all procedures are added up. */
static struct hp_error *predict(struct report *report, struct predicted *predicted)
{
	struct hp_report_options unlimited = *report->options;
	struct report all = *report;
	struct hp_error *error;

	predicted->core = &report->inference->core;
	error = hp_what_if_parse(report->options->what_if, &predicted->what_if);
	if (error)
		return error;
	all.options = &unlimited;
	unlimited.limit = SIZE_MAX;
	unlimited.percent_limit = 0;
	error = survey_stalls(&all, SURVEY_TIMED, &predicted->survey);
	if (!error && !predicted->survey.simulated)
		error = nothing_simulated(report);
	if (!error)
		error = hp_what_if_check(&predicted->what_if, predicted->core,
					 predicted->survey.prediction.has_resized);
	if (!error)
		error = stall_rows(&predicted->survey, &predicted->rows);
	if (error)
		return error;
	add_up(predicted);
	predicted->count = survey_shown(report, &predicted->survey);
	return NULL;
}

/* Predicted time minus present time, as a share of all time. */
struct change {
	double likely, low, high;
};

static struct change change_of(const struct hp_what_gain *gain, double cycles)
{
	/* avoids -0 */
	return (struct change){ (0 - gain->likely) / cycles, (0 - gain->high) / cycles,
				(0 - gain->low) / cycles };
}

static struct change change_of_row(const struct predicted *predicted, const struct hp_row *row)
{
	struct timed one = timed_of(predicted, row);
	struct hp_what_gain gain = gain_of(predicted, &one);

	return change_of(&gain, one.fitted.measured);
}

/* --- text ------------------------------------------------------------------------------------- */

static void write_percent(double share, FILE *out)
{
	double percent = round(100 * share);

	fprintf(out, "%s%.0f %%",
		percent < 0   ? "\xe2\x88\x92"
		: percent > 0 ? "+"
			      : "",
		fabs(percent));
}

/* Writes "branch:perfect −38 %, from −41 % to −30 %". */
static void write_change(const char *what, int columns, const struct change *change, FILE *out)
{
	fprintf(out, "  %-*s  ", columns, what);
	if (isfinite(change->likely)) {
		write_percent(change->likely, out);
		fputs(", ", out);
	}
	fputs("from ", out);
	write_percent(change->low, out);
	fputs(" to ", out);
	write_percent(change->high, out);
	putc('\n', out);
}

static void write_procedures(const struct predicted *predicted, FILE *out)
{
	fprintf(out, "\nof the time of each procedure%s\n",
		predicted->what_if.count > 1 ? ", all of them together" : "");
	for (size_t i = 0; i < predicted->count; i++) {
		const struct hp_row *row = predicted->rows[i];
		struct change change = change_of_row(predicted, row);
		_cleanup_(hp_buffer_free) struct hp_buffer name = { 0 };

		hp_buffer_printf(&name, "%6.2f %%  ", 100 * row->local);
		text_escape(&name, row->shown ? row->shown : row->name);
		write_change(hp_buffer_text(&name), WHAT_IF_COLUMNS, &change, out);
	}
}

struct hp_error *write_what_if_text(struct report *report, FILE *out)
{
	_cleanup_(predicted_clear) struct predicted predicted = { 0 };
	struct hp_error *error = predict(report, &predicted);
	const struct hp_what_if *what_if = &predicted.what_if;
	bool has_sizes = false;
	struct change change;

	if (error)
		return error;
	fputs("\nof the program's time\n", out);
	for (size_t i = 0; i < what_if->count; i++) {
		change = change_of(&predicted.of_changes[i], predicted.survey.cycles);
		write_change(what_if->changes[i].text, WHAT_IF_COLUMNS, &change, out);
		has_sizes |= !isfinite(change.likely);
	}
	change = change_of(&predicted.of_program, predicted.survey.cycles);
	if (what_if->count > 1)
		write_change("all of them", WHAT_IF_COLUMNS, &change, out);
	write_procedures(&predicted, out);
	if (predicted.count < predicted.survey.stalls.count)
		fprintf(out, "\n# not shown: %zu procedure%s; --limit N shows more\n",
			predicted.survey.stalls.count - predicted.count,
			predicted.survey.stalls.count - predicted.count == 1 ? "" : "s");
	fprintf(out,
		"# by a model of the core that followed the path of code with %.1f %% of the time; "
		"ranges include what the rest may save\n",
		100 * survey_share(&predicted.survey, predicted.timed));
	if (has_sizes)
		fputs("# of a size that was not recorded (record --what-if) only bounds are known: "
		      "between nothing and what a perfect one saves\n",
		      out);
	return NULL;
}

/* --- JSON and CSV ----------------------------------------------------------------------------- */

static json_t *change_object(const struct change *change)
{
	return json_pack("{s:o, s:f, s:f}", "likely", json_number(change->likely), "low",
			 change->low, "high", change->high);
}

static json_t *changes_array(const struct predicted *predicted)
{
	json_t *list = json_array();

	for (size_t i = 0; i < predicted->what_if.count; i++) {
		struct change change =
			change_of(&predicted->of_changes[i], predicted->survey.cycles);

		json_array_append_new(list, json_pack("{s:s, s:o}", "what",
						      predicted->what_if.changes[i].text, "change",
						      change_object(&change)));
	}
	return list;
}

static json_t *procedure_object(const struct predicted *predicted, const struct hp_row *row)
{
	struct change change = change_of_row(predicted, row);

	return json_pack("{s:o, s:o, s:o, s:f, s:o}", "procedure", json_text(row->name), "image",
			 json_text(row->image->id.path), "build_id",
			 json_text(row->image->build_id), "share", row->local, "change",
			 change_object(&change));
}

struct hp_error *write_what_if_json(struct report *report, FILE *out)
{
	_cleanup_(predicted_clear) struct predicted predicted = { 0 };
	struct hp_error *error = predict(report, &predicted);
	struct change change;

	if (!error)
		error = json_write(json_header(report, "hpcprof-what-if/1"), true, out);
	if (error)
		return error;
	change = change_of(&predicted.of_program, predicted.survey.cycles);
	error = json_write_more(json_pack("{s:f, s:o, s:o}", "simulated",
					  survey_share(&predicted.survey, predicted.timed),
					  "changes", changes_array(&predicted), "program",
					  change_object(&change)),
				out);
	fputs(",\n\"procedures\": [", out);
	for (size_t i = 0; i < predicted.count && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = json_write(procedure_object(&predicted, predicted.rows[i]), false, out);
	}
	fputs("]}\n", out);
	return error;
}

static void write_record(const char *what, const struct hp_row *row, const struct change *change,
			 FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer record = { 0 };

	text_csv(&record, row ? row->image->id.path : "");
	hp_buffer_printf(&record, ",");
	text_csv(&record, row ? row->name : "");
	hp_buffer_printf(&record, ",");
	text_csv(&record, what);
	hp_buffer_printf(&record, ",");
	if (isfinite(change->likely))
		hp_buffer_printf(&record, "%.6f", change->likely);
	fprintf(out, "%s,%.6f,%.6f\r\n", hp_buffer_text(&record), change->low, change->high);
}

struct hp_error *write_what_if_csv(struct report *report, FILE *out)
{
	_cleanup_(predicted_clear) struct predicted predicted = { 0 };
	struct hp_error *error = predict(report, &predicted);
	struct change change;

	if (error)
		return error;
	fputs("image,procedure,what,likely,low,high\r\n", out);
	for (size_t i = 0; i < predicted.what_if.count; i++) {
		change = change_of(&predicted.of_changes[i], predicted.survey.cycles);
		write_record(predicted.what_if.changes[i].text, NULL, &change, out);
	}
	change = change_of(&predicted.of_program, predicted.survey.cycles);
	write_record("all", NULL, &change, out);
	for (size_t i = 0; i < predicted.count; i++) {
		change = change_of_row(&predicted, predicted.rows[i]);
		write_record("all", predicted.rows[i], &change, out);
	}
	return NULL;
}
