/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "epoch_list.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/text.h>

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

enum { COLUMNS = 14 };

static const char *const headings[COLUMNS] = {
	"EPOCH", "LABEL",    "STATE",	"HOST",	    "EVENTS", "SAMPLES", "LOST",
	"SIZE",	 "DURATION", "COUNTED", "EVIDENCE", "RUNS",   "CPU",	 "COMMAND",
};

void epoch_size_format(uint64_t bytes, char *text)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 999.5 && unit + 1 < HP_ARRAY_COUNT(units)) {
		value /= 1000;
		unit++;
	}
	snprintf(text, EPOCH_SIZE_BYTES, "%.*f %s", unit && value < 9.95 ? 1 : 0, value,
		 units[unit]);
}

static const char *state_of(const struct hp_epoch_summary *epoch)
{
	if (epoch->problem)
		return "unreadable";
	if (epoch->recording)
		return "recording";
	return epoch->meta.complete ? "complete" : "interrupted";
}

/* --- one epoch's cells -------------------------------------------------------------------- */

static char *command_of(const struct hp_epoch_meta *meta)
{
	if (meta->command_line && meta->command_line[0])
		return hp_text_join(meta->command_line, " ");
	return strdup(meta->target ? meta->target : "");
}

static char *events_of(const struct hp_epoch_meta *meta)
{
	char **names = calloc(meta->event_count + 1, sizeof(*names));
	char *text = NULL;

	for (size_t i = 0; names && i < meta->event_count; i++)
		names[i] = meta->events[i].info.name;
	if (names)
		text = hp_text_join(names, ",");
	free(names);
	return text;
}

struct figures {
	uint64_t samples;
	uint64_t lost;
	uint64_t duration_ns;
	/* Sum over all runs. */
	uint64_t elapsed_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	size_t failed; /* runs that did not exit with 0 */
};

static struct figures figures_of(const struct hp_epoch_meta *meta)
{
	struct figures figures = { 0 };

	for (size_t i = 0; i < meta->event_count; i++) {
		figures.samples += meta->events[i].samples;
		figures.lost += meta->events[i].lost;
	}
	if (meta->end_ns > meta->start_ns)
		figures.duration_ns = meta->end_ns - meta->start_ns;
	for (size_t i = 0; i < meta->run_count; i++) {
		figures.elapsed_ns += meta->runs[i].elapsed_ns;
		figures.user_ns += meta->runs[i].user_ns;
		figures.system_ns += meta->runs[i].system_ns;
		figures.failed += meta->runs[i].exit_status != 0;
	}
	return figures;
}

static double lost_share(const struct figures *figures)
{
	double all = (double)figures->samples + (double)figures->lost;

	return all > 0 ? (double)figures->lost / all : 0;
}

static char *formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *formatted(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = hp_text_format_list(format, arguments);
	va_end(arguments);
	return text;
}

static char *printable(char *text)
{
	char *copy = text ? hp_text_printable(text) : NULL;

	free(text);
	return copy;
}

static char *or_dash(const char *text)
{
	return printable(strdup(text && *text ? text : "-"));
}

/* Returns how much shadow windows counted, as text. */
static char *counted_of(const struct hp_epoch_summary *epoch)
{
	if (!epoch->windows.windows)
		return strdup(epoch->is_evidence_damaged ? "damaged" : "-");
	return formatted("%.1f s", (double)epoch->windows.time_ns / 1e9);
}

enum { EVIDENCE_KINDS = 6 };

static bool has_retired(const struct hp_epoch_meta *meta)
{
	for (size_t i = 0; i < meta->event_count; i++)
		if (meta->events[i].info.unit == HP_UNIT_INSTRUCTIONS && meta->events[i].samples)
			return true;
	return false;
}

/* Lists the kinds of evidence beside samples, each as a word; NULL: the epoch has none of the
 * kind. */
static void list_evidence(const struct hp_epoch_summary *epoch, const char *words[EVIDENCE_KINDS])
{
	words[0] = epoch->evidence & HP_CONTAINS_WINDOWS ? "shadow" : NULL;
	words[1] = epoch->evidence & HP_CONTAINS_OUTCOMES ? "branches" : NULL;
	words[2] = epoch->evidence & HP_CONTAINS_PROBES ? "probes" : NULL;
	words[3] = has_retired(&epoch->meta) ? "retired" : NULL;
	words[4] = epoch->evidence & HP_CONTAINS_RANGES ? "cycles" : NULL;
	words[5] = epoch->has_paths ? "paths" : NULL;
}

