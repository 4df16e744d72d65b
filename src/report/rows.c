/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows.h"

#include <hpcprof/base/hash.h>

#include <string.h>

struct row_entry {
	UT_hash_handle hh;
	struct row_key key;
	struct row row;
};

struct row *rows_at(struct report *report, const struct row_key *key)
{
	struct row_entry *entry;

	HASH_FIND(hh, report->row_index, key, sizeof(*key), entry);
	if (entry)
		return &entry->row;
	entry = hp_arena_alloc(report->arena, sizeof(*entry));
	if (!entry)
		return NULL;
	memcpy(&entry->key, key, sizeof(*key));
	entry->row.image = key->image;
	entry->row.name = key->name;
	entry->row.file = key->file;
	entry->row.line = key->line;
	entry->row.inlined = key->inlined != 0;
	entry->row.group = key->group;
	entry->row.tallies = report_tallies(report);
	if (!entry->row.tallies || !hp_vector_push(&report->rows, &entry->row))
		return NULL;
	HASH_ADD(hh, report->row_index, key, sizeof(*key), entry);
	return entry->hh.tbl ? &entry->row : NULL;
}

void rows_forget(struct report *report)
{
	HASH_CLEAR(hh, report->row_index);
}

static bool view_has(enum hp_report_view view, enum sort_key key)
{
	switch (key) {
	case SORT_ADDRESS:
		return view == HP_VIEW_PROCEDURES || view == HP_VIEW_INSTRUCTIONS;
	case SORT_LINE:
		return view == HP_VIEW_LINES;
	case SORT_SAMPLES:
	case SORT_NAME:
	case SORT_IMAGE:
		return view != HP_VIEW_BREAKDOWN || key == SORT_SAMPLES;
	}
	return true;
}

struct hp_error *rows_parse_sort(struct report *report, enum sort_key *key)
{
	static const char *const names[] = { [SORT_SAMPLES] = "samples",
					     [SORT_NAME] = "name",
					     [SORT_IMAGE] = "image",
					     [SORT_ADDRESS] = "address",
					     [SORT_LINE] = "line" };
	const char *wanted = report->options->sort ? report->options->sort : names[SORT_SAMPLES];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		*key = (enum sort_key)i;
		if (strcmp(wanted, names[i]) == 0 && view_has(report->options->view, *key))
			return NULL;
	}
	*key = SORT_SAMPLES;
	for (size_t i = 0; i < report->events.count; i++) {
		if (report_matches(wanted, report->events.at[i].info->name)) {
			report->sort_event = i;
			return NULL;
		}
	}
	return hp_error_advise(
		hp_error_create(HP_ERROR_USAGE, "this view cannot be sorted by '%s'", wanted),
		"it can be by samples%s%s, or the name of a recorded event",
		view_has(report->options->view, SORT_NAME) ? ", name, image" : "",
		view_has(report->options->view, SORT_ADDRESS) ? ", address"
		: view_has(report->options->view, SORT_LINE)  ? ", line"
							      : "");
}

static int compare_text(const char *a, const char *b)
{
	if (a == b)
		return 0;
	if (!a || !b)
		return a ? -1 : 1;
	return strcmp(a, b);
}

static int compare_position(const struct row *a, const struct row *b)
{
	int order = compare_text(a->file, b->file);

	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int compare_address(const struct row *a, const struct row *b)
{
	return (a->address > b->address) - (a->address < b->address);
}

static int compare_samples(const struct row *a, const struct row *b, const struct report *report)
{
	for (size_t i = 0; i < report->events.count; i++) {
		size_t event = (report->sort_event + i) % report->events.count;
		double left = a->tallies[event].weight;
		double right = b->tallies[event].weight;

		if (left > right || left < right)
			return left > right ? -1 : 1;
	}
	return 0;
}

struct sort_context {
	const struct report *report;
	enum sort_key key;
};

/* A total order, so that two runs print the same. */
static int compare_rows(const void *left, const void *right, void *context)
{
	const struct row *a = *(const struct row *const *)left;
	const struct row *b = *(const struct row *const *)right;
	const struct sort_context *sort = context;
	int image = a->image == b->image ? 0 : hp_image_id_compare(&a->image->id, &b->image->id);
	int order = 0;

	if (sort->key == SORT_NAME && a->name)
		order = compare_text(a->name, b->name);
	else if (sort->key == SORT_IMAGE || sort->key == SORT_NAME)
		order = compare_text(a->image->id.path, b->image->id.path);
	else if (sort->key == SORT_ADDRESS)
		order = image ? image : compare_address(a, b);
	else if (sort->key == SORT_LINE)
		order = compare_position(a, b);
	if (!order)
		order = compare_samples(a, b, sort->report);
	if (!order)
		order = image;
	if (!order)
		order = compare_text(a->name, b->name);
	if (!order)
		order = compare_address(a, b);
	if (!order)
		order = compare_position(a, b);
	return order ? order : (a->group > b->group) - (a->group < b->group);
}

void rows_select(struct report *report, enum sort_key key)
{
	const struct hp_report_options *options = report->options;
	struct sort_context sort = { .report = report, .key = key };
	/* The one procedure that was asked for by name is wanted, hot or not; of stalls it is
	 * those that are limited. */
	bool is_limited = options->view != HP_VIEW_STALLS && !report_shows_counts(options) &&
			  (!options->listed || report->rows.count > 1);
	struct tally sum = { 0 };
	size_t kept = 0;

	if (report->rows.count)
		qsort_r(report->rows.at, report->rows.count, sizeof(*report->rows.at), compare_rows,
			&sort);
	for (size_t i = 0; i < report->rows.count; i++) {
		struct row *row = report->rows.at[i];
		const struct tally *tally = &row->tallies[report->sort_event];

		if (is_limited && (100 * report_share(report, report->sort_event, tally) <
					   options->percent_limit ||
				   (options->limit && kept == options->limit))) {
			report->hidden_rows++;
			tally_add(&report->hidden, tally);
			continue;
		}
		sum.weight += tally->weight;
		row->cumulative = report_share(report, report->sort_event, &sum);
		report->rows.at[kept++] = row;
	}
	report->rows.count = kept;
}

struct file_entry {
	UT_hash_handle hh;
	const char *name; /* last part */
	const char *file; /* the first with it */
	bool shared;
};

static struct file_entry *file_entry_at(struct report *report, struct file_entry **files,
					const char *file)
{
	const char *name = report_file_name(file);
	size_t length = strlen(name);
	struct file_entry *entry;

	HASH_FIND(hh, *files, name, length, entry);
	if (entry)
		return entry;
	entry = hp_arena_alloc(report->arena, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->name = name;
	entry->file = file;
	HASH_ADD_KEYPTR(hh, *files, entry->name, length, entry);
	return entry->hh.tbl ? entry : NULL;
}

struct hp_error *rows_name_files(struct report *report)
{
	struct file_entry *files = NULL;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < report->rows.count && !error; i++) {
		const struct row *row = report->rows.at[i];
		struct file_entry *entry = row->file ? file_entry_at(report, &files, row->file)
						     : NULL;

		if (entry)
			entry->shared = entry->shared || strcmp(entry->file, row->file) != 0;
		else if (row->file)
			error = hp_error_create_no_memory();
	}
	for (size_t i = 0; i < report->rows.count && !error; i++) {
		struct row *row = report->rows.at[i];

		if (row->file)
			row->short_file = file_entry_at(report, &files, row->file)->shared
						  ? row->file
						  : report_file_name(row->file);
	}
	HASH_CLEAR(hh, files);
	return error;
}
