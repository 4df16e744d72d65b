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
	uint64_t enabled_ns; /* at the end */
	uint64_t running_ns;
	uint32_t stream; /* of a fixed period */
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
	uint64_t start_ns;	      /* real time */
	uint64_t end_ns;	      /* of sampling; 0: it goes on */
	uint64_t last_ns;	      /* of a file: the time of its last record; 0: it is now */
	const struct hp_run *run;     /* of a command that has ended, else NULL */
	struct hp_cpu_times target;   /* of others, so far; 0 and 0: unknown */
	struct hp_skid_entries skids; /* calibrated on this machine and others */
	struct hp_clock_meter *meter;
	struct hp_clock clock;
	bool has_kernel; /* samples */
	int busy_cpu;	 /* of the last sample since the clock was last asked for, else -1 */
	char *warnings[4];
	size_t warning_count;
	struct windows windows;	   /* of shadows, if there are any */
	uint64_t paths_due_ns;	   /* when they are written next */
	uint64_t branches_due_ns;  /* likewise */
	size_t time_event;	   /* that measures CPU time all the time, else event_count */
	struct hp_epoch_meta meta; /* as last committed */
};

struct hp_error *recorder_create(struct recorder *recorder,
				 const struct hp_session_options *options,
				 const struct hp_machine *machine, const struct hp_event *events,
				 const struct hp_rate *rates, struct hp_sampler *sampler);
void recorder_clear(struct recorder *recorder);

/* Something a reader of the report must know; kept with the epoch, at most four. */
void recorder_warn(struct recorder *recorder, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether the registers of its samples are worth having. */
bool recorder_is_of_time(const struct hp_event *event);

/* Takes what the rings hold, up to a moment (CLOCK_MONOTONIC; UINT64_MAX: all of it). */
void recorder_drain(struct recorder *recorder, uint64_t horizon_ns);

/* Takes one record, wherever it is from; the next has no earlier time. */
void recorder_take(struct recorder *recorder, const struct hp_record *record);

/* Does slow preparations for attributing in advance: at the end the user waits. */
void recorder_prepare(struct recorder *recorder);

/* Attributes everything taken so far. */
void recorder_attribute(struct recorder *recorder);

/* The same, and writes it; with `complete` the epoch is finished. What
 * could not be written is kept for the next try. */
struct hp_error *recorder_flush(struct recorder *recorder, bool complete);

/* Breakpoint probes within the budget, a share of the target's time, from now on. Says in words why
 * there can be none. */
struct hp_error *recorder_begin_probes(struct recorder *recorder, double budget);

/* From now on there may be shadow windows (recorder.windows): keeps what it takes to place them. */
void recorder_expect_windows(struct recorder *recorder);

/* Measures the clock of the core: of the one the target runs on if it does, by and by; at the
 * beginning and `at_end` at once, and where we run if need be. */
void recorder_meter_clock(struct recorder *recorder, bool at_end);

/* The placed samples outgrow their buffer: flush soon. */
bool recorder_is_full(struct recorder *recorder);

/* The CPU time of this process. */
uint64_t recorder_own_cpu_ns(void);

/* Describes the recording as of now; `meta` is cleared by the caller. */
struct hp_error *recorder_describe(const struct recorder *recorder, bool complete,
				   struct hp_epoch_meta *meta);

#endif
