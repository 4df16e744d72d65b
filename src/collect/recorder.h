/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data path of a recording: ring records in, epoch files out.
 *
 *	rings ─► record ─► processes (map changes) ─► sample table ─► attributor ─► epoch
 *
 * All memory is bounded: rings, table, overflow and placed samples have fixed sizes. Processes,
 * spaces and images are those in use, and those that ended since the last flush.
 */
#ifndef HPCPROF_COLLECT_RECORDER_H
#define HPCPROF_COLLECT_RECORDER_H

#include "evidence/outcomes.h"
#include "evidence/probes.h"
#include "evidence/ranges.h"
#include "evidence/windows.h"
#include "paths/call_paths.h"
#include "samples/attribute.h"

#include <hpcprof/calibrate/clock.h>
#include <hpcprof/calibrate/skid.h>
#include <hpcprof/collect/session.h>
#include <hpcprof/sample/sampler.h>
#include <hpcprof/target/cpu_times.h>

struct recorder_event {
	uint64_t samples;
	uint64_t period_total;
	uint64_t lost;
	uint64_t throttled;
	uint64_t enabled_ns; /* sum at the end */
	uint64_t running_ns;
	uint32_t stream; /* for a fixed period */
};

struct recorder {
	const struct hp_session_options *options;
	const struct hp_machine *machine;
	const struct hp_event *events; /* as they were opened */
	size_t event_count;
	const struct hp_rate *rates;
	struct hp_sample_cost cost;
	struct hp_sampler *sampler;
	struct hp_epoch_writer *writer;

	struct images *images;
	struct processes processes;
	struct streams streams;
	struct sample_table table;
	struct attributor attributor;
	struct probes *probes;	       /* NULL without --probes */
	struct outcomes *outcomes;     /* NULL without registers */
	struct call_paths *call_paths; /* NULL without -g */
	struct ranges *ranges;	       /* NULL without branch records */
	struct recorder_event *totals; /* by event */
	char **event_names;
	uint64_t start_ns; /* real time of the start */
	uint64_t end_ns;   /* real time of the end of sampling; 0: it goes on */
	/* when importing a file: time of its last record; 0: records are taken now */
	uint64_t last_ns;
	const struct hp_run *run;     /* of a command that has ended, otherwise NULL */
	struct hp_cpu_times target;   /* of other targets, so far; both 0: unknown */
	struct hp_skid_entries skids; /* calibrations on this machine and on others */
	struct hp_clock_meter *meter;
	struct hp_clock clock;
	bool core_is_shared; /* by the latest measurement */
	bool has_kernel; /* samples include the kernel */
	/* CPU of the last sample since the clock was last measured, otherwise -1 */
	int busy_cpu;
	char *warnings[4];
	size_t warning_count;
	struct windows windows;	  /* of shadows, if there are any */
	uint64_t paths_due_ns;	  /* when paths are to be written next */
	uint64_t branches_due_ns; /* likewise */
	/* an event that measures CPU time without interruption; event_count: none */
	size_t time_event;
	struct hp_epoch_meta meta; /* as last committed */
};

struct hp_error *recorder_create(struct recorder *recorder,
				 const struct hp_session_options *options,
				 const struct hp_machine *machine, const struct hp_event *events,
				 const struct hp_rate *rates, struct hp_sampler *sampler);
void recorder_clear(struct recorder *recorder);

/* Adds a warning for readers of the report, which is stored in the epoch; at most four. */
void recorder_warn(struct recorder *recorder, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether the registers of the event's samples are useful. */
bool recorder_is_of_time(const struct hp_event *event);

/* Takes the records in the rings up to a time (CLOCK_MONOTONIC; UINT64_MAX: all). */
void recorder_drain(struct recorder *recorder, uint64_t horizon_ns);

/* Takes one record from any source. Records come in order of time. */
void recorder_take(struct recorder *recorder, const struct hp_record *record);

/* Does slow preparations for attribution in advance, since the user waits at the end. */
void recorder_prepare(struct recorder *recorder);

/* Attributes everything that was taken so far. */
void recorder_attribute(struct recorder *recorder);

/* The same, and writes it. With `complete` the epoch is finished. What could not be written is kept
 * for the next try. */
struct hp_error *recorder_flush(struct recorder *recorder, bool complete);

/* Starts breakpoint probes within the budget, a share of the target's time. The error says why
 * there can be none. */
struct hp_error *recorder_begin_probes(struct recorder *recorder, double budget);

/* Announces shadow windows (recorder.windows), so that everything needed to place them is kept. */
void recorder_expect_windows(struct recorder *recorder);

/* Measures the core's clock: on the CPU where the target runs, at intervals; at the beginning and
 * `at_end` at once, if necessary on ours. */
void recorder_meter_clock(struct recorder *recorder, bool at_end);

/* Whether placed samples fill their buffer, so that a flush is due soon. */
bool recorder_is_full(struct recorder *recorder);

/* The CPU time of this process. */
uint64_t recorder_own_cpu_ns(void);

/* Describes the recording as it is now. The caller clears `meta`. */
struct hp_error *recorder_describe(const struct recorder *recorder, bool complete,
				   struct hp_epoch_meta *meta);

#endif
