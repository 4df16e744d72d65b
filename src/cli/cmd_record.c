/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "arguments.h"
#include "command.h"
#include "record_shadow.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/collect/session.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	KEY_NO_CAP = 0x100,
	KEY_OVERHEAD,
	KEY_STRICT,
	KEY_DURATION,
	KEY_DB,
	KEY_LABEL,
	KEY_APPEND,
	KEY_PER_PROCESS,
	KEY_NO_REGISTERS,
	KEY_PROBES,
	KEY_FLUSH,
	KEY_COUNTERS,
	KEY_SCHEDULER,
	KEY_SLICE,
	KEY_SHADOW,
};

/* More would be no profile of the program any more. */
enum { MOST_SHADOW_PERCENT = 50, DEFAULT_PROBES_PERCENT = 1, MOST_PROBES_PERCENT = 10 };

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "What to record:", 1 },
	{ "pid", 'p', "PID,...", 0, "these processes and all their threads", 1 },
	{ "tid", 't', "TID,...", 0, "these threads only", 1 },
	{ "all-cpus", 'a', NULL, 0, "the whole system (where permitted)", 1 },
	{ "cpu", 'C', "LIST", 0, "only on these CPUs, for instance 0-3,6", 1 },
	{ NULL, 0, NULL, 0, "Events and rates:", 2 },
	{ "event", 'e', "EVENT,...", 0,
	  "what to sample; see hpcprof events. Default: cycles, or cpu-clock without a PMU", 2 },
	{ "freq", 'F', "HZ", 0, "samples a second and CPU (default 1000)", 2 },
	{ "count", 'c', "PERIOD", 0, "events between two samples, instead of -F", 2 },
	{ "no-cap", KEY_NO_CAP, NULL, 0, "allow more than 10000 samples a second and CPU", 2 },
	{ "overhead", KEY_OVERHEAD, "PERCENT", 0,
	  "lower the rate until sampling takes at most this share of the target's time", 2 },
	{ "shadow", KEY_SHADOW, "PERCENT", OPTION_ARG_OPTIONAL,
	  "count what runs, exactly, in copies of the target that replay stretches of it on "
	  "another "
	  "CPU; they may take this share of its time (default 1)",
	  2 },
	{ "strict", KEY_STRICT, NULL, 0, "fail rather than sample something else than asked for",
	  2 },
	{ "counters", KEY_COUNTERS, "N", 0,
	  "pretend that only N events of each PMU can be sampled at once; groups take turns", 2 },
	{ "scheduler", KEY_SCHEDULER, "rr|rr-random|roc|adaptive", 0,
	  "which group is sampled next, when there are more events than counters (default "
	  "rr-random)",
	  2 },
	{ "slice", KEY_SLICE, "TIME", 0,
	  "how long a group is sampled (default: as short as rotating costs allow)", 2 },
	{ "probes", KEY_PROBES, "PERCENT", OPTION_ARG_OPTIONAL,
	  "count code that seldom runs by breakpoints, in moments, for at most this share of the "
	  "target's time (default 1)",
	  2 },
	{ "no-registers", KEY_NO_REGISTERS, NULL, 0,
	  "samples without registers: these tell which way branches go, and so how often code ran",
	  2 },
	{ NULL, 0, NULL, 0, "When:", 3 },
	{ "delay", 'D', "MS", 0, "start sampling so many milliseconds after the target", 3 },
	{ "duration", KEY_DURATION, "TIME", 0,
	  "stop sampling after 10s, 5m, 500ms; a command runs on", 3 },
	{ NULL, 0, NULL, 0, "Where to:", 4 },
	{ "db", KEY_DB, "DIR", 0, "the profile database (default $HPCPROF_DB, else ./hpcprof.db)",
	  4 },
	{ "label", KEY_LABEL, "NAME", 0, "a name for the epoch", 4 },
	{ "append", KEY_APPEND, "EPOCH", 0, "add to an epoch instead of making one", 4 },
	{ "per-process", KEY_PER_PROCESS, NULL, 0,
	  "keep processes apart, for report --pid (a larger database)", 4 },
	{ "flush", KEY_FLUSH, "TIME", 0, "how often samples go to disk (default 10s)", 4 },
	{ "mmap-pages", 'm', "PAGES", 0, "ring pages a CPU, a power of two", 4 },
	{ "quiet", 'q', NULL, 0, "no banner, no closing line", 4 },
	{ 0 },
};

