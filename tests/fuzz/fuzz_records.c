/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ring records: the first byte chooses the layout, how many rings there are, and where in them the
 * bytes begin; the rest is what the kernel wrote. What parses is applied to a set of processes, as
 * a recording does, and samples are counted.
 */
#include "../../src/collect/maps/process.h"
#include "../../src/collect/samples/sample_table.h"
#include "fuzz.h"

#include <hpcprof/sample/ring_set.h>

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { RING_BYTES = 4096, MOST_RINGS = 4, PIDS = 16, FIRST_PID = 10000000 };

static void check(bool claim)
{
	if (!claim)
		abort();
}

/* --- one record after the other, each from a copy of exact size ------------------------------- */

static void check_strings(const struct hp_record *record, const uint8_t *bytes, size_t size)
{
	const char *text = NULL;
	size_t offset;

	if (record->kind == HP_RECORD_MMAP)
		text = record->mmap.path;
	else if (record->kind == HP_RECORD_COMM)
		text = record->comm.name;
	if (!text)
		return;
	offset = (size_t)(text - (const char *)bytes);
	check(offset < size && strlen(text) < size - offset);
}

static void check_identity(const struct hp_identity *identity)
{
	check(identity->size <= HP_IDENTITY_MAX_BYTES);
	check((identity->kind == HP_IDENTITY_NONE) == (identity->size == 0));
	for (size_t i = identity->size; i < HP_IDENTITY_MAX_BYTES; i++)
		check(!identity->bytes[i]);
}

static void parse_one(const uint8_t *bytes, size_t size, struct hp_record_layout layout)
{
	uint8_t *copy = malloc(size);
	struct hp_record record;
	uint64_t time_ns;

	if (!copy)
		return;
	memcpy(copy, bytes, size);
	time_ns = hp_record_time(copy, size, layout);
	if (hp_record_parse(copy, size, layout, &record)) {
		check(record.time_ns == time_ns);
		check_strings(&record, copy, size);
		if (record.kind == HP_RECORD_MMAP)
			check_identity(&record.mmap.build_id);
		if (record.kind == HP_RECORD_SAMPLE && record.sample.stack_bytes)
			check(record.sample.stack >= copy &&
			      record.sample.stack_bytes <=
				      size - (size_t)(record.sample.stack - copy));
	}
	free(copy);
}

static void parse_all(const uint8_t *bytes, size_t size, struct hp_record_layout layout)
{
	size_t length;

	for (; (length = hp_ring_record_size(bytes, size)) > 0; bytes += length, size -= length) {
		check(length >= 8 && length % 8 == 0 && length <= size);
		parse_one(bytes, length, layout);
	}
}

/* --- through rings, to processes -------------------------------------------------------------- */

struct recording {
	struct processes processes;
	struct sample_table table;
	uint64_t samples;
	uint64_t counted;
};

/* Pids that no system has, and few of them, so that they meet. Files are never opened: what has no
 * build-id gets one. */
static void tame(struct hp_record *record)
{
	record->pid = record->pid == UINT32_MAX ? record->pid : FIRST_PID + record->pid % PIDS;
	record->tid = FIRST_PID + record->tid % (2 * PIDS);
	if (record->kind == HP_RECORD_FORK)
		record->fork.parent_pid = FIRST_PID + record->fork.parent_pid % PIDS;
	if (record->kind == HP_RECORD_MMAP && !record->mmap.build_id.size) {
		record->mmap.build_id.kind = HP_IDENTITY_BUILD_ID;
		record->mmap.build_id.size = 1;
	}
}

static void empty_overflow(struct recording *recording)
{
	struct sample_table *table = &recording->table;

	for (size_t i = 0; i < table->overflow_count; i++) {
		const struct sampled *entry = &table->overflow[i];
		const struct context *context = &recording->processes.contexts[entry->context];
		const struct mapping *mapping;

		check(entry->context && entry->context < recording->processes.context_count);
		check(entry->count > 0 && context->space);
		mapping = space_find(context->space, entry->address);
		check(!mapping ||
		      (mapping->start <= entry->address && entry->address < mapping->end));
		recording->counted += entry->count;
	}
	table->overflow_count = 0;
}

