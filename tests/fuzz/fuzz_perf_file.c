/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf.data files: what is read of one is looked at, every text and every record. */
#include "fuzz.h"

#include <hpcprof/sample/perf_file.h>

#include <stdlib.h>
#include <string.h>

static size_t seen;

static void look_at_texts(const struct hp_perf_file *file)
{
	for (size_t i = 0; i < file->events.count; i++)
		seen += strlen(file->events.at[i].name) + file->events.at[i].ids.count;
	for (size_t i = 0; i < file->build_ids.count; i++) {
		if (file->build_ids.at[i].identity.size > HP_IDENTITY_MAX_BYTES)
			abort();
		seen += strlen(file->build_ids.at[i].path);
	}
	for (char **word = file->command_line; word && *word; word++)
		seen += strlen(*word);
}

static void look_at_records(const struct hp_perf_file *file)
{
	uint64_t before_ns = 0;

	for (size_t i = 0; i < file->records.count; i++) {
		struct hp_record record;
		size_t event;

		if (file->records.at[i].time_ns < before_ns)
			abort();
		before_ns = file->records.at[i].time_ns;
		if (!hp_perf_file_record(file, i, &record, &event))
			continue;
		if (event >= file->events.count)
			abort();
		if (record.kind == HP_RECORD_MMAP)
			seen += strlen(record.mmap.path);
		for (size_t k = 0; record.kind == HP_RECORD_SAMPLE && k < record.sample.stack_bytes;
		     k++)
			seen += record.sample.stack[k];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	/* Of exact size: what is read behind it is found. */
	uint8_t *copy = malloc(size ? size : 1);
	struct hp_perf_file file;
	struct hp_error *error;

	if (!copy)
		return 0;
	memcpy(copy, bytes, size);
	error = hp_perf_file_read(copy, size, &file);
	if (!error) {
		look_at_texts(&file);
		look_at_records(&file);
		hp_perf_file_clear(&file);
	}
	hp_error_destroy(error);
	free(copy);
	return 0;
}
