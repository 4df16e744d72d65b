/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf_file_parts.h"
#include "tuning.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* enum in perf's util/header.h. */
enum {
	FEATURE_BUILD_IDS = 2,
	FEATURE_HOST = 3,
	FEATURE_KERNEL = 4,
	FEATURE_ARCHITECTURE = 6,
	FEATURE_CPUS = 7,
	FEATURE_CPU_MODEL = 8,
	FEATURE_COMMAND_LINE = 11,
	FEATURE_EVENT_NAMES = 12,
};

/* --- events ----------------------------------------------------------------------------------- */

static struct hp_error *unsupported(const char *what)
{
	return hp_error_create(HP_ERROR_USAGE, "samples %s cannot be imported", what);
}

static struct hp_error *read_layout(const struct perf_event_attr *attr,
				    struct hp_record_layout *layout)
{
	const uint64_t needed = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	uint64_t type = attr->sample_type;

	if ((type & needed) != needed || !attr->sample_id_all)
		return unsupported("without address, thread and time");
	if (type & PERF_SAMPLE_READ)
		return unsupported("of groups that are read (:S)");
	if (type & PERF_SAMPLE_BRANCH_STACK &&
	    attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		return unsupported("with indices of branch records");
	*layout = (struct hp_record_layout){
		.identifier = type & PERF_SAMPLE_IDENTIFIER,
		.period = type & PERF_SAMPLE_PERIOD,
		.callchain = type & PERF_SAMPLE_CALLCHAIN,
		.branches = type & PERF_SAMPLE_BRANCH_STACK,
		.registers = type & PERF_SAMPLE_REGS_USER ? attr->sample_regs_user : 0,
		.stack_bytes = type & PERF_SAMPLE_STACK_USER ? attr->sample_stack_user : 0,
		.data_address = type & PERF_SAMPLE_ADDR,
		.event_id = type & PERF_SAMPLE_ID,
		.stream = type & PERF_SAMPLE_STREAM_ID,
		.cpu = type & PERF_SAMPLE_CPU,
		.raw = type & PERF_SAMPLE_RAW,
		.no_build_ids = !attr->build_id,
	};
	if (__builtin_popcountll(layout->registers) > HP_RECORD_REGISTERS)
		return unsupported("with so many registers");
	return NULL;
}

/* Named by its type if perf gives it no name. */
static char *plain_name(const struct perf_event_attr *attr)
{
	char *name;

	if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CPU_CLOCK)
		return strdup("cpu-clock");
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_TASK_CLOCK)
		return strdup("task-clock");
	if (attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_CPU_CYCLES)
		return strdup("cycles");
	if (attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_INSTRUCTIONS)
		return strdup("instructions");
	return asprintf(&name, "event-%u-%llx", attr->type, (unsigned long long)attr->config) < 0
		       ? NULL
		       : name;
}

struct hp_error *perf_file_add_event(struct hp_perf_file *file, const uint8_t *bytes, size_t size,
				     const uint8_t *ids, size_t id_count)
{
	struct perf_event_attr attr = { 0 };
	struct hp_perf_event event = { 0 };
	struct hp_error *error;

	memcpy(&attr, bytes, size < sizeof(attr) ? size : sizeof(attr));
	if (file->events.count >= PERF_FILE_MOST_EVENTS)
		return unsupported("of so many events");
	error = read_layout(&attr, &event.layout);
	if (error)
		return error;
	event.type = attr.type;
	event.config = attr.config;
	event.exclude_user = attr.exclude_user;
	event.exclude_kernel = attr.exclude_kernel;
	event.precise = attr.precise_ip;
	event.period = attr.freq ? 0 : attr.sample_period;
	event.frequency_hz = attr.freq ? (double)attr.sample_freq : 0;
	event.name = plain_name(&attr);
	for (size_t i = 0; i < id_count && event.name; i++) {
		uint64_t id;

		memcpy(&id, ids + i * sizeof(id), sizeof(id));
		if (!hp_vector_push(&event.ids, id))
			break;
	}
	if (event.name && hp_vector_push(&file->events, event))
		return NULL;
	free(event.name);
	hp_vector_free(&event.ids);
	return hp_error_create_no_memory();
}

struct hp_error *perf_file_take_attr(struct hp_perf_file *file, struct hp_reader *reader)
{
	const uint8_t *attr = reader->at;
	uint32_t size;

	/* The second word is its size. */
	if (hp_reader_left(reader) < PERF_ATTR_SIZE_VER0)
		return NULL;
	memcpy(&size, attr + sizeof(uint32_t), sizeof(size));
	if (size < PERF_ATTR_SIZE_VER0 || size > hp_reader_left(reader))
		return NULL;
	return perf_file_add_event(file, attr, size, attr + size,
				   (hp_reader_left(reader) - size) / sizeof(uint64_t));
}

