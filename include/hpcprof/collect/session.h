/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording: from a target and events to an epoch in the database.
 *
 *	hp_session_create	finds the rates, makes the epoch, starts the command (stopped before
 *				its first instruction) or finds the threads, opens events and rings
 *	hp_session_meta		what will be recorded: for the banner
 *	hp_session_run		runs until the target ends, a limit or a signal; the epoch is
 *				complete
 *
 * Used by one thread; SIGINT, SIGTERM, SIGHUP and SIGCHLD are the session's from create to destroy.
 */
#ifndef HPCPROF_COLLECT_SESSION_H
#define HPCPROF_COLLECT_SESSION_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/db/db.h>
#include <hpcprof/model/window.h>
#include <hpcprof/mux/scheduler.h>
#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/groups.h>
#include <hpcprof/pmu/machine.h>
#include <hpcprof/sample/rate.h>

#include <sys/types.h>

enum { HP_DEFAULT_FLUSH_S = 10 };

/* How the callers of samples are found. */
enum hp_call_paths {
	HP_CALL_PATHS_NONE,
	HP_CALL_PATHS_AUTO, /* CFI where it is offered, else FP */
	HP_CALL_PATHS_FP,   /* by the kernel, over frame pointers */
	HP_CALL_PATHS_CFI,  /* by unwind tables, from registers and a copied piece of stack */
	HP_CALL_PATHS_LBR,  /* by the hardware's records of calls */
};

struct hp_session_options {
	/* The target: exactly one of these. A command in addition to another target is not
	 * recorded; it only sets the time, from its start to its end. */
	char *const *command; /* NULL-terminated argv */
	int command_input; /* descriptors for its standard input and output; 0: those of hpcprof */
	int command_output;
	bool shares_cpu; /* with other commands, see shared_cpu.h: it runs on `shared_cpu` */
	int shared_cpu;
	const pid_t *pids; /* whole processes (with the threads they start) */
	size_t pid_count;
	const pid_t *tids; /* single threads and what they start */
	size_t tid_count;
	bool system_wide;
	bool imported; /* the epoch is imported from a file; its command was not run by hpcprof */

	const char *cpus; /* "0-3,6": only there; NULL: every online CPU */
	const struct hp_event_list *events;
	/* For events that take turns; NULL: all at once. */
	const struct hp_rotation_sets *rotation_sets;
	enum hp_mux_policy policy;
	uint64_t slice_ns;	     /* 0: as short as rotating costs allow */
	double frequency_hz;	     /* 0: the default, unless `period` */
	double default_frequency_hz; /* of events that have no period of their own; 0: as above */
	uint64_t period;
	bool no_cap;
	double overhead_percent; /* of the target's time; 0: no budget */
	uint64_t delay_ns;
	uint64_t duration_ns; /* 0: none */
	uint64_t flush_ns;    /* 0: the default */
	size_t ring_pages;    /* per CPU, a power of two; 0: default */
	bool per_process;
	bool per_thread; /* and so per process */
	bool per_cpu;
	bool no_code;	  /* do not store the code of procedures with samples */
	bool is_repeated; /* one of several recordings: messages that hold for all are not repeated */
	enum hp_call_paths call_paths;
	uint32_t call_path_stack_bytes; /* copied for CFI, a multiple of 8; 0: chosen */
	bool no_registers;		/* no registers with samples, so no outcomes of branches */
	double probes_percent;		/* of the target's time, for breakpoint probes; 0: none */

	struct hp_db *db;
	const char *label;
	const char *append; /* a stamp, or NULL for a new epoch */

	/* Called when a command has ended: returns its units of work, 0 if unknown. */
	double (*work)(const struct hp_run *run, void *context);
	void *work_context;

	/* Called every second from the tenth on, with the elapsed time and the samples so far. */
	void (*progress)(uint64_t elapsed_ns, uint64_t samples, void *context);
	void *progress_context;

	/* Called with notices while it runs (shrunk rings, a full disk). */
	void (*notify)(const char *message, void *context);
	void *notify_context;
};

