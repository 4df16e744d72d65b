/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof's profile.proto (https://github.com/google/pprof), gzipped. It has few kinds of fields, and
 * they are encoded here: with a library for protocol buffers the code would not be shorter.
 */
#include "export.h"

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/hash.h>

#include <math.h>
#include <string.h>
#include <zlib.h>

/* field numbers of profile.proto */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS = 7, /* has functions, files, lines, inlined frames: fields 7 to 10 */
	MAPPING_HAS_END = 11,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_LINKAGE = 3,
	FUNCTION_FILE = 4,
};

enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

struct text_entry {
	UT_hash_handle hh;
	uint64_t number;
	char text[];
};

struct pprof {
	struct report *report;
	struct hp_writer file;
	struct hp_writer strings;
	struct text_entry *texts;
	uint64_t text_count;
	bool is_failed;
};

/* --- fields ----------------------------------------------------------------------------------- */

static void put_number(struct hp_writer *to, unsigned field, uint64_t value)
{
	if (!value)
		return;
	hp_write_varint(to, field << 3 | WIRE_NUMBER);
	hp_write_varint(to, value);
}

static void put_bytes(struct hp_writer *to, unsigned field, const void *bytes, size_t size)
{
	hp_write_varint(to, field << 3 | WIRE_BYTES);
	hp_write_varint(to, size);
	hp_write_bytes(to, bytes, size);
}

/* Writes the message as a field, and empties it. */
static void put_message(struct hp_writer *to, unsigned field, struct hp_writer *message)
{
	put_bytes(to, field, message->bytes, message->size);
	to->failed = to->failed || message->failed;
	hp_writer_free(message);
	*message = (struct hp_writer){ 0 };
}

/* The index of a text; the first text is the empty one. */
static uint64_t text_of(struct pprof *to, const char *text)
{
	size_t length = strlen(text);
	struct text_entry *entry;

	HASH_FIND(hh, to->texts, text, length, entry);
	if (entry)
		return entry->number;
	entry = calloc(1, sizeof(*entry) + length + 1);
	if (!entry) {
		to->is_failed = true;
		return 0;
	}
	memcpy(entry->text, text, length);
	entry->number = to->text_count++;
	HASH_ADD_KEYPTR(hh, to->texts, entry->text, length, entry);
	put_bytes(&to->strings, PROFILE_STRING, text, length);
	if (!entry->hh.tbl) {
		free(entry);
		to->is_failed = true;
		return 0;
	}
	return entry->number;
}

static void put_text(struct pprof *to, struct hp_writer *message, unsigned field, const char *text)
{
	if (text)
		put_number(message, field, text_of(to, text));
}

/* --- tables ----------------------------------------------------------------------------------- */

static void put_type(struct pprof *to, unsigned field, const char *name, const char *unit)
{
	struct hp_writer type = { 0 };

	put_text(to, &type, TYPE_NAME, name);
	put_text(to, &type, TYPE_UNIT, unit);
	put_message(&to->file, field, &type);
}

static const char *unit_of(const struct hp_event_info *info)
{
	return info->unit == HP_UNIT_NS ? "nanoseconds" : "count";
}

/* Two types per event: samples, and the units they stand for. */
static void put_types(struct pprof *to)
{
	const struct hp_profiles *profiles = to->report->profiles;

	for (size_t i = 0; i < profiles->events.count; i++) {
		const struct hp_event_info *info = profiles->events.at[i].info;
		struct hp_buffer samples = { 0 };

		hp_buffer_printf(&samples, profiles->events.count > 1 ? "samples of %s" : "samples",
				 info->name);
		put_type(to, PROFILE_SAMPLE_TYPE, hp_buffer_text(&samples), "count");
		put_type(to, PROFILE_SAMPLE_TYPE, info->name, unit_of(info));
		hp_buffer_free(&samples);
	}
}

static void put_mapping(struct pprof *to, const struct hp_loaded_image *image)
{
	struct hp_writer mapping = { 0 };

	put_number(&mapping, MAPPING_ID, image->index + 1);
	put_number(&mapping, MAPPING_LIMIT, INT64_MAX);
	put_text(to, &mapping, MAPPING_FILE, image->id.path);
	put_text(to, &mapping, MAPPING_BUILD_ID, image->build_id);
	/* Says that everything is resolved, so pprof need not read the file. */
	for (unsigned field = MAPPING_HAS; field < MAPPING_HAS_END; field++)
		put_number(&mapping, field, 1);
	put_message(&to->file, PROFILE_MAPPING, &mapping);
}

