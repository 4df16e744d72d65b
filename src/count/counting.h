/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of a counting: opening its target (counting.c), rotating its sets (turning.c)
 * and reporting the results (counting_report.c).
 */
#ifndef COUNT_COUNTING_H
#define COUNT_COUNTING_H

#include "agents.h"
#include "pace.h"
#include "rotation.h"

#include <hpcprof/count/counting.h>
#include <hpcprof/target/cpu_times.h>
#include <hpcprof/target/watch.h>

struct hp_counting {
	struct hp_counting_options options;
	const struct hp_machine *machine;
	struct hp_signals signals;
	bool has_signals;
	int overflow_fd; /* SIGIO; -1: slices do not end by events */
	sigset_t mask_before_overflow;
	struct hp_command command;
	struct hp_watch watch;
	struct hp_cpu_meter meter; /* of targets other than a command that we have started */
	struct counter_place *places;
	size_t place_count;
	struct rotation *rotations; /* by rotation set */
	size_t rotation_count;
	struct agents *agents; /* of a system-wide run */

	struct hp_event clock_event; /* a dummy event, always enabled: how long the target ran */
	struct hp_event_list clock_list;
	struct hp_rotation_set clock_rotation_set;
	struct hp_counter_group clock_group;
	uint32_t clock_index;
	struct counters clock;			   /* without places if it is not needed */
	struct hp_rotation_set truth_rotation_set; /* each software event, always enabled */
	struct counters truth;
	uint64_t *truth_values; /* by event: first at the beginning of the interval, then now */

	uint64_t start_ns; /* when counting began */
	uint64_t interval_begin_ns;
	struct pace pace; /* of the current slice */
	bool is_ramping;  /* slices are still shorter than they will be */
	uint64_t rotations_done;
	uint64_t rotation_ns;	 /* sum over all rotations */
	double rotation_mean_ns; /* recent mean, which determines the next slice's length */
	uint64_t interval_number;
	uint64_t end_ns;
};

/* turning.c */
bool counting_turns(const struct hp_counting *counting);
/* Counts from the first instruction to the last; sets `counting->end_ns`. */
struct hp_error *counting_turn_until_the_end(struct hp_counting *counting);

/* counting_report.c */
struct hp_error *counting_report_interval(struct hp_counting *counting, uint64_t end_ns);
struct hp_error *counting_report_whole(struct hp_counting *counting,
				       const struct hp_counting_result *result);

#endif
