/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an epoch remembers beside its profiles: where, what and how it was recorded, what was lost.
 * Every string is owned and NULL when unknown, unless said otherwise. Times are CLOCK_REALTIME
 * nanoseconds. Totals are sums over the whole epoch.
 */
#ifndef HPCPROF_MODEL_EPOCH_H
#define HPCPROF_MODEL_EPOCH_H

#include <hpcprof/model/clock.h>
#include <hpcprof/model/cpu.h>
#include <hpcprof/model/profile.h>

/* Totals of one event. */
struct hp_event_totals {
	struct hp_event_info info;
	double frequency_hz;   /* asked for (after caps and budgets); 0 when -c was given */
	uint64_t samples;      /* in the profiles, the unattributed ones too */
	uint64_t period_total; /* sum of samples times period, in units */
	uint64_t lost;	       /* the kernel had no room for */
	uint64_t throttled;    /* THROTTLE records: intervals in which the kernel held back */
	uint64_t unattributed; /* samples in the "[unknown]" image */
	/* How long it was to count, and how long it had a counter; both 0 when unknown. */
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/* What each unit that was sampled stands for: more than one where the event took turns with others.
 * While it had no counter it is taken to have happened as often as while it had one. */
double hp_event_units_for_one(const struct hp_event_totals *totals);

/* Times of processes: one record for each command name, summed over its processes. */
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
	int32_t exit_status; /* as a shell says it: 128+N for signal N */
	/* What the same work cost just before the run and just after it, wherever it was done: CPU
	 * time of a loop that is always the same, in ns; 0 unknown, as in older epochs. */
	uint64_t reference_begin_ns;
	uint64_t reference_end_ns;
	double work; /* units of it that the run did, as whoever ran it knows; 0 unknown */
};

struct hp_epoch_meta {
	bool complete; /* false: still being recorded, or the recorder died */
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
	uint64_t target_cpu_ns;	   /* what the target used in that time, as far as known; else 0 */
	uint64_t target_system_ns; /* of that, in the kernel */
	uint64_t damaged_records;  /* ring records that made no sense */
	char **warnings;	   /* NULL-terminated, things a reader of the report must know */
};

void hp_epoch_meta_clear(struct hp_epoch_meta *meta);

/* Of the target's CPU time, in ns; both 0 unknown. Epochs of before target_system_ns know it of
 * their runs. */
void hp_epoch_cpu_times(const struct hp_epoch_meta *meta, double *cpu_ns, double *system_ns);

/* "user mode only: 91.2 % of the CPU time (system) is not in here", for events without the kernel;
 * without a number where cpu_ns is 0. */
enum { HP_USER_ONLY_BYTES = 80 };
void hp_user_only_say(double cpu_ns, double system_ns, char text[HP_USER_ONLY_BYTES]);

/* Core cycles that one of these units was; 0 unknown. */
double hp_epoch_cycles_per_unit(const struct hp_epoch_meta *meta, enum hp_unit unit);

/*
 * Adds totals, clocks, commands, runs and warnings; keeps `into`'s description, but for the CPU,
 * which is unknown unless it is the same in both (hp_cpu_meet); widens start and end. An event
 * asked for at two frequencies ends with none (0), one of two skids with the default. The same
 * event in two units is a USAGE error, totals past 64 bits are DAMAGED. After an error `into`
 * holds part of the sum: clear it.
 */
struct hp_error *hp_epoch_meta_add(struct hp_epoch_meta *into, const struct hp_epoch_meta *from);

#endif
