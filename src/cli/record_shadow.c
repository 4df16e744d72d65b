/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record_shadow.h"

#include "command.h"
#include "tuning.h"

#include <hpcprof/calibrate/geometry.h>
#include <hpcprof/calibrate/latencies.h>

#include <hpcprof/model/evidence.h>

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

/* The size limit of a trace, which holds some 200 million instructions. */
enum { TRACE_BYTES = 256 << 20 };

/* --- what the session calls ------------------------------------------------------------------- */

static void start(struct hp_session *session, void *context)
{
	struct record_shadow *shadow = context;
	struct hp_error *error = hp_shadow_start(shadow->shadow);

	(void)session;
	if (error && !shadow->quiet)
		fprintf(hp_cli_messages(), "hpcprof: no shadow windows: %s%s%s\n", error->message,
			error->advice ? "; " : "", error->advice ? error->advice : "");
	hp_error_destroy(error);
}

/* Adds the refusals; the session itself records why windows ended. */
static struct hp_error *add_refusals(struct hp_window_evidence *figures,
				     const struct hp_shadow_statistics *statistics)
{
	struct hp_error *error = NULL;

	for (unsigned i = 0; !error && i < HP_SHADOW_REFUSALS; i++) {
		if (statistics->refusals[i])
			error = hp_window_evidence_add_reason(
				figures, true, hp_shadow_refusal_name((enum hp_shadow_refusal)i),
				statistics->refusals[i]);
	}
	return error;
}

/* Adds the figures that the epoch stores beside the counts. */
static void add_figures(struct hp_session *session, const struct record_shadow *shadow)
{
	const struct hp_shadow_statistics *statistics = &shadow->statistics;
	struct hp_window_evidence figures = {
		.price = {
			.shadows = statistics->windows,
			.lost_ns = statistics->lost_ns,
			.target_ns = statistics->target_ns,
			.replay_ns = statistics->replay_ns,
			.beside_ns = statistics->beside_ns,
			.aside_ns = statistics->aside_ns,
			.budget_ppm = (uint32_t)(shadow->percent * 10000),
		},
		.samples = statistics->samples,
		.matched = statistics->matched,
	};
	struct hp_error *error = add_refusals(&figures, statistics);

	if (!error)
		error = hp_session_add_window_figures(session, &figures);
	if (error && !shadow->quiet)
		fprintf(hp_cli_messages(),
			"hpcprof: the cost of shadow windows could not be stored: %s\n",
			error->message);
	hp_error_destroy(error);
	hp_window_evidence_clear(&figures);
}

static void stop(struct hp_session *session, void *context)
{
	struct record_shadow *shadow = context;

	(void)session;
	hp_shadow_finish(shadow->shadow);
}

static void take(struct hp_session *session, bool is_last, void *context)
{
	struct record_shadow *shadow = context;
	struct hp_window window;
	cpu_set_t before;
	uint64_t command_ns;

	if (is_last)
		hp_shadow_stop(shadow->shadow);
	while (hp_shadow_take(shadow->shadow, &window)) {
		/* It takes long where the program is large. */
		hp_shadow_step_aside(window.tid, &before);
		hp_session_add_window(session, &window);
		hp_shadow_step_back(&before);
	}
	if (!is_last)
		return;
	hp_shadow_statistics(shadow->shadow, &shadow->statistics);
	/* The CPU time since windows were last due, and while the last copy was replayed: the
	 * session knows the former, the thread of the windows the latter. */
	command_ns = hp_session_command_cpu_ns(session);
	if (command_ns > shadow->statistics.target_ns)
		shadow->statistics.target_ns = command_ns;
	add_figures(session, shadow);
}

/* --- public ----------------------------------------------------------------------------------- */

struct hp_error *record_shadow_attach(struct record_shadow *shadow, struct hp_session *session,
				      const struct hp_session_options *options,
				      const struct hp_machine *machine)
{
	pid_t command = hp_session_command_pid(session);
	const struct hp_uarch_geometry geometry = hp_geometry_of_machine(machine);
	struct hp_shadow_options wanted = {
		.pids = command ? &command : options->pids,
		.pid_count = command ? 1 : options->pid_count,
		.tids = options->tids,
		.tid_count = options->tid_count,
		.percent = shadow->percent,
		.geometry = shadow->causes == RECORD_CAUSES_OFF ? NULL : &geometry,
		.core = hp_core_of_cpu(&machine->cpu),
		.measure = hp_latencies_measure,
		.core_is_shared = hp_session_core_is_shared(session),
		.resizes = &shadow->resizes,
		.simulates_always = shadow->causes == RECORD_CAUSES_ALWAYS,
		.trace_fd = shadow->trace_fd,
		.trace_bytes = TRACE_BYTES,
		.sample_ns = (double)hp_session_meta(session)->sample_cost_ns,
	};
	struct hp_window_source source = {
		.start = start,
		.stop = stop,
		.take = take,
		.context = shadow,
	};
	struct hp_error *error;

	if (shadow->percent <= 0)
		return NULL;
	error = hp_shadow_create(&wanted, &shadow->shadow);
	if (error)
		return error;
	source.fd = hp_shadow_fd(shadow->shadow);
	hp_session_set_windows(session, &source);
	return NULL;
}

