/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callgrind's profile format (Valgrind manual, "Callgrind Format Specification"), for kcachegrind
 * and callgrind_annotate: cost by procedure and line, and the cost of calls by line, caller and
 * callee. Only windows tell how often a call was made; where they counted nothing, 0 is written. A
 * call that no sample was below has no cost and is left out.
 *
 * If windows counted, the event Executions contains how often each line was executed.
 */
#include "../executions/executions.h"
#include "../common/text.h"
#include "export.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Costs of a line of a procedure; with `callee`, of calls from that line. */
struct record {
	const char *image;
	const char *name;
	const char *file;
	uint64_t line;
	const struct hp_called *callee; /* NULL: the line itself */
	size_t event;			/* the profiles' events, followed by executions and calls */
	double cost;
};

struct callgrind {
	struct report *report;
	HP_VECTOR(struct record) records;
	const char **files;		/* by procedure: the file in which it was first seen */
	size_t *last_path;		/* by callee: a call counts once per path */
	HP_VECTOR(struct record) pairs; /* calls of the current path */
	bool has_executions;
	FILE *out;
};

static const char *image_of(const struct hp_called *procedure)
{
	return procedure->image ? procedure->image->id.path : "???";
}

/* --- collecting ------------------------------------------------------------------------------- */

static bool is_same_call(const struct record *a, const struct record *b)
{
	return a->callee == b->callee && a->name == b->name && a->image == b->image &&
	       a->file == b->file && a->line == b->line;
}

/* A recursive call counts once per path. */
static bool is_repeated(const struct callgrind *to, const struct record *call, size_t path)
{
	if (to->last_path[call->callee->index] != path)
		return false;
	for (size_t i = 0; i < to->pairs.count; i++)
		if (is_same_call(&to->pairs.at[i], call))
			return true;
	return false;
}

static struct record record_of(const struct hp_called_at *at, size_t event, double cost)
{
	return (struct record){ .image = image_of(at->procedure),
				.name = at->procedure->name,
				.file = at->file ? at->file : "???",
				.line = at->line,
				.event = event,
				.cost = cost };
}

static struct hp_error *add_path(struct callgrind *to, const struct hp_path_step *step,
				 const struct export_path *path, size_t number)
{
	const struct hp_call_paths *paths = to->report->paths;
	size_t event = paths->roots.at[step->root].event;
	const struct hp_called *callee = NULL;

	to->pairs.count = 0;
	for (size_t i = 0; i < path->steps.count; i++) {
		const struct hp_path_place *place = export_place(paths, path->steps.at[i]);

		for (size_t j = 0; j < place->count; j++) {
			struct record record = record_of(&place->at[j], event, step->own.weight);

			record.callee = callee;
			callee = place->at[j].procedure;
			if (record.callee && is_repeated(to, &record, number))
				continue;
			if (!hp_vector_push(&to->records, record) ||
			    (record.callee && !hp_vector_push(&to->pairs, record)))
				return hp_error_create_no_memory();
			if (record.callee)
				to->last_path[record.callee->index] = number;
		}
	}
	return NULL;
}

static struct hp_error *add_paths(struct callgrind *to)
{
	const struct hp_call_paths *paths = to->report->paths;
	struct export_path path = { 0 };
	struct hp_error *error = NULL;

	for (size_t i = 0; i < paths->steps.count && !error; i++) {
		if (!paths->steps.at[i].own.samples)
			continue;
		error = export_path_of(paths, &paths->steps.at[i], &path);
		if (!error)
			error = add_path(to, &paths->steps.at[i], &path, i + 1);
	}
	hp_vector_free(&path.steps);
	return error;
}

static struct hp_error *add_executions(struct callgrind *to)
{
	struct executions lines = { 0 };
	struct hp_error *error = executions_of_lines(to->report, &lines);

	/* Nothing was counted, or there are no lines to assign counts to. */
	if (error && error->class == HP_ERROR_INSUFFICIENT) {
		hp_error_destroy(error);
		error = NULL;
		lines.at.count = 0;
	}
	for (size_t i = 0; i < lines.at.count && !error; i++) {
		const struct executed *one = &lines.at.at[i];
		struct record record = { .image = one->row.image->id.path,
					 .name = one->row.name,
					 .file = one->row.file,
					 .line = one->row.line,
					 .event = to->report->profiles->events.count,
					 .cost = one->runs.value };

		if (!isfinite(record.cost) || !(record.cost >= 1))
			continue;
		to->has_executions = true;
		if (!hp_vector_push(&to->records, record))
			error = hp_error_create_no_memory();
	}
	executions_clear(&lines);
	return error;
}

