/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a perf.data file that describe its events and the machine. */
#ifndef SAMPLE_PERF_FILE_PARTS_H
#define SAMPLE_PERF_FILE_PARTS_H

#include <hpcprof/base/bytes.h>
#include <hpcprof/sample/perf_file.h>

/* Adds a struct perf_event_attr of any version, and its ids. USAGE if its samples lack necessary
 * fields. */
struct hp_error *perf_file_add_event(struct hp_perf_file *file, const uint8_t *attr, size_t size,
				     const uint8_t *ids, size_t id_count);
/* The same from a record. */
struct hp_error *perf_file_take_attr(struct hp_perf_file *file, struct hp_reader *reader);
/* Takes records of build-ids, one after the other. */
struct hp_error *perf_file_take_build_ids(struct hp_perf_file *file, const uint8_t *bytes,
					  size_t size);
/* Takes a feature by its number; unknown ones are ignored. */
struct hp_error *perf_file_take_feature(struct hp_perf_file *file, uint64_t number,
					const uint8_t *bytes, size_t size);

#endif