static bool is_program(const struct hp_loaded_image *image)
{
	return !hp_profiles_is_kernel(image) && image->id.path[0] == '/' &&
	       !strstr(hp_image_basename(image->id.path), ".so");
}

/* The program, not a library, in which most paths begin; NULL: none. */
static struct hp_error *find_program(const struct hp_call_paths *paths,
				     const struct hp_loaded_image **program)
{
	size_t images = paths->profiles->images.count;
	_cleanup_free_ double *weights = calloc(images + 1, sizeof(*weights));
	_cleanup_free_ uint32_t *first = calloc(paths->steps.count + 1, sizeof(*first));

	*program = NULL;
	if (!weights || !first)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < paths->steps.count; i++) {
		const struct hp_path_step *step = &paths->steps.at[i];
		bool is_root = step->parent == HP_PATH_NO_NODE;
		bool is_first = !is_root && paths->steps.at[step->parent].parent == HP_PATH_NO_NODE;
		const struct hp_loaded_image *image;

		first[i] = is_root || is_first ? i : first[step->parent];
		image = is_root ? NULL : export_place(paths, &paths->steps.at[first[i]])->image;
		if (image)
			weights[image->index] += step->own.weight;
	}
	for (size_t i = 0; i < images; i++) {
		const struct hp_loaded_image *image = paths->profiles->images.at[i];

		if (weights[i] > 0 && is_program(image) &&
		    (!*program || weights[i] > weights[(*program)->index]))
			*program = image;
	}
	return NULL;
}

/* The first mapping is that of the program, as pprof expects. */
static struct hp_error *put_mappings(struct pprof *to)
{
	const struct hp_profiles *profiles = to->report->profiles;
	const struct hp_loaded_image *program;
	struct hp_error *error = find_program(to->report->paths, &program);

	if (error)
		return error;
	if (program)
		put_mapping(to, program);
	for (size_t i = 0; i < profiles->images.count; i++)
		if (profiles->images.at[i] != program)
			put_mapping(to, profiles->images.at[i]);
	return NULL;
}

/* The source files of functions, including inlined ones. */
static const char **find_files(const struct hp_call_paths *paths)
{
	const char **files = calloc(paths->procedures.count + 1, sizeof(*files));

	for (size_t i = 0; files && i < paths->places.count; i++) {
		const struct hp_path_place *place = &paths->places.at[i];

		for (size_t j = 0; j < place->count; j++)
			if (!files[place->at[j].procedure->index])
				files[place->at[j].procedure->index] = place->at[j].file;
	}
	return files;
}

static struct hp_error *put_functions(struct pprof *to)
{
	const struct hp_call_paths *paths = to->report->paths;
	_cleanup_free_ const char **files = find_files(paths);

	if (!files)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < paths->procedures.count; i++) {
		const struct hp_called *procedure = paths->procedures.at[i];
		struct hp_writer function = { 0 };

		put_number(&function, FUNCTION_ID, i + 1);
		put_text(to, &function, FUNCTION_NAME, procedure->name);
		put_text(to, &function, FUNCTION_LINKAGE,
			 procedure->linkage ? procedure->linkage : procedure->name);
		put_text(to, &function, FUNCTION_FILE, files[i]);
		put_message(&to->file, PROFILE_FUNCTION, &function);
	}
	return NULL;
}

static void put_locations(struct pprof *to)
{
	const struct hp_call_paths *paths = to->report->paths;

	for (size_t i = 0; i < paths->places.count; i++) {
		const struct hp_path_place *place = &paths->places.at[i];
		struct hp_writer location = { 0 };

		put_number(&location, LOCATION_ID, i + 1);
		put_number(&location, LOCATION_MAPPING, place->image ? place->image->index + 1 : 0);
		put_number(&location, LOCATION_ADDRESS,
			   place->has_address ? place->address : place->offset);
		for (size_t j = 0; j < place->count; j++) {
			struct hp_writer line = { 0 };

			put_number(&line, LINE_FUNCTION, place->at[j].procedure->index + 1);
			put_number(&line, LINE_LINE, place->at[j].line);
			put_message(&location, LOCATION_LINE, &line);
		}
		put_message(&to->file, PROFILE_LOCATION, &location);
	}
}

/* --- samples ---------------------------------------------------------------------------------- */

static void put_label(struct pprof *to, struct hp_writer *sample, const char *key, const char *text,
		      uint64_t number)
{
	struct hp_writer label = { 0 };

	if (!(text && *text) && !number)
		return;
	put_text(to, &label, LABEL_KEY, key);
	put_text(to, &label, LABEL_TEXT, text);
	put_number(&label, LABEL_NUMBER, number);
	put_message(sample, SAMPLE_LABEL, &label);
}

