/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "codec.h"
#include "meta_json.h"
#include "names.h"

#include <hpcprof/base/number.h>

#include <string.h>

/*
 * Encodes and decodes the description of an epoch. It is JSON, so that people can read it with
 * zstd alone, and older versions of hpcprof ignore keys that were added later.
 */

static const char *const meta_tags[] = { "json", NULL };
const struct hp_container_kind hp_meta_kind = {
	.letter = 'M',
	.noun = "meta",
	.tags = meta_tags,
	.most_times = 64,
};

/* limits for hostile files; real ones have not a hundredth of it */
enum { MOST_VALUES = 1 << 20, MOST_EVENTS = 1024 };

#define FIELD(structure, type, member)                                                             \
	{                                                                                          \
#member, type, offsetof(structure, member)                                         \
	}
#define META(type, member) FIELD(struct hp_epoch_meta, type, member)

static const struct hp_json_field meta_fields[] = {
	META(HP_JSON_BOOL, complete),
	META(HP_JSON_TEXT, version),
	META(HP_JSON_TEXT, label),
	META(HP_JSON_TEXT, host),
	META(HP_JSON_TEXT, cpu_model),
	META(HP_JSON_TEXT, architecture),
	META(HP_JSON_TEXT, kernel),
	META(HP_JSON_U32, cpus),
	META(HP_JSON_TEXTS, command_line),
	META(HP_JSON_TEXT, target),
	META(HP_JSON_U64, start_ns),
	META(HP_JSON_U64, end_ns),
	META(HP_JSON_BOOL, per_process),
	META(HP_JSON_BOOL, per_thread),
	META(HP_JSON_BOOL, per_cpu),
	META(HP_JSON_U64, sample_cost_ns),
	META(HP_JSON_U64, own_cpu_ns),
	META(HP_JSON_U64, target_cpu_ns),
	META(HP_JSON_U64, target_system_ns),
	META(HP_JSON_U64, damaged_records),
	META(HP_JSON_TEXTS, warnings),
	{ "core_looks", HP_JSON_U64, offsetof(struct hp_epoch_meta, clock.looks) },
	{ "core_shared", HP_JSON_U64, offsetof(struct hp_epoch_meta, clock.shared) },
};

#define CPU(type, member) FIELD(struct hp_cpu, type, member)

static const struct hp_json_field cpu_fields[] = {
	CPU(HP_JSON_TEXT, vendor),  CPU(HP_JSON_U32, family),
	CPU(HP_JSON_U32, model),    CPU(HP_JSON_U32, stepping),
	CPU(HP_JSON_BOOL, has_amx), CPU(HP_JSON_U32, implementer),
	CPU(HP_JSON_U32, part),	    CPU(HP_JSON_U32, instruction_cache_bytes),
};

#define EVENT(type, member) FIELD(struct hp_event_totals, type, member)
#define INFO(member)                                                                               \
	{                                                                                          \
#member, HP_JSON_TEXT, offsetof(struct hp_event_totals, info.member)               \
	}

static const struct hp_json_field event_fields[] = {
	INFO(name),
	INFO(precision),
	INFO(instead_of),
	INFO(reason),
	INFO(skid_source),
	EVENT(HP_JSON_DOUBLE, frequency_hz),
	EVENT(HP_JSON_U64, samples),
	EVENT(HP_JSON_U64, period_total),
	EVENT(HP_JSON_U64, lost),
	EVENT(HP_JSON_U64, throttled),
	EVENT(HP_JSON_U64, unattributed),
	EVENT(HP_JSON_U64, enabled_ns),
	EVENT(HP_JSON_U64, running_ns),
	{ "skid_instructions", HP_JSON_U32,
	  offsetof(struct hp_event_totals, info.skid_instructions) },
};

#define COMMAND(type, member) FIELD(struct hp_command_times, type, member)

static const struct hp_json_field command_fields[] = {
	COMMAND(HP_JSON_TEXT, command),
	COMMAND(HP_JSON_U64, processes),
	COMMAND(HP_JSON_U64, samples),
	COMMAND(HP_JSON_U64, elapsed_ns),
};

#define CLOCK(type, member) FIELD(struct hp_clock_class, type, member)

static const struct hp_json_field clock_fields[] = {
	CLOCK(HP_JSON_U64, hz),
	CLOCK(HP_JSON_U64, count),
};