struct arguments {
	struct hp_session_options session;
	HP_VECTOR(const char *) events; /* each -e */
	const char *db;
	char *append;
	uint32_t counters;
	struct record_shadow shadow;
	struct hp_ids pids;
	struct hp_ids tids;
	bool strict;
	bool quiet;
};

static void parse_rate(struct argp_state *state, const char *text, double *frequency_hz)
{
	if (!hp_parse_double(text, frequency_hz) || *frequency_hz <= 0)
		argp_error(state, "-F takes samples a second, not '%s'", text);
}

static void parse_pages(struct argp_state *state, const char *text, size_t *pages)
{
	uint64_t value;

	if (!hp_parse_u64(text, &value) || !value || (value & (value - 1)) || value > 1 << 20)
		argp_error(state, "-m takes a power of two, not '%s'", text);
	else
		*pages = (size_t)value;
}

static void parse_target(struct argp_state *state, struct arguments *arguments)
{
	struct hp_session_options *session = &arguments->session;

	session->command = hp_argument_command(state, "record", "record", &arguments->pids,
					       &arguments->tids, session->system_wide);
	session->pids = arguments->pids.at;
	session->pid_count = arguments->pids.count;
	session->tids = arguments->tids.at;
	session->tid_count = arguments->tids.count;
	if (session->frequency_hz > 0 && session->period)
		argp_error(state, "-F and -c exclude each other");
	if (arguments->shadow.percent > 0 && session->system_wide)
		argp_error(state, "--shadow is for a command, -p or -t, not for the whole system");
	if (arguments->append && session->label)
		argp_error(state, "an epoch that is added to has its label: "
				  "see hpcprof epochs label");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct hp_session_options *session = &arguments->session;

	switch (key) {
	case 'p':
		hp_argument_ids(state, argument, &arguments->pids);
		return 0;
	case 't':
		hp_argument_ids(state, argument, &arguments->tids);
		return 0;
	case 'a':
		session->system_wide = true;
		return 0;
	case 'C':
		session->cpus = argument;
		return 0;
	case 'e':
		if (!hp_vector_push(&arguments->events, argument))
			argp_failure(state, HP_EXIT_RECORDER, 0, "out of memory");
		return 0;
	case 'F':
		parse_rate(state, argument, &session->frequency_hz);
		return 0;
	case 'c':
		if (!hp_parse_u64(argument, &session->period) || !session->period)
			argp_error(state, "-c takes a number of events, not '%s'", argument);
		return 0;
	case KEY_NO_CAP:
		session->no_cap = true;
		return 0;
	case KEY_OVERHEAD:
		if (!hp_parse_double(argument, &session->overhead_percent) ||
		    session->overhead_percent <= 0)
			argp_error(state, "--overhead takes a percentage, not '%s'", argument);
		return 0;
	case KEY_SHADOW:
		arguments->shadow.percent = HP_SHADOW_DEFAULT_PERCENT;
		if (argument && (!hp_parse_double(argument, &arguments->shadow.percent) ||
				 arguments->shadow.percent <= 0 ||
				 arguments->shadow.percent > MOST_SHADOW_PERCENT))
			argp_error(state, "--shadow takes a percentage up to %d, not '%s'",
				   MOST_SHADOW_PERCENT, argument);
		return 0;
	case KEY_STRICT:
		arguments->strict = true;
		return 0;
	case 'D':
		session->delay_ns = hp_argument_milliseconds(state, "-D", argument);
		return 0;
	case KEY_DURATION:
		session->duration_ns = hp_argument_time(state, "--duration", argument);
		return 0;
	case KEY_DB:
		arguments->db = argument;
		return 0;
	case KEY_LABEL:
		session->label = argument;
		return 0;
	case KEY_APPEND:
		arguments->append = argument;
		return 0;
	case KEY_PER_PROCESS:
		session->per_process = true;
		return 0;
	case KEY_PROBES:
		session->probes_percent = DEFAULT_PROBES_PERCENT;
		if (argument &&
		    (!hp_parse_double(argument, &session->probes_percent) ||
		     session->probes_percent <= 0 || session->probes_percent > MOST_PROBES_PERCENT))
			argp_error(state, "--probes takes a percentage up to %d, not '%s'",
				   MOST_PROBES_PERCENT, argument);
		return 0;
	case KEY_NO_REGISTERS:
		session->no_registers = true;
		return 0;
	case KEY_FLUSH:
		session->flush_ns = hp_argument_time(state, "--flush", argument);
		return 0;
	case KEY_COUNTERS:
		hp_argument_counters(state, argument, &arguments->counters);
		return 0;
	case KEY_SCHEDULER:
		if (!hp_mux_policy_parse(argument, &session->policy))
			argp_error(state, "--scheduler is rr, rr-random, roc or adaptive, not '%s'",
				   argument);
		return 0;
	case KEY_SLICE:
		session->slice_ns = hp_argument_time(state, "--slice", argument);
		return 0;
	case 'm':
		parse_pages(state, argument, &session->ring_pages);
		return 0;
	case 'q':
		arguments->quiet = true;
		return 0;
	case ARGP_KEY_ARGS:
	case ARGP_KEY_NO_ARGS:
		parse_target(state, arguments);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "-- CMD [ARG...]\n-p PID\n-a",
	.doc = "Sample a command, processes or the whole system into a new epoch of the profile "
	       "database; then read it with hpcprof report."
	       "\vThe command's exit status is passed on (128+N for signal N, 127 not found, 126 "
	       "not "
	       "executable); hpcprof's own failures are 125. Ctrl-C ends the recording cleanly.",
};

/* --- what people see ----------------------------------------------------------------------------
 */

static void say(const char *message, void *context)
{
	(void)context;
	fprintf(stderr, "hpcprof: %s\n", message);
}

static void print_banner(const struct hp_session *session, const struct hp_machine *machine,
			 const struct hp_db *db)
{
	const struct hp_epoch_meta *meta = hp_session_meta(session);

	for (size_t i = 0; i < meta->event_count; i++) {
		const struct hp_event_totals *event = &meta->events[i];

		if (event->info.instead_of)
			fprintf(stderr, "hpcprof: %s instead of %s: %s; see hpcprof doctor\n",
				event->info.name, event->info.instead_of, event->info.reason);
	}
	fputs("hpcprof: sampling", stderr);
	for (size_t i = 0; i < meta->event_count; i++) {
		const struct hp_event_totals *event = &meta->events[i];

		fprintf(stderr, "%s %s", i ? "," : "", event->info.name);
		if (event->frequency_hz > 0)
			fprintf(stderr, " at %.0f Hz a CPU", event->frequency_hz);
	}
	fprintf(stderr, "%s into %s/%s\n", machine->user_only ? " (user mode only)" : "",
		hp_db_path(db), hp_session_stamp(session));
}

static void print_bytes(uint64_t bytes)
{
	if (bytes < 10240)
		fprintf(stderr, "%" PRIu64 " B", bytes);
	else if (bytes < 10 << 20)
		fprintf(stderr, "%.1f KiB", (double)bytes / 1024);
	else
		fprintf(stderr, "%.1f MiB", (double)bytes / (1 << 20));
}

/* "hpcprof: 4012 samples (0 lost, 3 unattributed) in 7 images, epoch …, 12.1 KiB, …" */
static void print_closing(const struct hp_session *session, const struct hp_session_result *result)
{
	const struct hp_epoch_meta *meta = hp_session_meta(session);
	uint64_t samples = 0;
	uint64_t lost = 0;
	uint64_t unattributed = 0;
	uint64_t throttled = 0;

	for (size_t i = 0; i < meta->event_count; i++) {
		samples += meta->events[i].samples;
		lost += meta->events[i].lost;
		unattributed += meta->events[i].unattributed;
		throttled += meta->events[i].throttled;
	}
	fprintf(stderr,
		"hpcprof: %" PRIu64 " samples (%" PRIu64 " lost, %" PRIu64 " unattributed%s) in "
		"%zu images, epoch %s, ",
		samples, lost, unattributed, throttled ? ", throttled" : "", result->images,
		hp_session_stamp(session));
	print_bytes(result->database_bytes);
	fputs("; overhead: ", stderr);
	if (result->target_cost_percent >= 0)
		fprintf(stderr, "target %.2f %% (%.1f us a sample), ", result->target_cost_percent,
			(double)meta->sample_cost_ns / 1000);
	fprintf(stderr, "hpcprof %.0f ms of CPU (%.1f %%)\n", (double)meta->own_cpu_ns / 1e6,
		result->own_cpu_percent);
	if (result->probe_moments)
		fprintf(stderr,
			"hpcprof: probes: %" PRIu64 " hits counted in %" PRIu64
			" moments, %.2f %% of the target's time\n",
			result->probe_hits, result->probe_moments, result->probe_cost_percent);
	if (!result->probe_moments && result->probe_refusal)
		fprintf(stderr, "hpcprof: no probes: %s\n", result->probe_refusal);
	if (!samples)
		fputs("hpcprof: no samples: the target used too little CPU time in this mode; try "
		      "a "
		      "longer run or a higher -F\n",
		      stderr);
}

/* --- the steps ----------------------------------------------------------------------------------
 */

static struct hp_error *parse_events(const struct arguments *arguments,
				     const struct hp_machine *machine, struct hp_event_list *events)
{
	struct hp_error *error = NULL;

	if (!arguments->events.count)
		return hp_event_default(machine, events);
	for (size_t i = 0; !error && i < arguments->events.count; i++)
		error = hp_event_parse(arguments->events.at[i], machine, events);
	return error;
}

/* Profiles are kept by event name, and --strict takes nothing else than what was asked for. */
static struct hp_error *check_event(const struct hp_event_list *events, size_t index, bool strict)
{
	const struct hp_event *event = &events->events[index];

	if (strict && event->instead_of)
		return hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED,
						       "cannot sample %s: %s", event->instead_of,
						       event->reason),
				       "%s", event->advice ? event->advice : "drop --strict");
	for (size_t i = 0; i < index; i++) {
		if (strcmp(events->events[i].name, event->name) == 0)
			return hp_error_create(HP_ERROR_USAGE, "event %s is named twice",
					       event->name);
	}
	return NULL;
}

