/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metadata of an epoch: where, what and how it was recorded, and what was lost. Strings are
 * owned, and NULL if unknown, unless stated otherwise. Times are CLOCK_REALTIME nanoseconds. Totals
 * are sums over the whole epoch.
 */
#ifndef HPCPROF_MODEL_EPOCH_H
#define HPCPROF_MODEL_EPOCH_H

#include <hpcprof/model/clock.h>
#include <hpcprof/model/cpu.h>
#include <hpcprof/model/profile.h>

/* Totals of one event. */
struct hp_event_totals {
	struct hp_event_info info;
	double frequency_hz;   /* as requested, after caps and budgets; 0 with -c */
	uint64_t samples;      /* in the profiles, including unattributed ones */
	uint64_t period_total; /* sum of samples times period, in units */
	uint64_t lost;	       /* the ring had no room for them */
	uint64_t throttled; /* THROTTLE records: intervals in which the kernel suspended sampling */
	uint64_t unattributed; /* samples in the "[unknown]" image */
	/* For how long it should have counted, and for how long it had a counter; both 0 if
	 * unknown. */
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/* The number of units that each sampled unit stands for: more than one if the event took turns with
 * others. The rate is assumed to be the same while the event had no counter. */
double hp_event_units_for_one(const struct hp_event_totals *totals);

/* Times of processes: one record per command name, summed over its processes. */
struct hp_command_times {
	char *command;	     /* comm, "" when unknown; never NULL */
	uint64_t processes;  /* that ended or were running at the end */
	uint64_t samples;    /* of all events */
	uint64_t elapsed_ns; /* first seen to last seen, summed over processes */
};

/* One run of the recorded command (`record -- CMD`): what `check` compares. */
struct hp_run {
	uint64_t start_ns;
	uint64_t elapsed_ns;
	uint64_t user_ns; /* wait4's figures: the command and the children it waited for */
	uint64_t system_ns;
	uint64_t max_rss_bytes;
	int32_t exit_status; /* as a shell reports it: 128+N for signal N */
	/* CPU time in ns of a reference loop just before the run and just after it; 0 if unknown,
	 * as in older epochs. */
	uint64_t reference_begin_ns;
	uint64_t reference_end_ns;
	double work; /* units of work of the run; 0 unknown */
};

struct hp_epoch_meta {
	bool complete; /* false: still being recorded, or the recorder was killed */
	char *version; /* of hpcprof */
	char *label;
	char *host;
	char *cpu_model;    /* for people */
	struct hp_cpu cpu;  /* unknown in older epochs, and in sums over different CPUs */
	char *architecture; /* uname -m */
	char *kernel;	    /* release and version */
	uint32_t cpus;
	char **command_line; /* NULL-terminated argv of the target; NULL for -p and -a */
	char *target;	     /* "command", "pid 123,456", "system" */
	uint64_t start_ns;
	uint64_t end_ns;  /* of the last flush while incomplete */
	bool per_process; /* strata carry pids */
	bool per_thread;  /* profiles have shares by thread */
	bool per_cpu;	  /* likewise by CPU */
	struct hp_event_totals *events;
	size_t event_count;
	struct hp_command_times *commands; /* sorted by command, distinct */
	size_t command_count;
	struct hp_run *runs;
	size_t run_count;
	struct hp_clock clock;	   /* of the cores that ran the target; none in older epochs */
	uint64_t sample_cost_ns;   /* measured: what one sample takes from the target; 0 unknown */
	uint64_t own_cpu_ns;	   /* CPU time of hpcprof itself while recording */
	uint64_t target_cpu_ns;	   /* CPU time of the target meanwhile; 0 unknown */
	uint64_t target_system_ns; /* the part of it in the kernel */
	uint64_t damaged_records;  /* malformed ring records */
	char **warnings;	   /* NULL-terminated; a report must show them */
};

void hp_epoch_meta_clear(struct hp_epoch_meta *meta);

/* Adds a warning, unless it is there already. */
struct hp_error *hp_epoch_meta_warn(struct hp_epoch_meta *meta, const char *text);

/* The target's CPU time and the part of it in the kernel, in ns; both 0 if unknown. Epochs without
 * target_system_ns have the times of their runs. */
void hp_epoch_cpu_times(const struct hp_epoch_meta *meta, double *cpu_ns, double *system_ns);

/* The processes that ran meanwhile; 0 if unknown. */
uint64_t hp_epoch_processes(const struct hp_epoch_meta *meta);

/* Whether the system's part of the CPU time of so many processes (0: unknown) is known as a lower limit
 * only: the kernel tells it by the ticks of its clock, and that of a process without one is the
 * user's. */
bool hp_system_time_is_least(double cpu_ns, uint64_t processes);

/* "user mode only: 91.2 % of the CPU time (system) is not in here", for events without the kernel;
 * without a number where cpu_ns is 0, or all that is known is that it is at least 0.0 %. */
enum { HP_USER_ONLY_BYTES = 88 };
void hp_user_only_say(double cpu_ns, double system_ns, uint64_t processes,
		      char text[HP_USER_ONLY_BYTES]);

/* The part of the target's time that its samples by time took themselves, 0 to 0.5; 0 if unknown. The
 * clocks that such samples are taken by go on during the interrupt: it is in each period. */
double hp_epoch_sampling_share(const struct hp_epoch_meta *meta);
/* Core cycles of the target per unit, without those that its samples took; 0 if unknown. */
double hp_epoch_cycles_per_unit(const struct hp_epoch_meta *meta, enum hp_unit unit);

/*
 * Adds totals, clocks, commands, runs and warnings, and widens start and end. The description
 * remains that of `into`, except that the CPU becomes unknown unless it is the same in both
 * (hp_cpu_meet), and that different commands become none and the target "several commands" (or
 * "several targets"). The frequency of an event becomes 0 if the two differ, and its skid the default.
 * The same event in two units is a USAGE error, and totals past 64 bits are DAMAGED. After an error
 * `into` holds part of the sum: clear it.
 */
struct hp_error *hp_epoch_meta_add(struct hp_epoch_meta *into, const struct hp_epoch_meta *from);

#endif
