/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What samples go through, from processes and images to an epoch that is being written. */
#ifndef TESTS_COLLECT_BENCH_H
#define TESTS_COLLECT_BENCH_H

#include "../../src/collect/samples/attribute.h"

extern struct bench {
	struct images *images;
	struct processes processes;
	struct streams streams;
	struct attributor attributor;
	struct hp_db *db;
	struct hp_epoch_writer *writer;
} bench;

/* For a test's SETUP. Ends with the test, and asserts that no image is left. */
void bench_begin(char *const *event_names, size_t event_count);

#endif