/* A known address: a return address of a call, or the beginning of a procedure. */
struct known {
	const struct hp_loaded_image *image;
	uint64_t address;
	const void *what;
};
typedef HP_VECTOR(struct known) knowns;

static int compare_known(const void *left, const void *right)
{
	const struct known *a = left;
	const struct known *b = right;

	if (a->image != b->image)
		return (uintptr_t)a->image < (uintptr_t)b->image ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

static const void *find_known(const knowns *all, const struct hp_loaded_image *image,
			      uint64_t address)
{
	struct known key = { image, address, NULL };
	const struct known *found =
		all->count ? bsearch(&key, all->at, all->count, sizeof(key), compare_known) : NULL;

	return found ? found->what : NULL;
}

static bool list_known(const struct hp_call_paths *paths, knowns *places, knowns *procedures)
{
	for (size_t i = 0; i < paths->places.count; i++) {
		const struct hp_path_place *place = &paths->places.at[i];
		struct known one = { place->image, place->address, place };

		if (!place->is_exact && place->has_address && place->count &&
		    !hp_vector_push(places, one))
			return false;
	}
	for (size_t i = 0; i < paths->procedures.count; i++) {
		const struct hp_called *called = paths->procedures.at[i];
		struct known one = { called->image, called->address, called };

		if (called->has_address && !called->inlined && !hp_vector_push(procedures, one))
			return false;
	}
	if (places->count)
		qsort(places->at, places->count, sizeof(*places->at), compare_known);
	if (procedures->count)
		qsort(procedures->at, procedures->count, sizeof(*procedures->at), compare_known);
	return true;
}

static bool add_call(struct callgrind *to, const struct executed *site, const knowns *places,
		     const knowns *procedures)
{
	const struct hp_path_place *place = find_known(places, site->row.image, site->returns);
	const struct hp_called *callee =
		find_known(procedures, site->callee_image, site->callee_address);
	struct record record;

	if (!place || !callee || !isfinite(site->runs.value))
		return true;
	record = record_of(&place->at[0], to->report->profiles->events.count + 1, site->runs.value);
	record.callee = callee;
	return hp_vector_push(&to->records, record);
}

static struct hp_error *add_calls(struct callgrind *to)
{
	struct executions sites = { 0 };
	knowns procedures = { 0 };
	knowns places = { 0 };
	struct hp_error *error = executions_of_call_sites(to->report, &sites);

	if (error && error->class == HP_ERROR_INSUFFICIENT) {
		hp_error_destroy(error);
		error = NULL;
		sites.at.count = 0;
	}
	if (!error && !list_known(to->report->paths, &places, &procedures))
		error = hp_error_create_no_memory();
	for (size_t i = 0; i < sites.at.count && !error; i++)
		if (!add_call(to, &sites.at.at[i], &places, &procedures))
			error = hp_error_create_no_memory();
	hp_vector_free(&places);
	hp_vector_free(&procedures);
	executions_clear(&sites);
	return error;
}

static void find_files(struct callgrind *to)
{
	const struct hp_call_paths *paths = to->report->paths;

	for (size_t i = 0; i < paths->places.count; i++) {
		const struct hp_path_place *place = &paths->places.at[i];

		for (size_t j = 0; j < place->count; j++)
			if (!to->files[place->at[j].procedure->index])
				to->files[place->at[j].procedure->index] = place->at[j].file;
	}
}

/* --- writing ---------------------------------------------------------------------------------- */

/* By procedure, then by line and callee. */
static int compare_records(const void *left, const void *right)
{
	const struct record *a = left;
	const struct record *b = right;
	int order = strcmp(a->image, b->image);

	if (!order)
		order = strcmp(a->file, b->file);
	if (!order)
		order = strcmp(a->name, b->name);
	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	if (order || a->callee == b->callee)
		return order;
	if (!a->callee || !b->callee)
		return a->callee ? 1 : -1;
	return a->callee->index < b->callee->index ? -1 : 1;
}

static bool is_of_same_procedure(const struct record *a, const struct record *b)
{
	return strcmp(a->image, b->image) == 0 && strcmp(a->file, b->file) == 0 &&
	       strcmp(a->name, b->name) == 0;
}

static void put_name(const struct callgrind *to, const char *key, const char *text)
{
	struct hp_buffer safe = { 0 };

	text_escape(&safe, text);
	fprintf(to->out, "%s=%s\n", key, hp_buffer_text(&safe));
	hp_buffer_free(&safe);
}

/* Event names must be words: cpu_clock_u for "cpu-clock:u". */
static void put_event(const struct callgrind *to, size_t event)
{
	const char *name = event < to->report->profiles->events.count
				   ? to->report->profiles->events.at[event].info->name
				   : "Executions";

	for (; *name; name++)
		putc(strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", *name)
			     ? *name
			     : '_',
		     to->out);
}

/* Only the costs of lines themselves are added up, since those of calls are in the callees, too. */
static double total_of(const struct callgrind *to, size_t event)
{
	double total = 0;

	for (size_t i = 0; i < to->records.count; i++)
		if (!to->records.at[i].callee && to->records.at[i].event == event)
			total += to->records.at[i].cost;
	return total;
}

static void put_events(const struct callgrind *to)
{
	const struct hp_profiles *profiles = to->report->profiles;
	size_t events = profiles->events.count + to->has_executions;

	fputs("positions: line\n", to->out);
	for (size_t i = 0; i < events; i++) {
		fputs("event: ", to->out);
		put_event(to, i);
		if (i < profiles->events.count)
			fprintf(to->out, " : %s (%s)\n", profiles->events.at[i].info->name,
				hp_unit_name(profiles->events.at[i].info->unit));
		else
			fputs(" : Executions of the line\n", to->out);
	}
	fputs("events:", to->out);
	for (size_t i = 0; i < events; i++) {
		putc(' ', to->out);
		put_event(to, i);
	}
	fputs("\nsummary:", to->out);
	for (size_t i = 0; i < events; i++)
		fprintf(to->out, " %.0f", total_of(to, i));
	putc('\n', to->out);
}

static void put_head(const struct callgrind *to)
{
	struct hp_buffer command = { 0 };

	export_command(to->report, &command);
	fprintf(to->out, "# callgrind format\nversion: 1\ncreator: hpcprof\ncmd: %s\n",
		hp_buffer_text(&command));
	put_events(to);
	hp_buffer_free(&command);
}

static void put_callee(const struct callgrind *to, const struct record *first, size_t count)
{
	const struct hp_called *callee = first->callee;
	const char *file = to->files[callee->index];
	double calls = 0;

	put_name(to, "cob", image_of(callee));
	put_name(to, "cfi", file ? file : "???");
	put_name(to, "cfn", callee->name);
	for (size_t i = 0; i < count; i++)
		if (first[i].event > to->report->profiles->events.count)
			calls += first[i].cost;
	fprintf(to->out, "calls=%.0f 0\n", calls);
}

static void put_costs(const struct callgrind *to, const struct record *first, size_t count)
{
	size_t events = to->report->profiles->events.count + to->has_executions;

	fprintf(to->out, "%" PRIu64, first->line);
	for (size_t i = 0; i < events; i++) {
		double cost = 0;

		for (size_t j = 0; j < count; j++)
			cost += first[j].event == i ? first[j].cost : 0;
		fprintf(to->out, " %.0f", cost);
	}
	putc('\n', to->out);
}

static void put_records(struct callgrind *to)
{
	const struct record *at = to->records.at;
	size_t end;

	if (to->records.count)
		qsort(to->records.at, to->records.count, sizeof(*at), compare_records);
	for (size_t i = 0; i < to->records.count; i = end) {
		for (end = i + 1; end < to->records.count; end++)
			if (compare_records(&at[i], &at[end]) != 0)
				break;
		if (!i || !is_of_same_procedure(&at[i - 1], &at[i])) {
			putc('\n', to->out);
			put_name(to, "ob", at[i].image);
			put_name(to, "fl", at[i].file);
			put_name(to, "fn", at[i].name);
		}
		if (at[i].callee)
			put_callee(to, &at[i], end - i);
		put_costs(to, &at[i], end - i);
	}
}

struct hp_error *export_callgrind(struct report *report, FILE *out)
{
	struct callgrind to = { .report = report, .out = out };
	size_t procedures = report->paths->procedures.count;
	struct hp_error *error = NULL;

	to.files = calloc(procedures + 1, sizeof(*to.files));
	to.last_path = calloc(procedures + 1, sizeof(*to.last_path));
	if (!to.files || !to.last_path)
		error = hp_error_create_no_memory();
	if (!error) {
		find_files(&to);
		error = add_paths(&to);
	}
	if (!error)
		error = add_executions(&to);
	if (!error)
		error = add_calls(&to);
	if (!error) {
		put_head(&to);
		put_records(&to);
	}
	hp_vector_free(&to.records);
	hp_vector_free(&to.pairs);
	free(to.files);
	free(to.last_path);
	return error;
}