static char *evidence_of(const struct hp_epoch_summary *epoch)
{
	const char *words[EVIDENCE_KINDS];
	char *text = strdup("");

	list_evidence(epoch, words);
	for (size_t i = 0; i < EVIDENCE_KINDS && text; i++) {
		char *longer;

		if (!words[i])
			continue;
		longer = formatted("%s%s%s", text, *text ? " " : "", words[i]);
		free(text);
		text = longer;
	}
	return text;
}

static char *evidence_cell(const struct hp_epoch_summary *epoch)
{
	_cleanup_free_ char *text = evidence_of(epoch);

	if (text && *text && epoch->is_evidence_damaged)
		return formatted("%s (damaged)", text);
	return text ? or_dash(text) : NULL;
}

static char *runs_of(const struct hp_epoch_meta *meta, const struct figures *figures)
{
	if (!meta->run_count)
		return strdup("-");
	if (!figures->failed)
		return formatted("%zu", meta->run_count);
	return formatted("%zu, %zu failed", meta->run_count, figures->failed);
}

/* Returns the mean CPU time per run, as text. */
static char *cpu_of(const struct hp_epoch_meta *meta, const struct figures *figures)
{
	double cpu_ns = (double)figures->user_ns + (double)figures->system_ns;

	if (!meta->run_count)
		return strdup("-");
	return formatted("%.3f s", cpu_ns / (double)meta->run_count / 1e9);
}

/* Fills in texts that the caller frees; false when memory is short. */
static bool fill_cells(const struct hp_epoch_summary *epoch, char **cells)
{
	const struct hp_epoch_meta *meta = &epoch->meta;
	struct figures figures = figures_of(meta);
	char size[EPOCH_SIZE_BYTES];

	epoch_size_format(epoch->bytes, size);
	cells[0] = strdup(epoch->stamp);
	cells[1] = or_dash(meta->label);
	cells[2] = strdup(state_of(epoch));
	cells[3] = or_dash(meta->host);
	cells[4] = printable(events_of(meta));
	cells[5] = formatted("%" PRIu64, figures.samples);
	cells[6] = formatted("%.2f%%", 100 * lost_share(&figures));
	cells[7] = strdup(size);
	cells[8] = formatted("%.1f s", (double)figures.duration_ns / 1e9);
	cells[9] = counted_of(epoch);
	cells[10] = evidence_cell(epoch);
	cells[11] = runs_of(meta, &figures);
	cells[12] = cpu_of(meta, &figures);
	cells[13] = epoch->problem ? or_dash(epoch->problem) : printable(command_of(meta));
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!cells[i])
			return false;
	}
	return true;
}

/* --- text --------------------------------------------------------------------------------- */

/* Counts characters, not bytes, which suffices for names. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

static bool is_number_column(size_t column)
{
	return column >= 5 && column <= 12 && column != 10;
}

/* The columns that fit a terminal of 80 characters; --wide adds the others. */
static const size_t narrow[] = { 0, 1, 5, 7, 8, COLUMNS - 1 };
enum { NARROW_COLUMNS = 80, LONGEST_LABEL = 14 };

static void print_cut(FILE *stream, const char *text, size_t columns)
{
	size_t shown = 0;
	size_t bytes = 0;

	if (width_of(text) <= columns) {
		fputs(text, stream);
		return;
	}
	for (; text[bytes]; bytes++) {
		shown += (text[bytes] & 0xc0) != 0x80;
		if (shown == columns)
			break;
	}
	fprintf(stream, "%.*s\xe2\x80\xa6", (int)bytes, text);
}

static void print_wide_row(FILE *stream, char *const *cells, const size_t *widths)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		int padding = (int)(widths[i] - width_of(cells[i]));

		if (i + 1 == COLUMNS)
			fprintf(stream, "%s\n", cells[i]);
		else if (is_number_column(i))
			fprintf(stream, "%*s%s  ", padding, "", cells[i]);
		else
			fprintf(stream, "%s%*s  ", cells[i], padding, "");
	}
}

static void print_narrow_row(FILE *stream, char *const *cells, const size_t *widths)
{
	size_t left = NARROW_COLUMNS;

	for (size_t i = 0; i < HP_ARRAY_COUNT(narrow); i++) {
		size_t column = narrow[i];
		size_t width = column == 1 && widths[1] > LONGEST_LABEL ? LONGEST_LABEL
									: widths[column];
		size_t own = width_of(cells[column]);
		int padding = own < width ? (int)(width - own) : 0;

		if (column + 1 == COLUMNS) {
			print_cut(stream, cells[column], left);
			putc('\n', stream);
			return;
		}
		if (is_number_column(column))
			fprintf(stream, "%*s", padding, "");
		print_cut(stream, cells[column], width);
		if (!is_number_column(column))
			fprintf(stream, "%*s", padding, "");
		fputs("  ", stream);
		left = left > width + 2 + 10 ? left - width - 2 : 10;
	}
}

