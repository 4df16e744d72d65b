/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include "../scratch.h"
#include "../support.h"

#include <hpcprof/base/cleanup.h>

struct bench bench;

static void end(void *nothing)
{
	(void)nothing;
	attributor_clear(&bench.attributor);
	processes_clear(&bench.processes);
	images_sweep(bench.images);
	ck_assert_uint_eq(images_count(bench.images), 0);
	images_destroy(bench.images);
	hp_vector_free(&bench.streams);
	hp_epoch_writer_destroy(bench.writer);
	hp_db_close(bench.db);
}

void bench_begin(char *const *event_names, size_t event_count)
{
	_cleanup_free_ char *path = scratch_path("db");

	bench.images = images_create();
	ck_assert_ptr_nonnull(bench.images);
	hp_assert_ok(processes_create(&bench.processes, bench.images, false, false));
	hp_assert_ok(attributor_create(&bench.attributor, &bench.processes, bench.images,
				       &bench.streams, event_names, event_count));
	hp_assert_ok(hp_db_open(path, true, &bench.db));
	hp_assert_ok(hp_epoch_create(bench.db, NULL, &bench.writer));
	at_end(end, NULL);
}
