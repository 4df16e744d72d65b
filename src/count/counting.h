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
	int overflow_fd; /* SIGIO; -1 without slices by events */
	sigset_t mask_before_overflow;
	struct hp_command command;
	struct hp_watch watch;
	struct hp_cpu_meter meter; /* of targets that are no command of ours */
	struct counter_place *places;
	size_t place_count;
	struct rotation *rotations; /* by rotation set */
	size_t rotation_count;
	struct agents *agents; /* of a system-wide run */

	struct hp_event clock_event; /* a dummy, always on: how long the target ran */
	struct hp_event_list clock_list;
	struct hp_rotation_set clock_rotation_set;
	struct hp_counter_group clock_group;
	uint32_t clock_index;
	struct counters clock;			   /* without places where it is not needed */
	struct hp_rotation_set truth_rotation_set; /* every software event, always on */
	struct counters truth;
	uint64_t *truth_values; /* by event, at the interval's begin; then now */

	uint64_t start_ns; /* counting began */
	uint64_t interval_begin_ns;
	struct pace pace; /* of the running slice */
	bool is_ramping;  /* it is shorter than slices will be */
	uint64_t rotations_done;
	uint64_t rotation_ns;	 /* sum over them */
	double rotation_mean_ns; /* of late: what the next slice's length goes by */
	uint64_t interval_number;
	uint64_t end_ns;
};

/* turning.c */
bool counting_turns(const struct hp_counting *counting);
/* From the first instruction to the last; `counting->end_ns` is then known. */
struct hp_error *counting_turn_until_the_end(struct hp_counting *counting);

/* counting_report.c */
struct hp_error *counting_report_interval(struct hp_counting *counting, uint64_t end_ns);
struct hp_error *counting_report_whole(struct hp_counting *counting,
				       const struct hp_counting_result *result);

#endif
