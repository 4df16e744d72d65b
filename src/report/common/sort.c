/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sort.h"

#include <string.h>

bool shows_survey(const struct hp_report_options *options)
{
	return options->view == HP_VIEW_STALLS || options->view == HP_VIEW_MEMORY ||
	       options->view == HP_VIEW_BRANCHES || options->view == HP_VIEW_STACK ||
	       options->view == HP_VIEW_WHAT_IF;
}

bool shows_counts(const struct hp_report_options *options)
{
	return options->view == HP_VIEW_CALLS || options->view == HP_VIEW_EXECUTIONS;
}

bool shows_paths(const struct hp_report_options *options)
{
	return options->view == HP_VIEW_CHILDREN || options->view == HP_VIEW_CALLERS ||
	       options->view == HP_VIEW_CALLEES || options->view == HP_VIEW_TREE ||
	       options->view == HP_VIEW_FLAME_GRAPH;
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
	struct hp_profiles *profiles = report->profiles;
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
	for (size_t i = 0; i < profiles->events.count; i++) {
		if (hp_profiles_matches(wanted, profiles->events.at[i].info->name)) {
			profiles->sort_event = i;
			return NULL;
		}
	}
	return hp_error_advise(
		hp_error_create(HP_ERROR_USAGE, "this view cannot be sorted by '%s'", wanted),
		"sort by samples%s%s, or by the name of a recorded event",
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

static int compare_position(const struct hp_row *a, const struct hp_row *b)
{
	int order = compare_text(a->file, b->file);

	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int compare_address(const struct hp_row *a, const struct hp_row *b)
{
	return (a->address > b->address) - (a->address < b->address);
}

static int compare_samples(const struct hp_row *a, const struct hp_row *b,
			   const struct hp_profiles *profiles)
{
	for (size_t i = 0; i < profiles->events.count; i++) {
		size_t event = (profiles->sort_event + i) % profiles->events.count;
		double left = a->tallies[event].weight;
		double right = b->tallies[event].weight;

		if (left > right || left < right)
			return left > right ? -1 : 1;
	}
	return 0;
}

struct sort_context {
	const struct hp_profiles *profiles;
	enum sort_key key;
};

/* A total order, so that each run prints the same. */
static int compare_rows(const void *left, const void *right, void *context)
{
	const struct hp_row *a = *(const struct hp_row *const *)left;
	const struct hp_row *b = *(const struct hp_row *const *)right;
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
		order = compare_samples(a, b, sort->profiles);
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
	struct hp_profiles *profiles = report->profiles;
	struct sort_context sort = { .profiles = profiles, .key = key };
	/* A single procedure that was asked for by name is shown even if it is cold; surveys apply
	 * limits themselves. */
	bool is_limited = !shows_survey(options) && !shows_counts(options) &&
			  !shows_paths(options) &&
			  (!options->of.listed || profiles->rows.count > 1);
	struct hp_tally sum = { 0 };
	size_t kept = 0;

	if (profiles->rows.count)
		qsort_r(profiles->rows.at, profiles->rows.count, sizeof(*profiles->rows.at),
			compare_rows, &sort);
	for (size_t i = 0; i < profiles->rows.count; i++) {
		struct hp_row *row = profiles->rows.at[i];
		const struct hp_tally *tally = &row->tallies[profiles->sort_event];

		if (is_limited && (100 * hp_profiles_share(profiles, profiles->sort_event, tally) <
					   options->percent_limit ||
				   (options->limit && kept == options->limit))) {
			report->hidden_rows++;
			hp_tally_add(&report->hidden, tally);
			continue;
		}
		sum.weight += tally->weight;
		row->cumulative = hp_profiles_share(profiles, profiles->sort_event, &sum);
		profiles->rows.at[kept++] = row;
	}
	profiles->rows.count = kept;
}