#define RUN(type, member) FIELD(struct hp_run, type, member)

static const struct hp_json_field run_fields[] = {
	RUN(HP_JSON_U64, start_ns),
	RUN(HP_JSON_U64, elapsed_ns),
	RUN(HP_JSON_U64, user_ns),
	RUN(HP_JSON_U64, system_ns),
	RUN(HP_JSON_U64, max_rss_bytes),
	RUN(HP_JSON_I32, exit_status),
	RUN(HP_JSON_U64, reference_begin_ns),
	RUN(HP_JSON_U64, reference_end_ns),
	RUN(HP_JSON_DOUBLE, work),
};

#define FILE_SUM(type, member) FIELD(struct hp_file_sum, type, member)

/* Copies of images have no entries, and only profiles have samples. */
enum { FIELDS_OF_COPIES = 3, FIELDS_OF_OTHERS };

static const struct hp_json_field file_fields[] = {
	FILE_SUM(HP_JSON_TEXT, name),	FILE_SUM(HP_JSON_TEXT, digest),
	FILE_SUM(HP_JSON_U64, bytes),	FILE_SUM(HP_JSON_U64, entries),
	FILE_SUM(HP_JSON_U64, samples), FILE_SUM(HP_JSON_U64, period_total),
};

#define FIELDS(table) (table), HP_ARRAY_COUNT(table)

/* --- encoding ----------------------------------------------------------------------------- */

/* Appends a new object to a list. */
static json_t *append_object(json_t *list)
{
	json_t *object = json_object();

	return json_array_append_new(list, object) < 0 ? NULL : object;
}

static json_t *add_list(json_t *object, const char *key)
{
	json_t *list = json_array();

	return json_object_set_new(object, key, list) < 0 ? NULL : list;
}

/* An unknown CPU is not written. */
static struct hp_error *put_cpu(json_t *root, const struct hp_cpu *cpu)
{
	json_t *object;

	if (!hp_cpu_is_known(cpu))
		return NULL;
	object = json_object();
	if (json_object_set_new(root, "cpu", object) < 0)
		return hp_error_create_no_memory();
	return hp_json_put(object, cpu, FIELDS(cpu_fields));
}

static struct hp_error *put_event(json_t *list, const struct hp_event_totals *event)
{
	json_t *object = append_object(list);
	struct hp_error *error;

	if (!object)
		return hp_error_create_no_memory();
	error = hp_json_put(object, event, FIELDS(event_fields));
	if (!error &&
	    json_object_set_new(object, "unit", json_string(hp_unit_name(event->info.unit))) < 0)
		return hp_error_create_no_memory();
	return error;
}

static struct hp_error *put_lists(json_t *root, const struct hp_epoch_meta *meta)
{
	json_t *events = add_list(root, "events");
	json_t *commands = add_list(root, "commands");
	json_t *runs = add_list(root, "runs");
	json_t *clock = add_list(root, "clock");
	struct hp_error *error = NULL;

	if (!events || !commands || !runs || !clock)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < meta->event_count && !error; i++)
		error = put_event(events, &meta->events[i]);
	for (size_t i = 0; i < meta->command_count && !error; i++) {
		json_t *object = append_object(commands);

		error = object ? hp_json_put(object, &meta->commands[i], FIELDS(command_fields))
			       : hp_error_create_no_memory();
	}
	for (size_t i = 0; i < meta->run_count && !error; i++) {
		json_t *object = append_object(runs);

		error = object ? hp_json_put(object, &meta->runs[i], FIELDS(run_fields))
			       : hp_error_create_no_memory();
	}
	for (size_t i = 0; i < meta->clock.class_count && !error; i++) {
		json_t *object = append_object(clock);

		error = object ? hp_json_put(object, &meta->clock.classes[i], FIELDS(clock_fields))
			       : hp_error_create_no_memory();
	}
	return error;
}

static size_t fields_of(const struct hp_file_sum *sum)
{
	if (hp_name_has_suffix(sum->name, ".prof"))
		return HP_ARRAY_COUNT(file_fields);
	return hp_name_has_suffix(sum->name, ".bytes") ? FIELDS_OF_COPIES : FIELDS_OF_OTHERS;
}

static struct hp_error *put_files(json_t *root, const struct hp_file_sums *sums)
{
	json_t *files = add_list(root, "files");
	struct hp_error *error = NULL;