static struct hp_error *find_events(const struct arguments *arguments,
				    const struct hp_machine *machine, struct hp_event_list *events)
{
	struct hp_error *error = parse_events(arguments, machine, events);

	for (size_t i = 0; !error && i < events->count; i++)
		error = check_event(events, i, arguments->strict);
	return error;
}

/* What of a set cannot be had is said, and the rest sampled. */
static void drop_absent(struct hp_event_list *events, bool quiet)
{
	struct hp_event_list absent = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < events->count; i++) {
		struct hp_event *event = &events->events[i];

		if (!event->set || !event->absent) {
			events->events[kept++] = *event;
			continue;
		}
		if (!quiet)
			fprintf(stderr, "hpcprof: not sampled: %s: %s\n", event->name,
				event->absent);
		absent = (struct hp_event_list){ malloc(sizeof(*event)), 1 };
		if (absent.events)
			absent.events[0] = *event;
		else
			absent.count = 0;
		hp_event_list_clear(&absent);
	}
	events->count = kept;
}

/* More events than counters take turns. What cannot be opened is found out again, and said, when it
 * is to be sampled. */
static struct hp_error *find_turns(const struct arguments *arguments,
				   const struct hp_machine *machine, struct hp_event_list *events,
				   struct hp_counter_wheels *wheels)
{
	struct hp_grouping_options options = {
		.counters = arguments->counters,
		.system_wide = arguments->session.system_wide,
	};
	bool whole = true;