/* --- features --------------------------------------------------------------------------------- */

/* A length, and so many bytes; trailing NULs are padding. */
static char *read_text(struct hp_reader *reader)
{
	const uint8_t *bytes;
	uint32_t size;

	if (!hp_read_copy(reader, &size, sizeof(size)) || !hp_read_bytes(reader, size, &bytes))
		return NULL;
	return strndup((const char *)bytes, size);
}

static void replace(char **text, char *with)
{
	free(*text);
	*text = with;
}

static struct hp_error *take_command_line(struct hp_perf_file *file, struct hp_reader *reader)
{
	uint32_t count;

	if (file->command_line || !hp_read_copy(reader, &count, sizeof(count)) ||
	    count > hp_reader_left(reader) / sizeof(uint32_t))
		return NULL;
	file->command_line = calloc((size_t)count + 1, sizeof(char *));
	if (!file->command_line)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < count; i++) {
		file->command_line[i] = read_text(reader);
		if (!file->command_line[i])
			break;
	}
	return NULL;
}

/* For each event: attributes, number of ids, name, ids. */
static void take_names(struct hp_perf_file *file, struct hp_reader *reader)
{
	uint32_t count;
	uint32_t attr_bytes;

	if (!hp_read_copy(reader, &count, sizeof(count)) ||
	    !hp_read_copy(reader, &attr_bytes, sizeof(attr_bytes)))
		return;
	for (uint32_t i = 0; i < count && i < file->events.count; i++) {
		const uint8_t *skipped;
		uint32_t ids;
		char *name;

		if (!hp_read_bytes(reader, attr_bytes, &skipped) ||
		    !hp_read_copy(reader, &ids, sizeof(ids)))
			return;
		name = read_text(reader);
		if (name && *name)
			replace(&file->events.at[i].name, name);
		else
			free(name);
		if (!hp_read_bytes(reader, (size_t)ids * sizeof(uint64_t), &skipped))
			return;
	}
}

struct hp_error *perf_file_take_build_ids(struct hp_perf_file *file, const uint8_t *bytes,
					  size_t size)
{
	enum { ID_BYTES = 24, DEFAULT_SIZE = 20, HAS_SIZE = 1 << 15 };
	size_t at = 0;

	while (size - at > sizeof(struct perf_event_header) + 4 + ID_BYTES) {
		const uint8_t *id = bytes + at + sizeof(struct perf_event_header) + 4;
		struct hp_perf_build_id found = { .path = (const char *)id + ID_BYTES };
		struct perf_event_header header;

		memcpy(&header, bytes + at, sizeof(header));
		if (header.size > size - at || header.size <= sizeof(header) + 4 + ID_BYTES ||
		    !memchr(found.path, 0, header.size - sizeof(header) - 4 - ID_BYTES))
			break;
		found.identity.size = header.misc & HAS_SIZE ? id[DEFAULT_SIZE] : DEFAULT_SIZE;
		at += header.size;
		if (!found.identity.size || found.identity.size > HP_IDENTITY_MAX_BYTES)
			continue;
		found.identity.kind = HP_IDENTITY_BUILD_ID;
		memcpy(found.identity.bytes, id, found.identity.size);
		if (!hp_vector_push(&file->build_ids, found))
			return hp_error_create_no_memory();
	}
	return NULL;
}

struct hp_error *perf_file_take_feature(struct hp_perf_file *file, uint64_t number,
					const uint8_t *bytes, size_t size)
{
	struct hp_reader reader = hp_reader_over(bytes, size);
	uint32_t available;

	switch (number) {
	case FEATURE_BUILD_IDS:
		return perf_file_take_build_ids(file, bytes, size);
	case FEATURE_HOST:
		replace(&file->host, read_text(&reader));
		return NULL;
	case FEATURE_KERNEL:
		replace(&file->kernel, read_text(&reader));
		return NULL;
	case FEATURE_ARCHITECTURE:
		replace(&file->architecture, read_text(&reader));
		return NULL;
	case FEATURE_CPUS:
		/* The number of online CPUs comes second. */
		if (!hp_read_copy(&reader, &available, sizeof(available)) ||
		    !hp_read_copy(&reader, &file->cpus, sizeof(file->cpus)))
			file->cpus = 0;
		return NULL;
	case FEATURE_CPU_MODEL:
		replace(&file->cpu_model, read_text(&reader));
		return NULL;
	case FEATURE_COMMAND_LINE:
		return take_command_line(file, &reader);
	case FEATURE_EVENT_NAMES:
		take_names(file, &reader);
		return NULL;
	default:
		return NULL;
	}
}