static inline bool hp_session_records_command(const struct hp_session_options *options)
{
	return options->command && !options->system_wide && !options->pid_count &&
	       !options->tid_count;
}

struct hp_session_result {
	bool had_command;
	/* that of the command, as in a shell: 127 and 126 if it could not be executed, 125 if the
	 * recording failed */
	int exit_status;
	uint64_t database_bytes; /* of the epoch */
	/* Of this recording alone, also if it was appended to an epoch. */
	uint64_t samples;
	uint64_t lost;
	uint64_t unattributed;
	bool throttled;
	size_t images;
	uint64_t own_cpu_ns;
	uint64_t least_period;	/* of an event: occurrences per sample */
	uint64_t hidden;	/* processes that the kernel excluded from the recording */
	double own_cpu_percent; /* hpcprof's CPU time divided by the elapsed time */
	/* Of call paths: samples that have one, those whose path is whole, of these those that were
	 * joined to an earlier one, those whose copied stack was too short, and frames in all and
	 * without a rule; how many joins were checked by samples with more of the stack, and how
	 * many of those were wrong. */
	uint64_t path_samples;
	uint64_t path_whole;
	uint64_t path_joined;
	uint64_t path_truncated;
	uint64_t path_frames;
	uint64_t path_guesses;
	uint64_t path_checked;
	uint64_t path_wrong;
	uint32_t path_stack_bytes; /* copied with samples at the end; 0: none is */
	/* Of breakpoint probes. */
	uint64_t probe_moments;
	uint64_t probe_hits;
	uint64_t probe_kept;	    /* those in the epoch */
	double probe_cost_percent;  /* of the target's time */
	const char *probe_refusal;  /* why there were none, or why they ended; else NULL */
	double target_cost_percent; /* sample cost times samples over target CPU time; < 0 unknown
				     */
};

struct hp_session;

struct hp_error *hp_session_create(const struct hp_session_options *options,
				   const struct hp_machine *machine, struct hp_session **session);
void hp_session_destroy(struct hp_session *session);
HP_DEFINE_CLEANUP(struct hp_session, hp_session_destroy);

/* Valid as long as the session; totals are those of the last flush. */
const struct hp_epoch_meta *hp_session_meta(const struct hp_session *session);
const char *hp_session_stamp(const struct hp_session *session);

/* --- shadow windows --------------------------------------------------------------------------- */

/* The source of windows while the session runs; its thread makes all calls. */
struct hp_window_source {
	int fd; /* readable when windows are ready */
	/* Called when the target runs; a command has then executed its program. */
	void (*start)(struct hp_session *session, void *context);
	/* Sampling has ended: no window begins from now on. Returns at once. */
	void (*stop)(struct hp_session *session, void *context);
	/* Passes all ready windows to hp_session_add_window. `is_last`: waits for the window that
	 * is being made; this is the time to add figures. */
	void (*take)(struct hp_session *session, bool is_last, void *context);
	void *context;
};

/* Call it before the session runs. `source` is copied. */
void hp_session_set_windows(struct hp_session *session, const struct hp_window_source *source);
/* Takes ownership of the window's contents. Windows come in the order of time. */
void hp_session_add_window(struct hp_session *session, struct hp_window *window);
/* Adds everything except counts to the epoch: reasons, cost, samples. Strata are ignored. */
struct hp_error *hp_session_add_window_figures(struct hp_session *session,
					       const struct hp_window_evidence *figures);
/* The recorded command, stopped before its first instruction until the session runs; 0 without a
 * command. */
pid_t hp_session_command_pid(const struct hp_session *session);
/* CPU time of a recorded command that has ended, user and kernel; 0 without one. */
uint64_t hp_session_command_cpu_ns(const struct hp_session *session);

/* Whether, by the latest look, another hardware thread of the target's core is busy. It changes while the
 * session runs, and lives as long as that: read it with __atomic_load_n. */
const bool *hp_session_core_is_shared(const struct hp_session *session);

struct hp_error *hp_session_run(struct hp_session *session, struct hp_session_result *result);

#endif