	if (events->count < 2)
		return NULL;
	hp_error_destroy(hp_counter_wheels_create(events, machine, &options, wheels));
	for (size_t i = 0; i < events->count; i++)
		whole &= !events->events[i].absent || events->events[i].set;
	if (!whole)
		hp_counter_wheels_clear(wheels);
	drop_absent(events, arguments->quiet);
	if (!events->count)
		return hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED,
						       "none of these events can be sampled here"),
				       "run: hpcprof doctor");
	/* Indices have moved: divide what is left. */
	hp_counter_wheels_clear(wheels);
	if (whole && events->count > 1)
		return hp_counter_wheels_create(events, machine, &options, wheels);
	return NULL;
}

/* Only where groups take turns. */
static void print_turns(const struct hp_session_options *options)
{
	for (size_t i = 0; i < options->wheels->count; i++) {
		const struct hp_counter_wheel *wheel = &options->wheels->at[i];

		if (wheel->group_count > 1)
			fprintf(stderr, "hpcprof: %s: %u groups of events take turns (%s)\n",
				wheel->pmu, wheel->group_count,
				hp_mux_policy_name(options->policy));
	}
}

static struct hp_error *open_database(struct arguments *arguments, char ***stamps)
{
	struct hp_session_options *session = &arguments->session;
	struct hp_error *error = hp_db_open(arguments->db, !arguments->append, &session->db);
	size_t count;

