/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processed format of the Firefox Profiler, version 60 (docs-developer/CHANGELOG-formats.md and
 * src/types/profile.ts of github.com/firefox-devtools/profiler; newer ones read it): tables of
 * columns, shared by all threads, and for each thread samples that refer to the table of stacks.
 *
 * Call paths have no times. Samples of a thread follow one another as if nothing else had run, each
 * as long as its weight: the timeline shows how much, not when.
 */
#include "../common/json.h"
#include "export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_PROCESSED = 60, VERSION_GECKO = 27, RESOURCE_LIBRARY = 1 };

struct firefox {
	struct report *report;
	json_t *texts;	    /* shared.stringArray */
	json_t *text_index; /* indices by text */
	json_t *sources;
	json_t *source_index; /* indices by file */
	json_t *frames;
	json_t *stacks;
	/* of each place: index of its first frame, the outermost; its frames follow each other */
	size_t *first_frames;
	json_int_t *step_stacks;
	json_int_t *function_sources; /* by procedure; -1: unknown */
};

/* --- tables ----------------------------------------------------------------------------------- */

/* Creates a table without rows. `columns`: names separated by blanks. */
static json_t *table_of(const char *columns)
{
	json_t *table = json_pack("{s:i}", "length", 0);

	while (*columns) {
		size_t length = strcspn(columns, " ");
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)length, columns);
		json_object_set_new(table, name, json_array());
		columns += length + strspn(columns + length, " ");
	}
	return table;
}

static void put(json_t *table, const char *column, json_t *value)
{
	json_array_append_new(json_object_get(table, column), value);
}

static json_int_t end_row(json_t *table)
{
	json_int_t row = json_integer_value(json_object_get(table, "length"));

	json_object_set_new(table, "length", json_integer(row + 1));
	return row;
}

static json_t *index_or_null(json_int_t index)
{
	return index >= 0 ? json_integer(index) : json_null();
}

static json_int_t text_of(struct firefox *to, const char *text)
{
	json_t *shown = json_text(text);
	const char *key = shown ? json_string_value(shown) : NULL;
	json_t *known = key ? json_object_get(to->text_index, key) : NULL;
	json_int_t index = known ? json_integer_value(known)
				 : (json_int_t)json_array_size(to->texts);

	if (key && !known) {
		json_object_set_new(to->text_index, key, json_integer(index));
		json_array_append(to->texts, shown);
	}
	json_decref(shown);
	return key ? index : 0;
}

static json_int_t source_of(struct firefox *to, const char *file)
{
	json_int_t text = text_of(to, file);
	char key[24];
	json_t *known;
	json_int_t index;

	snprintf(key, sizeof(key), "%lld", (long long)text);
	known = json_object_get(to->source_index, key);
	if (known)
		return json_integer_value(known);
	put(to->sources, "uuid", json_null());
	put(to->sources, "filename", json_integer(text));
	index = end_row(to->sources);
	json_object_set_new(to->source_index, key, json_integer(index));
	return index;
}

/* --- what is shared --------------------------------------------------------------------------- */

static void add_frames(struct firefox *to)
{
	const struct hp_call_paths *paths = to->report->paths;
	size_t count = 0;

	for (size_t i = 0; i < paths->places.count; i++) {
		const struct hp_path_place *place = &paths->places.at[i];

		to->first_frames[i] = count;
		for (size_t j = place->count; j-- > 0; count++) {
			const struct hp_called_at *at = &place->at[j];

			if (at->file && to->function_sources[at->procedure->index] < 0)
				to->function_sources[at->procedure->index] =
					source_of(to, at->file);
			put(to->frames, "address",
			    json_integer(place->has_address ? (json_int_t)place->address : -1));
			put(to->frames, "inlineDepth",
			    json_integer((json_int_t)(place->count - 1 - j)));
			put(to->frames, "category", json_integer(0));
			put(to->frames, "subcategory", json_integer(0));
			put(to->frames, "func", json_integer((json_int_t)at->procedure->index));
			put(to->frames, "nativeSymbol", json_null());
			put(to->frames, "innerWindowID", json_integer(0));
			put(to->frames, "line", at->line ? json_integer(at->line) : json_null());
			put(to->frames, "column", json_null());
			end_row(to->frames);
		}
	}
}

/* A step's parent has a smaller number. */
static void add_stacks(struct firefox *to)
{
	const struct hp_call_paths *paths = to->report->paths;

	for (size_t i = 0; i < paths->steps.count; i++) {
		const struct hp_path_step *step = &paths->steps.at[i];

		to->step_stacks[i] = -1;
		if (step->parent == HP_PATH_NO_NODE)
			continue;
		to->step_stacks[i] = to->step_stacks[step->parent];
		for (size_t j = 0; j < paths->places.at[step->place].count; j++) {
			put(to->stacks, "frame",
			    json_integer((json_int_t)(to->first_frames[step->place] + j)));
			put(to->stacks, "prefix", index_or_null(to->step_stacks[i]));
			to->step_stacks[i] = end_row(to->stacks);
		}
	}
}