static void apply(struct recording *recording, const struct hp_record *record)
{
	struct processes *processes = &recording->processes;
	uint32_t context;

	switch (record->kind) {
	case HP_RECORD_SAMPLE:
		context = processes_context(processes, record, (int)(record->tid % 5),
					    record->pid % 3, 1);
		if (!context)
			break;
		recording->samples++;
		if (sample_table_add(&recording->table, context, record->sample.address))
			empty_overflow(recording);
		break;
	case HP_RECORD_MMAP:
		processes_map(processes, record);
		break;
	case HP_RECORD_COMM:
		processes_comm(processes, record);
		break;
	case HP_RECORD_FORK:
		processes_fork(processes, record);
		break;
	case HP_RECORD_EXIT:
		processes_exit(processes, record);
		break;
	case HP_RECORD_LOST:
		/* Stands for a flush: nothing waits any more. */
		while (!sample_table_drain(&recording->table))
			empty_overflow(recording);
		empty_overflow(recording);
		processes_reap(processes);
		break;
	case HP_RECORD_THROTTLE:
	case HP_RECORD_OTHER:
		break;
	}
}

static bool ring_create(struct hp_ring *ring, uint64_t position, const uint8_t *bytes, size_t size)
{
	struct perf_event_mmap_page *control = calloc(1, sizeof(*control));
	uint8_t *data = calloc(1, RING_BYTES);

	if (!control || !data) {
		free(control);
		free(data);
		return false;
	}
	hp_ring_over(ring, control, data, RING_BYTES);
	for (size_t i = 0; i < size && i < RING_BYTES; i++)
		data[(position + i) % RING_BYTES] = bytes[i];
	ring->tail = control->data_tail = position;
	control->data_head = position + size;
	return true;
}

static void read_rings(struct hp_ring_set *rings, struct recording *recording)
{
	struct hp_record record;

	for (int pass = 0; pass < 2; pass++) {
		uint64_t horizon = pass ? UINT64_MAX : 1000;

		hp_ring_set_begin(rings, horizon);
		while (hp_ring_set_next(rings, &record)) {
			check(record.time_ns <= horizon);
			tame(&record);
			apply(recording, &record);
		}
		hp_ring_set_end(rings);
	}
	for (size_t i = 0; i < rings->count; i++) {
		const struct perf_event_mmap_page *control = rings->rings[i].control;

		/* After everything was read or given up nothing is left. */
		check(!control || control->data_head - control->data_tail < 8);
	}
}

static void record_all(struct hp_ring_set *rings)
{
	struct recording recording = { .samples = 0 };
	struct images *images = images_create();

	if (images && !processes_create(&recording.processes, images, true, true) &&
	    sample_table_create(&recording.table)) {
		read_rings(rings, &recording);
		while (!sample_table_drain(&recording.table))
			empty_overflow(&recording);
		empty_overflow(&recording);
		check(recording.samples == recording.counted);
	}
	sample_table_clear(&recording.table);
	processes_clear(&recording.processes);
	if (images) {
		images_sweep(images);
		check(images_count(images) == 0);
	}
	images_destroy(images);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct hp_record_layout layout;
	struct hp_ring_set set;
	struct hp_ring *rings;
	size_t count;
	uint64_t position;

	if (!size)
		return 0;
	layout = (struct hp_record_layout){
		.identifier = bytes[0] & 1,
		.period = bytes[0] & 2,
		.callchain = bytes[0] & 0x08,
		.branches = bytes[0] & 0x10,
		.registers = bytes[0] & 0x20 ? 0xff03ff : 0,
		.stack_bytes = bytes[0] & 0x40 ? 256 : 0,
	};
	count = 1 + (bytes[0] >> 2) % MOST_RINGS;
	position = (uint64_t)(bytes[0] >> 4) * 256 + (bytes[0] & 0x80 ? UINT64_MAX - 2047 : 0);
	bytes++;
	size--;
	parse_all(bytes, size, layout);
	rings = calloc(count, sizeof(*rings));
	if (!rings)
		return 0;
	for (size_t i = 0; i < count; i++) {
		size_t share = size / count / 8 * 8;

		if (!ring_create(&rings[i], position, bytes + i * share,
				 i + 1 < count ? share : size - i * share))
			break;
	}
	if (hp_ring_set_create(&set, rings, count, layout)) {
		free(rings);
		return 0;
	}
	record_all(&set);
	for (size_t i = 0; i < count; i++) {
		free(rings[i].control);
		free(rings[i].data);
	}
	hp_ring_set_clear(&set);
	return 0;
}