	if (error || !arguments->append)
		return error;
	error = hp_db_resolve(session->db, &arguments->append, 1, stamps, &count);
	if (error)
		return error;
	if (count != 1) {
		hp_db_free_stamps(*stamps, count);
		*stamps = NULL;
		return hp_error_create(HP_ERROR_USAGE, "--append takes one epoch, '%s' is %zu",
				       arguments->append, count);
	}
	session->append = (*stamps)[0];
	return NULL;
}

/* Without them there is still everything else. */
static struct hp_error *make_shadows(struct arguments *arguments, struct hp_session *session)
{
	struct hp_error *error;

	arguments->shadow.quiet = arguments->quiet;
	error = record_shadow_attach(&arguments->shadow, session, &arguments->session);
	if (!error || arguments->strict)
		return error;
	if (!arguments->quiet)
		fprintf(stderr, "hpcprof: %s%s%s\n", error->message, error->advice ? "; " : "",
			error->advice ? error->advice : "");
	hp_error_destroy(error);
	return NULL;
}

static struct hp_error *record(struct arguments *arguments, int *status)
{
	struct hp_session_options *options = &arguments->session;
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine = NULL;
	_cleanup_(hp_session_destroy_scope) struct hp_session *session = NULL;
	struct hp_session_result result = { .exit_status = HP_EXIT_RECORDER };
	struct hp_event_list events = { 0 };
	struct hp_counter_wheels wheels = { 0 };
	struct hp_error *error = hp_machine_create(&machine);
	char **stamps = NULL;

	if (!error)
		error = find_events(arguments, machine, &events);
	if (!error)
		error = find_turns(arguments, machine, &events, &wheels);
	if (!error)
		error = open_database(arguments, &stamps);
	options->events = &events;
	options->wheels = &wheels;
	options->notify = arguments->quiet ? NULL : say;
	if (!error)
		error = hp_session_create(options, machine, &session);
	if (!error)
		error = make_shadows(arguments, session);
	if (!error && !arguments->quiet) {
		print_turns(options);
		print_banner(session, machine, options->db);
		record_shadow_print_banner(&arguments->shadow);
	}
	if (!error)
		error = hp_session_run(session, &result);
	if (!error && !arguments->quiet) {
		print_closing(session, &result);
		record_shadow_print_closing(&arguments->shadow, session);
	}
	record_shadow_clear(&arguments->shadow);
	*status = !error && !result.had_command ? HP_EXIT_OK : result.exit_status;
	if (session)
		hp_session_destroy(hp_steal(session));
	/* Not beyond this function: they are its own. */
	options->events = NULL;
	options->wheels = NULL;
	hp_counter_wheels_clear(&wheels);
	hp_event_list_clear(&events);
	hp_db_free_stamps(stamps, stamps ? 1 : 0);
	return error;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .session.policy = HP_MUX_RR_RANDOM };
	struct hp_error *error;
	int status;

	argp_err_exit_status = HP_EXIT_RECORDER;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	error = record(&arguments, &status);
	hp_db_close(arguments.session.db);
	free(arguments.events.at);
	free(arguments.pids.at);
	free(arguments.tids.at);
	if (error)
		hp_cli_fail(error);
	return status;
}

const struct hp_command hp_command_record = {
	.name = "record",
	.summary = "sample a command, processes or the system into the profile database",
	.argp = &argp,
	.run = run,
};