static json_t *functions(struct firefox *to)
{
	const struct hp_call_paths *paths = to->report->paths;
	json_t *table = table_of("name isJS relevantForJS resource source lineNumber columnNumber");

	for (size_t i = 0; i < paths->procedures.count; i++) {
		const struct hp_called *called = paths->procedures.at[i];

		put(table, "name", json_integer(text_of(to, called->name)));
		put(table, "isJS", json_false());
		put(table, "relevantForJS", json_false());
		put(table, "resource",
		    json_integer(called->image ? (json_int_t)called->image->index : -1));
		put(table, "source", index_or_null(to->function_sources[i]));
		put(table, "lineNumber", json_null());
		put(table, "columnNumber", json_null());
		end_row(table);
	}
	return table;
}

/* One resource per image, like the libraries. */
static json_t *resources(struct firefox *to)
{
	const struct hp_profiles *profiles = to->report->profiles;
	json_t *table = table_of("lib name host type");

	for (size_t i = 0; i < profiles->images.count; i++) {
		put(table, "lib", json_integer((json_int_t)i));
		put(table, "name", json_integer(text_of(to, profiles->images.at[i]->short_name)));
		put(table, "host", json_null());
		put(table, "type", json_integer(RESOURCE_LIBRARY));
		end_row(table);
	}
	return table;
}

static json_t *libraries(const struct firefox *to)
{
	const struct hp_profiles *profiles = to->report->profiles;
	const char *architecture = profiles->epochs.at[0].meta->architecture;
	json_t *list = json_array();

	for (size_t i = 0; i < profiles->images.count; i++) {
		const struct hp_loaded_image *image = profiles->images.at[i];

		json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "arch",
						      json_text(architecture ? architecture : ""),
						      "name", json_text(image->short_name), "path",
						      json_text(image->id.path), "debugName",
						      json_text(image->short_name), "debugPath",
						      json_text(image->id.path), "breakpadId", "",
						      "codeId", json_text(image->build_id)));
	}
	return list;
}

