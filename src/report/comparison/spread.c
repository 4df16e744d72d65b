/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../common/json.h"
#include "../common/quantity.h"
#include "../common/text.h"

#include <hpcprof/base/search.h>
#include <hpcprof/model/procedure_name.h>

#include <hpcprof/report/spread.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct writing {
	const struct hp_spread *spread;
	size_t rows; /* rows that are shown */
	FILE *out;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* --- text ------------------------------------------------------------------------------------ */

static void add_sets(struct hp_buffer *text, const struct hp_spread *spread)
{
	hp_buffer_printf(text, "# sets    ");
	for (size_t i = 0; i < spread->set_count; i++) {
		const struct hp_spread_set *set = &spread->sets[i];

		hp_buffer_printf(text, "%s%zu = %.0f (", i ? ", " : "", i + 1, set->samples);
		text_escape(text, set->label ? set->label : set->stamp);
		hp_buffer_printf(text, ")");
	}
	hp_buffer_printf(text, "; all %.0f\n# event   ", spread->samples);
	text_escape(text, spread->event);
	hp_buffer_printf(text, ", one sample every ");
	quantity_add_period(text, spread->unit, (uint64_t)llround(spread->period));
	hp_buffer_printf(text, "\n");
	for (size_t i = 0; i < spread->note_count; i++) {
		hp_buffer_printf(text, "# note    ");
		text_escape(text, spread->notes[i]);
		hp_buffer_printf(text, "\n");
	}
}

static void add_figure(struct hp_buffer *text, double value, int width, int digits)
{
	if (isfinite(value))
		hp_buffer_printf(text, "%*.*f ", width, digits, value);
	else
		hp_buffer_printf(text, "%*s ", width, "-");
}

/* --- names for people ------------------------------------------------------------------------ */

struct shown {
	const struct hp_spread_row *row;
	char *text;
};

static int compare_shown(const void *left, const void *right)
{
	const struct shown *a = left;
	const struct shown *b = right;
	int order = strcmp(a->text, b->text);

	return order ? order : strcmp(a->row->name, b->row->name);
}

HP_ORDER_BY(compare_places, struct shown, row);

/* A short name that stands for several procedures is not used. */
static void drop_ambiguous(struct shown *shown, size_t count)
{
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1;
		     end < count && strcmp(shown[end].text, shown[first].text) == 0; end++)
			;
		if (strcmp(shown[first].row->name, shown[end - 1].row->name) == 0)
			continue;
		for (size_t i = first; i < end; i++) {
			free(shown[i].text);
			shown[i].text = strdup(shown[i].row->name);
		}
	}
}

static void free_shown(struct shown *shown, size_t count)
{
	for (size_t i = 0; shown && i < count; i++)
		free(shown[i].text);
	free(shown);
}

/* In the order of the rows; released by free_shown. NULL: out of memory. Names of languages other
 * than C++ contain no "::". */
static struct shown *shorten(const struct hp_spread_row *rows, size_t count)
{
	struct shown *shown = calloc(count + 1, sizeof(*shown));
	bool failed = !shown;

	for (size_t i = 0; !failed && i < count; i++) {
		const char *name = rows[i].name;

		shown[i] = (struct shown){
			.row = &rows[i],
			.text = strstr(name, "::") ? hp_name_shorten(name, NULL) : strdup(name),
		};
		failed = !shown[i].text;
	}
	if (!failed) {
		qsort(shown, count, sizeof(*shown), compare_shown);
		drop_ambiguous(shown, count);
		qsort(shown, count, sizeof(*shown), compare_places);
	}
	for (size_t i = 0; !failed && i < count; i++)
		failed = !shown[i].text;
	if (!failed)
		return shown;
	free_shown(shown, count);
	return NULL;
}

static void add_text_row(struct hp_buffer *text, const struct hp_spread_row *row, const char *name)
{
	hp_buffer_printf(text, "%6.2f%% ", 100 * row->range);
	add_figure(text, row->sum, 12, 2);
	hp_buffer_printf(text, "%6.2f%% %4zu ", 100 * row->share, row->sets);
	add_figure(text, row->mean, 11, 2);
	add_figure(text, row->deviation, 11, 2);
	add_figure(text, row->least, 11, 2);
	add_figure(text, row->most, 11, 2);
	hp_buffer_printf(text, " ");
	text_escape(text, name);
	if (row->file) {
		hp_buffer_printf(text, "  ");
		text_escape(text, base_name(row->file));
		if (row->line)
			hp_buffer_printf(text, ":%" PRIu32, row->line);
	}
	if (row->image != row->name) {
		hp_buffer_printf(text, "  ");
		text_escape(text, base_name(row->image));
	}
	hp_buffer_printf(text, "\n");
}

