/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace that somebody else wrote: opened, gone through, written again, and run on a core. */
#include "fuzz.h"

#include <hpcprof/cycle/model.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(bool claim)
{
	if (!claim)
		abort();
}

/* What was opened has as many runs as it says; written again it is the same. */
static void go_through(const struct hp_trace *trace)
{
	struct hp_trace_cursor *cursor = hp_trace_cursor_create(trace);
	struct hp_trace_writer writer = { 0 };
	struct hp_trace_run run;
	struct hp_trace *again;
	uint64_t runs = 0;

	hp_trace_begin(&writer, trace->machine);
	for (size_t i = 0; i < trace->block_count; i++)
		check(hp_trace_add_block(&writer, &trace->blocks[i]));
	for (; hp_trace_next(cursor, &run); runs++)
		hp_trace_add_run(&writer, &run);
	hp_trace_end(&writer);
	check(runs == trace->runs);
	check(!hp_trace_open(writer.out.bytes, writer.out.size, &again));
	check(again->instructions == trace->instructions);
	hp_trace_close(again);
	hp_trace_writer_free(&writer);
	hp_trace_cursor_destroy(cursor);
}

static void run_it(const struct hp_trace *trace, const char *core)
{
	struct hp_cycle_options options = { .most = 2000 };
	struct hp_cycle_config config;
	struct hp_cycle_result result;
	struct hp_error *error;

	check(!hp_cycle_config_named(core, &config));
	error = hp_cycle_measure(trace, &config, &options, &result);
	if (error) {
		/* Its machine may be another, or nothing be in it; but no trace makes the model
		 * hang. */
		check(error->class == HP_ERROR_USAGE || error->class == HP_ERROR_INSUFFICIENT);
		hp_error_destroy(error);
		return;
	}
	for (unsigned i = 0; i < HP_ACCOUNTINGS; i++) {
		double sum = 0;

		for (unsigned part = 0; part < HP_CYCLE_PARTS; part++)
			sum += result.stacks[i].cpi[part];
		check(fabs(sum * (double)result.counts.instructions -
			   (double)result.counts.cycles) <=
		      1e-6 * ((double)result.counts.cycles + 1));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct hp_trace *trace;
	struct hp_error *error = hp_trace_open(bytes, size, &trace);

	if (error) {
		hp_error_destroy(error);
		return 0;
	}
	go_through(trace);
	run_it(trace, "eyerman2006");
	run_it(trace, "zen-4");
	hp_trace_close(trace);
	return 0;
}
