/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A perf.data file, or the output of `perf record -o -`: its events and texts, and its records in
 * order of time. perf's tools/perf/Documentation/perf.data-file-format.txt describes the format.
 *
 * Only files with the byte order of this machine are read. Everything is checked, and records that
 * make no sense are counted. Compressed records (perf record -z) are unpacked, up to a bound. The
 * bytes of the file stay the caller's.
 */
#ifndef HPCPROF_SAMPLE_PERF_FILE_H
#define HPCPROF_SAMPLE_PERF_FILE_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/sample/record.h>

struct hp_perf_event {
	char *name; /* owned */
	uint32_t type;
	uint64_t config;
	bool exclude_user;
	bool exclude_kernel;
	uint8_t precise;
	uint64_t period;     /* of each sample; 0: samples have their own */
	double frequency_hz; /* 0: a period was asked for */
	struct hp_record_layout layout;
	HP_VECTOR(uint64_t) ids;
};

struct hp_perf_build_id {
	const char *path; /* in the bytes */
	struct hp_identity identity;
};

struct hp_perf_record {
	uint64_t time_ns;
	size_t number; /* in the file */
	const uint8_t *bytes;
	size_t size;
};

struct hp_perf_file {
	HP_VECTOR(struct hp_perf_event) events; /* at least one */
	HP_VECTOR(struct hp_perf_build_id) build_ids;
	HP_VECTOR(struct hp_perf_record) records; /* by time */
	/* Of the machine that recorded; owned, NULL unknown. */
	char *host;
	char *kernel;
	char *architecture;
	char *cpu_model;
	char **command_line; /* of perf; NULL-terminated */
	uint32_t cpus;
	uint64_t damaged;  /* malformed records, and the rest behind one without a size */
	bool is_truncated; /* perf did not end properly */
	/* Private. */
	uint8_t *unpacked;
	size_t unpacked_size;
	size_t unpacked_capacity;
	void *unpacker;
};

/* Reads the file. DAMAGED: another format, or nothing of it is readable; USAGE: a way of recording
 * that is not supported. */
struct hp_error *hp_perf_file_read(const uint8_t *bytes, size_t size, struct hp_perf_file *file);
void hp_perf_file_clear(struct hp_perf_file *file);

/* Parses a record, and sets the event it belongs to; false if it is damaged. */
bool hp_perf_file_record(const struct hp_perf_file *file, size_t number, struct hp_record *record,
			 size_t *event);

#endif
