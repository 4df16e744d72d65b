/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run under counters: from a target and events to estimates of how often each event happened.
 *
 *	hp_counting_create	starts the command (stopped before its first instruction) or finds
 *				the threads, opens the groups of every rotation set (pmu/groups.h)
 *	hp_counting_run		lets it run, turns the rotation sets slice by slice, and estimates
 *
 * Slices. A target may end after a millisecond or after a day. The first slices are short, so that
 * each group soon has one, and grow (mux/ramp.h) to their full length. The full length is as short
 * as the measured cost of rotation allows, or as the user requests. Slices are measured in the
 * target's own time: while it does not run, a slice continues for a while. With `slice_units` an
 * overflow of the reference event ends a slice (Azimi et al. 2005, section 2: instruction-based
 * multiplexing); in a system-wide run, an overflow on any CPU does.
 *
 * Used by one thread; SIGINT, SIGTERM, SIGHUP, SIGCHLD and SIGIO belong to the counting from create
 * to destroy.
 */
#ifndef HPCPROF_COUNT_COUNTING_H
#define HPCPROF_COUNT_COUNTING_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/mux/estimate.h>
#include <hpcprof/mux/scheduler.h>
#include <hpcprof/pmu/groups.h>

#include <sys/types.h>

struct hp_counting_result {
	bool had_command;
	int exit_status; /* as hp_session_result's; of a run that is over */
	uint64_t elapsed_ns;
	uint64_t user_ns; /* of a command that has ended, and the children it waited for */
	uint64_t system_ns;
	uint64_t target_cpu_ns;	   /* for any target, as far as known, in steps of 10 ms; else 0 */
	uint64_t target_system_ns; /* the part of it in the kernel */
	uint64_t slices;	   /* of the rotation set that turned most */
	double slice_mean_ns;
	double rotation_ns;	 /* what one rotation took, on average */
	double rotation_percent; /* of the run's time: an upper limit of the cost to the target */
};

/* What happened in an interval, or in the whole run. */
struct hp_counting_report {
	uint64_t begin_ns; /* since the run's beginning */
	uint64_t duration_ns;
	const struct hp_mux_estimates *estimates; /* of each event of the list, in its order */
	/* Likewise, counted all the time in addition, UINT64_MAX for others; NULL without
	 * `truth`. */
	const uint64_t *truth;
	const struct hp_counting_result *whole; /* of the run; NULL: of one interval of it */
};

struct hp_counting_options {
	/* The target: exactly one of these, and optionally a command that only sets the time. See
	 * hp_session_options. */
	char *const *command;
	const pid_t *pids;
	size_t pid_count;
	const pid_t *tids;
	size_t tid_count;
	bool system_wide;

	const char *cpus; /* only there; NULL: everywhere */
	const struct hp_event_list *events;
	const struct hp_rotation_sets *rotation_sets; /* of these events */
	enum hp_mux_policy policy;
	enum hp_mux_method method;
	uint64_t seed;
	uint64_t slice_ns;	 /* 0: as short as rotating costs allow */
	uint64_t slice_units;	 /* in units of the reference events; 0: by time */
	double overhead_percent; /* limit on the share of rotation; 0: the default */
	uint64_t interval_ns;	 /* 0: no intervals */
	uint64_t delay_ns;
	uint64_t duration_ns; /* 0: until the target ends */
	bool truth;	      /* also count software events all the time, to compare */

	/* Called at the end of each interval, and for the whole run. */
	void (*report)(const struct hp_counting_report *report, void *context);
	void (*notify)(const char *message, void *context);
	void *context;
};

#define HP_DEFAULT_ROTATION_PERCENT 1.0

static inline bool hp_counting_counts_command(const struct hp_counting_options *options)
{
	return options->command && !options->system_wide && !options->pid_count &&
	       !options->tid_count;
}

struct hp_counting;

struct hp_error *hp_counting_create(const struct hp_counting_options *options,
				    const struct hp_machine *machine,
				    struct hp_counting **counting);
void hp_counting_destroy(struct hp_counting *counting);
HP_DEFINE_CLEANUP(struct hp_counting, hp_counting_destroy);

struct hp_error *hp_counting_run(struct hp_counting *counting, struct hp_counting_result *result);

#endif