void record_shadow_clear(struct record_shadow *shadow)
{
	hp_shadow_destroy(shadow->shadow);
	shadow->shadow = NULL;
}

void record_shadow_print_banner(const struct record_shadow *shadow)
{
	cpu_set_t cpus;

	if (!shadow->shadow)
		return;
	fprintf(hp_cli_messages(), "hpcprof: shadow windows for %.3g %% of the target's time\n",
		shadow->percent);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) < 2)
		fputs("hpcprof: there is only one CPU: most windows are replayed when the target "
		      "has ended\n",
		      hp_cli_messages());
}

/* Unsuitable moments are not worth a message; neither are unknown prices at first, if there were
 * windows later. */
static bool is_worth_saying(const struct hp_shadow_statistics *statistics, unsigned refusal)
{
	return statistics->refusals[refusal] && refusal != HP_SHADOW_IN_KERNEL &&
	       (refusal != HP_SHADOW_BUDGET || !statistics->windows);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* "; ended early by futex (3), clock (1)". */
static void print_ends(const struct hp_shadow_statistics *statistics)
{
	const char *between = "; ended early by";

	for (size_t i = 0; i < HP_SHADOW_SYSTEM_CALLS && statistics->calls[i].count; i++) {
		fprintf(hp_cli_messages(), "%s %s (%" PRIu64 ")", between,
			statistics->calls[i].name, statistics->calls[i].count);
		between = ",";
	}
	for (unsigned i = 0; i < HP_WINDOW_ENDS; i++) {
		if (i == HP_WINDOW_COMPLETE || i == HP_WINDOW_SYSTEM_CALL || !statistics->ends[i])
			continue;
		fprintf(hp_cli_messages(), "%s %s (%" PRIu64 ")", between,
			hp_window_end_name((enum hp_window_end)i), statistics->ends[i]);
		between = ",";
	}
}

/* Returns whether system calls end most windows: then more windows would not help. */
static bool do_calls_end_them(const struct hp_shadow_statistics *statistics)
{
	return statistics->windows && !statistics->useful &&
	       2 * statistics->ends[HP_WINDOW_SYSTEM_CALL] >= statistics->windows;
}

/* Prints "; 4 more were over budget: --shadow=3 or 10 s of CPU time would give absolute counts", or
 * "narrower intervals", as one window suffices for those by time. */
static void print_shortage(const struct record_shadow *shadow)
{
	const struct hp_shadow_statistics *statistics = &shadow->statistics;
	uint64_t refused = statistics->refusals[HP_SHADOW_BUDGET];
	double price_ns = (double)statistics->price_ns;
	double wanted_ns;
	double wanted, seconds;

	if (do_calls_end_them(statistics)) {
		fputs("; its windows end at calls that only the program itself may make: --probes "
		      "counts what runs rarely",
		      hp_cli_messages());
		return;
	}
	if (statistics->windows)
		price_ns =
			fmax(price_ns, (double)statistics->lost_ns / (double)statistics->windows);
	/* More windows are no help where none matched. */
	if (statistics->windows > 1 && !statistics->useful)
		return;
	if (statistics->useful >= ENOUGH_WINDOWS || !(price_ns > 0) || !statistics->target_ns ||
	    statistics->windows >= WANTED_WINDOWS)
		return;
	/* What stops that were broken off cost has to be earned, too. */
	wanted_ns =
		WANTED_WINDOWS * price_ns + (statistics->windows ? 0 : (double)statistics->lost_ns);
	wanted = ceil(100 * wanted_ns / (double)statistics->target_ns);
	if (refused)
		fprintf(hp_cli_messages(), "; %" PRIu64 "%s %s over budget", refused,
			statistics->windows ? " more" : "", refused == 1 ? "was" : "were");
	seconds = ceil(wanted_ns / shadow->percent * 100 / 1e9);
	/* It has run for that long. That windows were refused when they were due has another cause,
	 * such as processes that end before they have earned a window. */
	if (1e9 * seconds <= (double)statistics->target_ns)
		return;
	fputs(refused ? ": " : "; ", hp_cli_messages());
	if (wanted > shadow->percent && wanted <= MOST_PERCENT)
		fprintf(hp_cli_messages(), "--shadow=%.0f or ", wanted);
	fprintf(hp_cli_messages(), "%.0f s of CPU time would give %s", seconds,
		statistics->useful ? "narrower intervals" : "absolute counts");
}

/* Of a target that mostly waits, windows are a small share. */
static int decimals(double percent)
{
	return percent >= 0.995 || !(percent > 0) ? 1 : percent >= 0.0995 ? 2 : 3;
}

static void print_counted(const struct record_shadow *shadow)
{
	const struct hp_shadow_statistics *statistics = &shadow->statistics;
	double covered = percent(statistics->covered_ns, statistics->target_ns);

	if (!statistics->windows) {
		fprintf(hp_cli_messages(),
			"hpcprof: no shadow window was taken in the target's %.*f s of CPU time",
			statistics->target_ns < 100000000 ? 3 : 1,
			(double)statistics->target_ns / 1e9);
		print_shortage(shadow);
		fputs("\n", hp_cli_messages());
		return;
	}
	fprintf(hp_cli_messages(),
		"hpcprof: executions counted in %" PRIu64 " of %" PRIu64
		" shadow window%s: %.*f %% of the target's %.1f s of CPU time",
		statistics->useful, statistics->windows, plural(statistics->windows),
		decimals(covered), covered, (double)statistics->target_ns / 1e9);
	if (!statistics->useful && statistics->samples)
		fprintf(hp_cli_messages(),
			"; %.0f %% of their samples were matched, too few to count by",
			percent(statistics->matched, statistics->samples));
	print_ends(statistics);
	if (statistics->crowded)
		fprintf(hp_cli_messages(), "; %" PRIu64 " %s short, because no CPU was idle",
			statistics->crowded, statistics->crowded == 1 ? "was" : "were");
	if (statistics->late)
		fprintf(hp_cli_messages(),
			"; %" PRIu64 " %s replayed after the recording, as no CPU was idle before",
			statistics->late, statistics->late == 1 ? "was" : "were");
	print_shortage(shadow);
	fputs("\n", hp_cli_messages());
}

static void print_price(const struct record_shadow *shadow)
{
	const struct hp_shadow_statistics *statistics = &shadow->statistics;

	fprintf(hp_cli_messages(),
		"hpcprof: the shadow window%s cost the target %.2f %% of its CPU time (%.3g %% "
		"allowed); the longest stop was %.1f ms; replaying took %.1f s of %s\n",
		plural(statistics->windows), percent(statistics->lost_ns, statistics->target_ns),
		shadow->percent, (double)statistics->longest_stop_ns / 1e6,
		(double)statistics->replay_ns / 1e9,
		statistics->crowded ? "CPU time that others wanted"
		: statistics->late  ? "CPU time, most of it after the recording"
				    : "another CPU");
}

static void print_refusals(const struct hp_shadow_statistics *statistics)
{
	for (unsigned i = 0; i < HP_SHADOW_REFUSALS; i++) {
		const char *reason = statistics->reasons[i];

		if (is_worth_saying(statistics, i))
			fprintf(hp_cli_messages(),
				"hpcprof: shadow windows refused: %s (%" PRIu64 ")%s%s\n",
				hp_shadow_refusal_name((enum hp_shadow_refusal)i),
				statistics->refusals[i], *reason ? ": " : "", reason);
	}
}

static void print_trace(const struct hp_shadow_statistics *statistics)
{
	if (statistics->trace_errno)
		fprintf(hp_cli_messages(), "hpcprof: the trace could not be written: %s\n",
			strerror(statistics->trace_errno));
	else if (statistics->trace_instructions)
		fprintf(hp_cli_messages(),
			"hpcprof: the trace has %.1f million instructions, in %.1f MB\n",
			(double)statistics->trace_instructions / 1e6,
			(double)statistics->trace_bytes / 1e6);
	else
		fputs("hpcprof: the trace is empty: no shadow window was simulated; record for "
		      "longer, "
		      "or with --causes=always\n",
		      hp_cli_messages());
}

void record_shadow_print_closing(const struct record_shadow *shadow)
{
	const struct hp_shadow_statistics *statistics = &shadow->statistics;

	if (!shadow->shadow)
		return;
	print_counted(shadow);
	if (statistics->windows)
		print_price(shadow);
	if (shadow->trace_fd)
		print_trace(statistics);
	print_refusals(statistics);
}