static json_t *shared(struct firefox *to)
{
	json_t *resource_table = resources(to);
	json_t *function_table;

	add_frames(to);
	add_stacks(to);
	function_table = functions(to);
	return json_pack("{s:O, s:O, s:O, s:O, s:o, s:o, s:o}", "stringArray", to->texts, "sources",
			 to->sources, "frameTable", to->frames, "stackTable", to->stacks,
			 "funcTable", function_table, "resourceTable", resource_table,
			 "nativeSymbols", table_of("libIndex address name functionSize"));
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Whether weights are milliseconds, for events that measure time; otherwise samples. */
static bool is_in_time(const struct hp_loaded_event *event)
{
	return event->info->unit == HP_UNIT_NS;
}

static json_t *samples_of(const struct firefox *to, size_t root, double *end)
{
	const struct hp_call_paths *paths = to->report->paths;
	const struct hp_loaded_event *event =
		&to->report->profiles->events.at[paths->roots.at[root].event];
	json_t *table = table_of("stack time weight");

	*end = 0;
	for (size_t i = 0; i < paths->steps.count; i++) {
		const struct hp_path_step *step = &paths->steps.at[i];
		double weight = is_in_time(event) ? step->own.weight / 1e6
						  : (double)step->own.samples;

		if (step->root != root || !step->own.samples)
			continue;
		put(table, "stack", index_or_null(to->step_stacks[i]));
		put(table, "time", json_number(*end));
		put(table, "weight", json_number(weight));
		*end += weight;
		end_row(table);
	}
	json_object_set_new(table, "weightType",
			    json_string(is_in_time(event) ? "tracing-ms" : "samples"));
	return table;
}

static json_t *name_of(const struct firefox *to, const struct hp_path_root *root)
{
	const struct hp_profiles *profiles = to->report->profiles;
	struct hp_buffer name = { 0 };
	json_t *made;

	hp_buffer_printf(&name, "%s", root->thread ? root->thread : root->command);
	if (profiles->events.count > 1)
		hp_buffer_printf(&name, " %s", profiles->events.at[root->event].info->name);
	made = json_text(hp_buffer_text(&name));
	hp_buffer_free(&name);
	return made;
}

static json_t *number_text(uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	return json_string(text);
}

/* A thread that was not recorded separately gets the number of its root, since its id may be
 * unknown. */
static json_t *thread_of(const struct firefox *to, size_t number)
{
	const struct hp_path_root *root = &to->report->paths->roots.at[number];
	double end;
	json_t *samples = samples_of(to, number, &end);
	json_t *thread = json_pack(
		"{s:s, s:i, s:n, s:i, s:n, s:[], s:o, s:b, s:o, s:o, s:I, s:o, s:o}", "processType",
		"default", "processStartupTime", 0, "processShutdownTime", "registerTime", 0,
		"unregisterTime", "pausedRanges", "name", name_of(to, root), "isMainThread",
		!root->tid || root->tid == root->pid, "processName", json_text(root->command),
		"pid", number_text(root->pid ? root->pid : (uint32_t)number + 1), "tid",
		(json_int_t)(root->tid ? root->tid : number + 1), "samples", samples, "markers",
		table_of("data name startTime endTime phase category"));

	return thread;
}

static struct hp_error *write_threads(struct firefox *to, FILE *out)
{
	const struct hp_call_paths *paths = to->report->paths;
	struct hp_error *error = NULL;
	bool is_first = true;

	fputs(",\n\"threads\": [", out);
	for (size_t i = 0; i < paths->roots.count && !error; i++) {
		json_t *thread = thread_of(to, i);
		json_t *samples = json_object_get(thread, "samples");

		if (thread && !json_integer_value(json_object_get(samples, "length"))) {
			json_decref(thread);
			continue;
		}
		fputs(is_first ? "\n" : ",\n", out);
		is_first = false;
		error = json_write(thread, false, out);
	}
	fputs("]", out);
	return error;
}

static json_t *meta_of(const struct firefox *to)
{
	const struct hp_profiles *profiles = to->report->profiles;
	const struct hp_epoch_meta *meta = profiles->epochs.at[0].meta;
	const struct hp_loaded_event *event = &profiles->events.at[0];
	double interval = event->frequency_hz > 0 ? 1000 / event->frequency_hz : 1;
	struct hp_buffer command = { 0 };
	json_t *made;

	export_command(to->report, &command);
	made = json_pack(
		"{s:f, s:f, s:i, s:i, s:i, s:i, s:b, s:o, s:o, s:s, s:b, s:b, s:b, s:b, s:[], "
		"s:[{s:s, s:s, s:[s]}]}",
		"interval", interval, "startTime", (double)meta->start_ns / 1e6, "processType", 0,
		"stackwalk", 1, "version", VERSION_GECKO, "preprocessedProfileVersion",
		VERSION_PROCESSED, "debug", 0, "product", json_text(hp_buffer_text(&command)),
		"oscpu", json_text(meta->kernel ? meta->kernel : ""), "importedFrom", "hpcprof",
		"symbolicated", 1, "usesOnlyOneStackType", 1, "doesNotUseFrameImplementation", 1,
		"sourceCodeIsNotOnSearchfox", 1, "markerSchema", "categories", "name", "Other",
		"color", "grey", "subcategories", "Other");
	hp_buffer_free(&command);
	return made;
}

/* --- all -------------------------------------------------------------------------------------- */

static bool begin(struct firefox *to)
{
	const struct hp_call_paths *paths = to->report->paths;

	to->texts = json_array();
	to->text_index = json_object();
	to->source_index = json_object();
	to->sources = table_of("uuid filename");
	to->frames = table_of("address inlineDepth category subcategory func nativeSymbol "
			      "innerWindowID line column");
	to->stacks = table_of("frame prefix");
	to->first_frames = calloc(paths->places.count + 1, sizeof(*to->first_frames));
	to->step_stacks = calloc(paths->steps.count + 1, sizeof(*to->step_stacks));
	to->function_sources = calloc(paths->procedures.count + 1, sizeof(*to->function_sources));
	for (size_t i = 0; i < paths->procedures.count && to->function_sources; i++)
		to->function_sources[i] = -1;
	return to->texts && to->text_index && to->source_index && to->sources && to->frames &&
	       to->stacks && to->first_frames && to->step_stacks && to->function_sources;
}

static void clear(struct firefox *to)
{
	json_decref(to->texts);
	json_decref(to->text_index);
	json_decref(to->source_index);
	json_decref(to->sources);
	json_decref(to->frames);
	json_decref(to->stacks);
	free(to->first_frames);
	free(to->step_stacks);
	free(to->function_sources);
}

struct hp_error *export_firefox(struct report *report, FILE *out)
{
	struct firefox to = { .report = report };
	struct hp_error *error = begin(&to) ? NULL : hp_error_create_no_memory();

	if (!error)
		error = json_write(json_pack("{s:o, s:o, s:o}", "meta", meta_of(&to), "libs",
					     libraries(&to), "shared", shared(&to)),
				   true, out);
	if (!error)
		error = write_threads(&to, out);
	fputs("}\n", out);
	clear(&to);
	return error;
}