	if (!files)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < sums->count && !error; i++) {
		json_t *object = append_object(files);

		error = object ? hp_json_put(object, &sums->at[i], file_fields,
					     fields_of(&sums->at[i]))
			       : hp_error_create_no_memory();
	}
	return error;
}

static struct hp_error *add_json_section(struct hp_container_builder *builder, const json_t *root)
{
	char *text = json_dumps(root, JSON_COMPACT);

	if (!text)
		return hp_error_create_no_memory();
	if (hp_json_count_values(text, strlen(text)) > MOST_VALUES) {
		free(text);
		return hp_error_create(HP_ERROR_USAGE, "a description of more than %d values",
				       MOST_VALUES);
	}
	hp_container_add(builder, "json", HP_SECTION_REQUIRED, text, strlen(text));
	free(text);
	return NULL;
}

static struct hp_error *put_meta(const struct hp_epoch_meta *meta, json_t **root)
{
	struct hp_error *error;

	*root = json_object();
	if (!*root)
		return hp_error_create_no_memory();
	error = hp_json_put(*root, meta, FIELDS(meta_fields));
	if (!error)
		error = put_cpu(*root, &meta->cpu);
	return error ? error : put_lists(*root, meta);
}

struct hp_error *hp_meta_digest(const struct hp_epoch_meta *meta, struct hp_meta_parts *parts)
{
	json_t *root = NULL;
	struct hp_error *error = put_meta(meta, &root);

	if (!error)
		error = hp_meta_parts_of(root, parts);
	json_decref(root);
	return error;
}

struct hp_error *hp_meta_encode(const struct hp_epoch_meta *meta, const struct hp_file_sums *sums,
				struct hp_writer *file)
{
	struct hp_container_builder builder = { .kind = &hp_meta_kind };
	json_t *root = NULL;
	struct hp_error *error = put_meta(meta, &root);

	if (!error && sums && sums->count)
		error = put_files(root, sums);
	if (!error)
		error = add_json_section(&builder, root);
	json_decref(root);
	return error ? error : hp_container_finish(&builder, file);
}

/* --- decoding ----------------------------------------------------------------------------- */

static struct hp_error *get_cpu(const json_t *root, struct hp_cpu *cpu)
{
	const json_t *object = json_object_get(root, "cpu");
	struct hp_error *error;

	if (!object)
		return NULL;
	if (!json_is_object(object))
		return hp_error_create(HP_ERROR_DAMAGED, "cpu is not an object");
	error = hp_json_get(object, cpu, FIELDS(cpu_fields));
	if (!error && !hp_cpu_is_known(cpu))
		error = hp_error_create(HP_ERROR_DAMAGED, "the vendor is missing");
	return hp_error_wrap(error, "cpu");
}

static struct hp_error *get_unit(const json_t *object, enum hp_unit *unit)
{
	const char *name = json_string_value(json_object_get(object, "unit"));

	for (int i = HP_UNIT_EVENTS; name && i <= HP_UNIT_INSTRUCTIONS; i++) {
		if (strcmp(name, hp_unit_name((enum hp_unit)i)) == 0) {
			*unit = (enum hp_unit)i;
			return NULL;
		}
	}
	return hp_error_create(HP_ERROR_DAMAGED, "an event's unit is not known");
}

static struct hp_error *get_event(const json_t *object, struct hp_epoch_meta *meta)
{
	struct hp_event_totals *event = &meta->events[meta->event_count++];
	struct hp_error *error;

	if (meta->event_count > MOST_EVENTS)
		return hp_error_create(HP_ERROR_DAMAGED, "more than %d events", MOST_EVENTS);
	error = hp_json_get(object, event, FIELDS(event_fields));
	if (!error)
		error = get_unit(object, &event->info.unit);
	if (error)
		return error;
	if (!event->info.name || !*event->info.name)
		return hp_error_create(HP_ERROR_DAMAGED, "an event has no name");
	if (!json_object_get(object, "skid_instructions"))
		event->info.skid_instructions = hp_skid_default(event->info.precision);
	if (event->info.skid_instructions > HP_SKID_LIMIT)
		return hp_error_create(HP_ERROR_DAMAGED, "skid_instructions is out of range");
	for (size_t i = 0; i + 1 < meta->event_count; i++) {
		if (strcmp(meta->events[i].info.name, event->info.name) == 0)
			return hp_error_create(HP_ERROR_DAMAGED, "an event is listed twice");
	}
	return NULL;
}