static void put_values(struct pprof *to, struct hp_writer *sample, size_t event,
		       const struct hp_tally *tally)
{
	struct hp_writer values = { 0 };

	for (size_t i = 0; i < to->report->profiles->events.count; i++) {
		hp_write_varint(&values, i == event ? tally->samples : 0);
		hp_write_varint(&values, i == event ? (uint64_t)llround(tally->weight) : 0);
	}
	put_message(sample, SAMPLE_VALUE, &values);
}

static struct hp_error *put_samples(struct pprof *to)
{
	const struct hp_call_paths *paths = to->report->paths;
	struct export_path path = { 0 };
	struct hp_error *error = NULL;

	for (size_t i = 0; i < paths->steps.count && !error; i++) {
		const struct hp_path_step *step = &paths->steps.at[i];
		const struct hp_path_root *root = &paths->roots.at[step->root];
		struct hp_writer sample = { 0 };
		struct hp_writer locations = { 0 };

		if (!step->own.samples)
			continue;
		error = export_path_of(paths, step, &path);
		for (size_t j = 0; j < path.steps.count; j++)
			hp_write_varint(&locations, path.steps.at[j]->place + 1);
		put_message(&sample, SAMPLE_LOCATION, &locations);
		put_values(to, &sample, root->event, &step->own);
		put_label(to, &sample, "command", root->command, 0);
		put_label(to, &sample, "thread", root->thread, 0);
		put_label(to, &sample, "pid", NULL, root->pid);
		put_label(to, &sample, "tid", NULL, root->tid);
		put_message(&to->file, PROFILE_SAMPLE, &sample);
	}
	hp_vector_free(&path.steps);
	return error;
}

static struct hp_error *fill(struct pprof *to)
{
	const struct hp_profiles *profiles = to->report->profiles;
	const struct hp_epoch_meta *meta = profiles->epochs.at[0].meta;
	const struct hp_loaded_event *event = &profiles->events.at[0];
	struct hp_error *error;

	text_of(to, "");
	put_types(to);
	error = put_mappings(to);
	if (error)
		return error;
	put_locations(to);
	error = put_functions(to);
	if (!error)
		error = put_samples(to);
	if (error)
		return error;
	put_number(&to->file, PROFILE_TIME_NS, meta->start_ns);
	if (meta->end_ns > meta->start_ns)
		put_number(&to->file, PROFILE_DURATION_NS, meta->end_ns - meta->start_ns);
	put_type(to, PROFILE_PERIOD_TYPE, event->info->name, unit_of(event->info));
	put_number(&to->file, PROFILE_PERIOD, hp_profiles_period(event));
	put_number(&to->file, PROFILE_DEFAULT_TYPE, text_of(to, event->info->name));
	hp_write_bytes(&to->file, to->strings.bytes, to->strings.size);
	if (to->is_failed || to->file.failed || to->strings.failed)
		return hp_error_create_no_memory();
	return NULL;
}

/* --- gzip ------------------------------------------------------------------------------------- */

static struct hp_error *put_gzipped(const struct hp_writer *file, FILE *out)
{
	enum { WINDOW_GZIP = 15 + 16, MEMORY = 8 };
	z_stream stream = { 0 };
	uint8_t chunk[1 << 12];
	int status;

	if (file->size > UINT32_MAX)
		return hp_error_create(HP_ERROR_INSUFFICIENT, "the profile would exceed 4 GiB");
	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_GZIP, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return hp_error_create_no_memory();
	stream.next_in = file->bytes;
	stream.avail_in = (uInt)file->size;
	do {
		stream.next_out = chunk;
		stream.avail_out = sizeof(chunk);
		status = deflate(&stream, Z_FINISH);
		fwrite(chunk, 1, sizeof(chunk) - stream.avail_out, out);
	} while (status == Z_OK);
	deflateEnd(&stream);
	return status == Z_STREAM_END ? NULL : hp_error_create_no_memory();
}

static void clear(struct pprof *to)
{
	struct text_entry *entry = to->texts;

	while (entry) {
		struct text_entry *next = entry->hh.next;

		HASH_DEL(to->texts, entry);
		free(entry);
		entry = next;
	}
	hp_writer_free(&to->file);
	hp_writer_free(&to->strings);
}

struct hp_error *export_pprof(struct report *report, FILE *out)
{
	struct pprof to = { .report = report };
	struct hp_error *error = fill(&to);

	if (!error)
		error = put_gzipped(&to.file, out);
	clear(&to);
	return error;
}