static void print_table(FILE *stream, char *(*rows)[COLUMNS], size_t count, bool wide)
{
	size_t widths[COLUMNS] = { 0 };

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < COLUMNS; j++) {
			size_t width = width_of(rows[i][j]);

			widths[j] = width > widths[j] ? width : widths[j];
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (wide)
			print_wide_row(stream, rows[i], widths);
		else
			print_narrow_row(stream, rows[i], widths);
	}
}

/* Puts the state, if it is unusual, in front of the command: narrow lists have no column for it. */
static bool add_state(const struct hp_epoch_summary *epoch, char **cells)
{
	char *text;

	if (strcmp(cells[2], "complete") == 0)
		return true;
	text = formatted("(%s) %s", state_of(epoch), cells[COLUMNS - 1]);
	free(cells[COLUMNS - 1]);
	cells[COLUMNS - 1] = text;
	return text;
}

static struct hp_error *print_as_text(FILE *stream, const struct hp_epoch_summary *epochs,
				      size_t count, bool wide)
{
	char *(*rows)[COLUMNS] = calloc(count + 1, sizeof(*rows));
	struct hp_error *error = NULL;
	bool filled = rows != NULL;

	for (size_t j = 0; filled && j < COLUMNS; j++)
		filled = (rows[0][j] = strdup(headings[j])) != NULL;
	for (size_t i = 0; filled && i < count; i++)
		filled = fill_cells(&epochs[i], rows[i + 1]) &&
			 (wide || add_state(&epochs[i], rows[i + 1]));
	if (filled && count)
		print_table(stream, rows, count + 1, wide);
	else if (filled)
		fputs("no epochs\n", stream);
	else
		error = hp_error_create_no_memory();
	for (size_t i = 0; rows && i < (count + 1) * COLUMNS; i++)
		free(rows[i / COLUMNS][i % COLUMNS]);
	free(rows);
	return error;
}

/* --- CSV ---------------------------------------------------------------------------------- */

static void print_field(FILE *stream, const char *text)
{
	_cleanup_free_ char *safe = hp_text_printable(text ? text : "");

	putc('"', stream);
	if (safe && hp_text_is_formula(safe))
		putc('\'', stream);
	for (const char *at = safe ? safe : "?"; *at; at++) {
		if (*at == '"')
			putc('"', stream);
		putc(*at, stream);
	}
	fputs("\",", stream);
}

static struct hp_error *print_as_csv(FILE *stream, const struct hp_epoch_summary *epochs,
				     size_t count)
{
	fputs("epoch,label,state,host,events,samples,lost,bytes,images,start_ns,end_ns,command,"
	      "problem,windows,windows_ns,runs,failed_runs,elapsed_ns,user_ns,system_ns,evidence\n",
	      stream);
	for (size_t i = 0; i < count; i++) {
		const struct hp_epoch_meta *meta = &epochs[i].meta;
		_cleanup_free_ char *events = events_of(meta);
		_cleanup_free_ char *command = command_of(meta);
		_cleanup_free_ char *evidence = evidence_of(&epochs[i]);
		struct figures figures = figures_of(meta);

		if (!events || !command || !evidence)
			return hp_error_create_no_memory();
		print_field(stream, epochs[i].stamp);
		print_field(stream, meta->label);
		print_field(stream, state_of(&epochs[i]));
		print_field(stream, meta->host);
		print_field(stream, events);
		fprintf(stream, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%zu,%" PRIu64 ",%" PRIu64 ",",
			figures.samples, figures.lost, epochs[i].bytes, epochs[i].images,
			meta->start_ns, meta->end_ns);
		print_field(stream, command);
		print_field(stream, epochs[i].problem);
		fprintf(stream,
			"%" PRIu64 ",%" PRIu64 ",%zu,%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",\"%s\"\n",
			epochs[i].windows.windows, epochs[i].windows.time_ns, meta->run_count,
			figures.failed, figures.elapsed_ns, figures.user_ns, figures.system_ns,
			evidence);
	}
	return NULL;
}

/* --- JSON --------------------------------------------------------------------------------- */

/* Makes null of NULL; spells out bytes that are not UTF-8. */
static json_t *json_of(const char *text)
{
	_cleanup_free_ char *safe = NULL;
	json_t *string;

	if (!text)
		return json_null();
	string = json_string(text);
	if (string)
		return string;
	safe = hp_text_printable(text);
	return safe ? json_string(safe) : NULL;
}