static struct hp_error *get_command(const json_t *object, struct hp_epoch_meta *meta)
{
	struct hp_command_times *command = &meta->commands[meta->command_count++];
	struct hp_error *error = hp_json_get(object, command, FIELDS(command_fields));

	if (error)
		return error;
	if (!command->command)
		return hp_error_create(HP_ERROR_DAMAGED, "a command has no name");
	if (meta->command_count > 1 && strcmp(command[-1].command, command->command) >= 0)
		return hp_error_create(HP_ERROR_DAMAGED, "commands are out of order");
	return NULL;
}

static struct hp_error *get_run(const json_t *object, struct hp_epoch_meta *meta)
{
	return hp_json_get(object, &meta->runs[meta->run_count++], FIELDS(run_fields));
}

static struct hp_error *get_clock(const json_t *object, struct hp_epoch_meta *meta)
{
	struct hp_clock_class *class = &meta->clock.classes[meta->clock.class_count++];
	struct hp_error *error = hp_json_get(object, class, FIELDS(clock_fields));

	if (error)
		return error;
	if (!class->hz || !class->count)
		return hp_error_create(HP_ERROR_DAMAGED, "a clock without measurements");
	if (meta->clock.class_count > 1 && class[-1].hz >= class->hz)
		return hp_error_create(HP_ERROR_DAMAGED, "clocks are out of order");
	return NULL;
}

/* Allocates `*array` for the elements of object[key], and calls `get` for each. */
static struct hp_error *get_list(const json_t *root, const char *key, size_t element_bytes,
				 void **array, struct hp_epoch_meta *meta,
				 struct hp_error *(*get)(const json_t *, struct hp_epoch_meta *))
{
	const json_t *list = json_object_get(root, key);
	size_t count = json_array_size(list);
	struct hp_error *error = NULL;

	if (list && !json_is_array(list))
		return hp_error_create(HP_ERROR_DAMAGED, "%s is not a list", key);
	if (!count)
		return NULL;
	*array = calloc(count, element_bytes);
	if (!*array)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count && !error; i++) {
		const json_t *object = json_array_get(list, i);

		error = json_is_object(object) ? get(object, meta)
					       : hp_error_create(HP_ERROR_DAMAGED, "not an object");
		error = hp_error_wrap(error, "%s %zu", key, i);
	}
	return error;
}

void hp_file_sum_clear(struct hp_file_sum *sum)
{
	free(sum->name);
	free(sum->digest);
	*sum = (struct hp_file_sum){ 0 };
}

void hp_file_sums_clear(struct hp_file_sums *sums)
{
	for (size_t i = 0; i < sums->count; i++)
		hp_file_sum_clear(&sums->at[i]);
	free(sums->at);
	*sums = (struct hp_file_sums){ 0 };
}

static struct hp_error *get_file(const json_t *object, struct hp_file_sums *sums)
{
	struct hp_file_sum *sum = &sums->at[sums->count++];
	struct hp_error *error = hp_json_get(object, sum, FIELDS(file_fields));

	if (error)
		return error;
	if (!sum->name || !sum->digest)
		return hp_error_create(HP_ERROR_DAMAGED, "a file without name or digest");
	if (sums->count > 1 && strcmp(sum[-1].name, sum->name) >= 0)
		return hp_error_create(HP_ERROR_DAMAGED, "files are out of order");
	return NULL;
}

static struct hp_error *get_files(const json_t *root, struct hp_file_sums *sums)
{
	const json_t *list = json_object_get(root, "files");
	size_t count = json_array_size(list);
	struct hp_error *error = NULL;

	if (list && !json_is_array(list))
		return hp_error_create(HP_ERROR_DAMAGED, "files is not a list");
	sums->at = calloc(count + 1, sizeof(*sums->at));
	if (!sums->at)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count && !error; i++) {
		const json_t *object = json_array_get(list, i);

		error = json_is_object(object) ? get_file(object, sums)
					       : hp_error_create(HP_ERROR_DAMAGED, "not an object");
		error = hp_error_wrap(error, "files %zu", i);
	}
	return error;
}

static struct hp_error *get_meta(const json_t *root, struct hp_epoch_meta *meta)
{
	struct hp_error *error;