static struct hp_error *write_text(const struct writing *writing)
{
	const struct hp_spread *spread = writing->spread;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	struct shown *shown = shorten(spread->rows, writing->rows);

	if (!shown)
		return hp_error_create_no_memory();
	add_sets(&text, spread);
	hp_buffer_printf(&text, "\n%7s %12s %7s %4s %11s %11s %11s %11s  %s\n", "range%", "sum",
			 "sum%", "N", "mean", "std-dev", "min", "max", "where");
	for (size_t i = 0; i < writing->rows; i++)
		add_text_row(&text, &spread->rows[i], shown[i].text);
	free_shown(shown, writing->rows);
	if (writing->rows < spread->row_count)
		hp_buffer_printf(&text, "# not shown: %zu more\n",
				 spread->row_count - writing->rows);
	return hp_buffer_write(&text, writing->out);
}

/* --- CSV ------------------------------------------------------------------------------------- */

static struct hp_error *write_csv(const struct writing *writing)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	hp_buffer_printf(&text,
			 "range,sum,share,sets,mean,deviation,min,max,name,image,file,line\r\n");
	for (size_t i = 0; i < writing->rows; i++) {
		const struct hp_spread_row *row = &writing->spread->rows[i];

		hp_buffer_printf(&text, "%.9g,%.9g,%.9g,%zu,%.9g,", row->range, row->sum,
				 row->share, row->sets, row->mean);
		if (isfinite(row->deviation))
			hp_buffer_printf(&text, "%.9g", row->deviation);
		hp_buffer_printf(&text, ",%.9g,%.9g,", row->least, row->most);
		text_csv(&text, row->name);
		hp_buffer_printf(&text, ",");
		text_csv(&text, row->image);
		hp_buffer_printf(&text, ",");
		text_csv(&text, row->file ? row->file : "");
		hp_buffer_printf(&text, row->line ? ",%" PRIu32 "\r\n" : ",\r\n", row->line);
	}
	return hp_buffer_write(&text, writing->out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static json_t *row_object(const struct hp_spread_row *row)
{
	return json_pack("{so so so so so so so so so so so so}", "name", json_text(row->name),
			 "image", json_text(row->image), "file", json_text(row->file), "line",
			 row->line ? json_integer(row->line) : json_null(), "sets",
			 json_count(row->sets), "sum", json_number(row->sum), "mean",
			 json_number(row->mean), "deviation", json_number(row->deviation), "min",
			 json_number(row->least), "max", json_number(row->most), "range",
			 json_number(row->range), "share", json_number(row->share));
}

static json_t *set_object(const struct hp_spread_set *set)
{
	return json_pack("{so so so}", "epoch", json_text(set->stamp), "label",
			 json_text(set->label), "samples", json_number(set->samples));
}

static json_t *list_sets(const struct hp_spread *spread)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < spread->set_count; i++)
		if (json_array_append_new(list, set_object(&spread->sets[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *list_rows(const struct writing *writing)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < writing->rows; i++)
		if (json_array_append_new(list, row_object(&writing->spread->rows[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *list_notes(const struct hp_spread *spread)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < spread->note_count; i++)
		if (json_array_append_new(list, json_text(spread->notes[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static struct hp_error *write_json(const struct writing *writing)
{
	const struct hp_spread *spread = writing->spread;
	json_t *root = json_pack("{ss so so ss so so so}", "schema", "hpcprof-stats/1", "event",
				 json_text(spread->event), "period", json_number(spread->period),
				 "unit", hp_unit_name(spread->unit), "sets", list_sets(spread),
				 "rows", list_rows(writing), "notes", list_notes(spread));

	return json_write(root, false, writing->out);
}

struct hp_error *hp_spread_write(const struct hp_spread *spread, enum hp_spread_format format,
				 size_t limit, FILE *out)
{
	const struct writing writing = {
		.spread = spread,
		.rows = limit && limit < spread->row_count ? limit : spread->row_count,
		.out = out,
	};

	switch (format) {
	case HP_SPREAD_TEXT:
		return write_text(&writing);
	case HP_SPREAD_JSON:
		return write_json(&writing);
	case HP_SPREAD_CSV:
		return write_csv(&writing);
	}
	return NULL;
}