static json_t *json_of_events(const struct hp_epoch_meta *meta)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < meta->event_count; i++) {
		const struct hp_event_totals *event = &meta->events[i];

		json_array_append_new(list, json_pack("{s:o, s:s, s:I, s:I, s:I, s:I}", "name",
						      json_of(event->info.name), "unit",
						      hp_unit_name(event->info.unit), "samples",
						      (json_int_t)event->samples, "period_total",
						      (json_int_t)event->period_total, "lost",
						      (json_int_t)event->lost, "unattributed",
						      (json_int_t)event->unattributed));
	}
	return list;
}

static json_t *json_of_command(const struct hp_epoch_meta *meta)
{
	json_t *list;

	if (!meta->command_line)
		return json_null();
	list = json_array();
	for (size_t i = 0; list && meta->command_line[i]; i++)
		json_array_append_new(list, json_of(meta->command_line[i]));
	return list;
}

/* 0 means unknown, and becomes null. */
static json_t *json_known(uint64_t value)
{
	return value ? json_integer((json_int_t)value) : json_null();
}

static json_t *json_of_runs(const struct hp_epoch_meta *meta)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < meta->run_count; i++) {
		const struct hp_run *run = &meta->runs[i];

		json_array_append_new(
			list,
			json_pack("{s:I, s:I, s:I, s:I, s:i, s:o, s:o, s:o}", "elapsed_ns",
				  (json_int_t)run->elapsed_ns, "user_ns", (json_int_t)run->user_ns,
				  "system_ns", (json_int_t)run->system_ns, "max_rss_bytes",
				  (json_int_t)run->max_rss_bytes, "exit_status",
				  (int)run->exit_status, "work",
				  run->work > 0 ? json_real(run->work) : json_null(),
				  "reference_begin_ns", json_known(run->reference_begin_ns),
				  "reference_end_ns", json_known(run->reference_end_ns)));
	}
	return list;
}

static json_t *json_of_evidence(const struct hp_epoch_summary *epoch)
{
	const char *words[EVIDENCE_KINDS];
	json_t *list = json_array();

	list_evidence(epoch, words);
	for (size_t i = 0; i < EVIDENCE_KINDS; i++)
		if (words[i])
			json_array_append_new(list, json_string(words[i]));
	return list;
}

static json_t *json_of_epoch(const struct hp_epoch_summary *epoch)
{
	const struct hp_epoch_meta *meta = &epoch->meta;

	return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o, "
			 "s:{s:I, s:I, s:b}, s:o}",
			 "epoch", epoch->stamp, "label", json_of(meta->label), "state",
			 state_of(epoch), "host", json_of(meta->host), "target",
			 json_of(meta->target), "command", json_of_command(meta), "events",
			 json_of_events(meta), "images", (json_int_t)epoch->images, "bytes",
			 (json_int_t)epoch->bytes, "start_ns", (json_int_t)meta->start_ns, "end_ns",
			 (json_int_t)meta->end_ns, "problem", json_of(epoch->problem), "runs",
			 json_of_runs(meta), "windows", "count", (json_int_t)epoch->windows.windows,
			 "time_ns", (json_int_t)epoch->windows.time_ns, "damaged",
			 epoch->is_evidence_damaged, "evidence", json_of_evidence(epoch));
}

static struct hp_error *print_as_json(FILE *stream, const char *database,
				      const struct hp_epoch_summary *epochs, size_t count)
{
	json_t *list = json_array();
	json_t *root;
	bool complete = list != NULL;

	for (size_t i = 0; complete && i < count; i++)
		complete = json_array_append_new(list, json_of_epoch(&epochs[i])) == 0;
	root = json_pack("{s:s, s:o, s:o}", "schema", "hpcprof-epochs/1", "database",
			 json_of(database), "epochs", list);
	if (root && complete) {
		json_dumpf(root, stream, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putc('\n', stream);
	}
	json_decref(root);
	return root && complete ? NULL : hp_error_create_no_memory();
}

struct hp_error *epoch_list_print(FILE *stream, enum epoch_format format, const char *database,
				  const struct hp_epoch_summary *epochs, size_t count)
{
	switch (format) {
	case EPOCH_FORMAT_JSON:
		return print_as_json(stream, database, epochs, count);
	case EPOCH_FORMAT_CSV:
		return print_as_csv(stream, epochs, count);
	case EPOCH_FORMAT_WIDE:
		return print_as_text(stream, epochs, count, true);
	case EPOCH_FORMAT_TEXT:
		break;
	}
	return print_as_text(stream, epochs, count, false);
}