	if (!json_is_object(root) || !json_object_get(root, "complete"))
		return hp_error_create(HP_ERROR_DAMAGED, "not the description of an epoch");
	error = hp_json_get(root, meta, FIELDS(meta_fields));
	if (!error && meta->clock.shared > meta->clock.looks)
		error = hp_error_create(HP_ERROR_DAMAGED,
					"a core was shared more often than looked at");
	if (!error)
		error = get_cpu(root, &meta->cpu);
	if (!error)
		error = get_list(root, "events", sizeof(*meta->events), (void **)&meta->events,
				 meta, get_event);
	if (!error)
		error = get_list(root, "commands", sizeof(*meta->commands),
				 (void **)&meta->commands, meta, get_command);
	if (!error)
		error = get_list(root, "runs", sizeof(*meta->runs), (void **)&meta->runs, meta,
				 get_run);
	if (!error)
		error = get_list(root, "clock", sizeof(*meta->clock.classes),
				 (void **)&meta->clock.classes, meta, get_clock);
	return error;
}

static struct hp_error *load_json(const struct hp_container *file,
				  const struct hp_section **section, json_t **root)
{
	struct hp_reader reader;
	struct hp_error *error = hp_container_section(file, "json", section, &reader);
	json_error_t fault;
	size_t values;

	if (error)
		return error;
	values = hp_json_count_values((const char *)(*section)->raw, (*section)->raw_size);
	if (values > MOST_VALUES)
		return hp_section_damaged(*section, &reader, "%zu values of JSON, more than %d",
					  values, MOST_VALUES);
	*root = json_loadb((const char *)(*section)->raw, (*section)->raw_size,
			   JSON_REJECT_DUPLICATES, &fault);
	if (*root)
		return NULL;
	reader.at += fault.position > 0 && (size_t)fault.position <= (*section)->raw_size
			     ? fault.position
			     : 0;
	return hp_section_damaged(*section, &reader, "not JSON");
}

struct hp_error *hp_meta_decode(uint8_t *bytes, size_t size, struct hp_epoch_meta *meta,
				struct hp_file_sums *sums, bool *has_unknown)
{
	struct hp_file_sums unwanted;
	const struct hp_section *section = NULL;
	struct hp_container file;
	struct hp_error *error = hp_container_parse(bytes, size, &hp_meta_kind, &file);
	json_t *root = NULL;

	sums = sums ? sums : &unwanted;
	*sums = (struct hp_file_sums){ 0 };
	*meta = (struct hp_epoch_meta){ 0 };
	if (error)
		return error;
	if (has_unknown)
		*has_unknown = file.has_unknown;
	error = load_json(&file, &section, &root);
	if (!error) {
		error = get_meta(root, meta);
		if (!error)
			error = get_files(root, sums);
		if (!error)
			error = hp_meta_parts_of(root, &sums->parts);
		error = hp_error_wrap(error, "offset 0x%zx: section 'json'", section->offset);
	}
	if (error)
		hp_epoch_meta_clear(meta);
	if (error || sums == &unwanted)
		hp_file_sums_clear(sums);
	json_decref(root);
	hp_container_clear(&file);
	return error;
}

static struct hp_error *relabel(const struct hp_container *file, const struct hp_section *json,
				json_t *root, const char *label, struct hp_writer *out)
{
	struct hp_container_builder builder = { .kind = &hp_meta_kind };
	struct hp_error *error = NULL;

	if (!label)
		json_object_del(root, "label");
	else if (json_object_set_new(root, "label", hp_json_text(label)) < 0)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < file->section_count && !error; i++) {
		if (&file->sections[i] == json)
			error = add_json_section(&builder, root);
		else
			hp_container_copy(&builder, &file->sections[i]);
	}
	if (!error)
		return hp_container_finish(&builder, out);
	hp_container_abandon(&builder);
	return error;
}

struct hp_error *hp_meta_relabel(uint8_t *bytes, size_t size, const char *label,
				 struct hp_writer *out)
{
	const struct hp_section *section = NULL;
	struct hp_container file;
	struct hp_error *error = hp_container_parse(bytes, size, &hp_meta_kind, &file);
	json_t *root = NULL;

	if (error)
		return error;
	error = load_json(&file, &section, &root);
	if (!error && !json_is_object(root))
		error = hp_error_create(HP_ERROR_DAMAGED, "not the description of an epoch");
	if (!error)
		error = relabel(&file, section, root, label, out);
	json_decref(root);
	hp_container_clear(&file);
	return error;
}
