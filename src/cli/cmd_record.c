/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "arguments.h"
#include "command.h"
#include "output_file.h"
#include "recording.h"

#include <hpcprof/base/broken_pipe.h>

enum {
	KEY_DB = 0x100,
	KEY_LABEL,
	KEY_APPEND,
	KEY_PER_PROCESS,
	KEY_PER_THREAD,
	KEY_PER_CPU,
	KEY_NO_CODE,
	KEY_TRACE,
	KEY_STALLS,
};

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "What to record:", 1 },
	{ "pid", 'p', "PID,...", 0, "Record these processes with all their threads", 1 },
	{ "tid", 't', "TID,...", 0, "Record only these threads", 1 },
	{ "all-cpus", 'a', NULL, 0, "Record the whole system, if this user may", 1 },
	{ "cpu", 'C', "LIST", 0, "Record only on these CPUs, for instance 0-3,6", 1 },
	{ "stalls", KEY_STALLS, NULL, 0,
	  "Also sample the events of this core that tell what it waits for, in turns, for report "
	  "--stack; needs a hardware PMU",
	  2 },
	{ NULL, 0, NULL, 0, "When:", 3 },
	{ "duration", HP_KEY_DURATION, "TIME", 0,
	  "Stop sampling after TIME, for instance 10s, 5m or 500ms; a command continues to run",
	  3 },
	{ NULL, 0, NULL, 0, "Where to:", 4 },
	HP_DB_OPTION(KEY_DB, 4),
	{ "label", KEY_LABEL, "NAME", 0, "Give the epoch this label", 4 },
	{ "append", KEY_APPEND, "EPOCH", 0, "Add to this epoch instead of making a new one", 4 },
	{ "per-process", KEY_PER_PROCESS, NULL, 0,
	  "Keep the samples of each process separately, for report --pid; the database becomes "
	  "larger",
	  4 },
	{ "per-thread", KEY_PER_THREAD, NULL, 0,
	  "Keep the samples of each thread separately too, for report --by tid", 4 },
	{ "per-cpu", KEY_PER_CPU, NULL, 0,
	  "Keep the samples of each CPU separately, for report --by cpu", 4 },
	{ "no-code", KEY_NO_CODE, NULL, 0,
	  "Do not store the code of procedures that have samples; the database becomes smaller",
	  4 },
	{ "trace", KEY_TRACE, "FILE", 0,
	  "Also write the paths of simulated shadow windows to FILE, for hpcprof model; needs "
	  "--shadow",
	  4 },
	{ "quiet", 'q', NULL, 0, "Print neither the first line nor the summary at the end", 4 },
	{ 0 },
};

static const struct argp_child children[] = { { &recording_argp, 0, NULL, 0 }, { 0 } };

struct arguments {
	struct recording recording;
	const char *db;
	char *append;
	struct hp_targets targets;
	const char *trace;
	struct output_file trace_file;
};

static void parse_target(struct argp_state *state, struct arguments *arguments)
{
	struct hp_session_options *session = &arguments->recording.session;
	const struct hp_targets *targets = &arguments->targets;

	session->command = hp_argument_command(state, "record", "record", targets);
	session->pids = targets->pids.at;
	session->pid_count = targets->pids.count;
	session->tids = targets->tids.at;
	session->tid_count = targets->tids.count;
	session->system_wide = targets->system_wide;
	session->cpus = targets->cpus;
	session->duration_ns = targets->duration_ns;
	if (arguments->recording.shadow.percent > 0 && session->system_wide)
		argp_error(state, "--shadow is for a command, -p or -t, not for the whole system");
	if (arguments->trace && (!(arguments->recording.shadow.percent > 0) ||
				 arguments->recording.shadow.causes == RECORD_CAUSES_OFF))
		argp_error(state,
			   "--trace needs simulated shadow windows: add --shadow, and leave out "
			   "--causes=off");
	if (arguments->recording.work.kind != WORK_NOT_ASKED &&
	    !hp_session_records_command(session))
		argp_error(state, "--work needs a command: it is the work of one run");
	if (arguments->append && session->label)
		argp_error(state, "--append keeps the label of the epoch: use hpcprof epochs label "
				  "to change it");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct hp_session_options *session = &arguments->recording.session;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->recording;
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
	case KEY_PER_THREAD:
		session->per_thread = true;
		return 0;
	case KEY_PER_CPU:
		session->per_cpu = true;
		return 0;
	case KEY_NO_CODE:
		session->no_code = true;
		return 0;
	case KEY_TRACE:
		arguments->trace = argument;
		return 0;
	case KEY_STALLS:
		arguments->recording.wants_stalls = true;
		return 0;
	case 'q':
		arguments->recording.is_quiet = true;
		return 0;
	case ARGP_KEY_ARGS:
	case ARGP_KEY_NO_ARGS:
		parse_target(state, arguments);
		return 0;
	default:
		return hp_argument_target(key, argument, state, &arguments->targets);
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.children = children,
	.args_doc = "-- CMD [ARG...]\n-p PID [-- CMD [ARG...]]\n-a [-- CMD [ARG...]]",
	.doc = "Sample a command, processes or the whole system. Each recording becomes a new "
	       "epoch of the profile database; hpcprof report shows it.\vThe exit status is that "
	       "of the command (128+N for signal N, 127 not found, 126 not executable). It is 125 "
	       "if hpcprof itself fails, and 4 if --stalls finds no counters. Ctrl-C ends the "
	       "recording; all samples are kept.",
};

static struct hp_error *open_database(struct arguments *arguments, char ***stamps)
{
	struct hp_session_options *session = &arguments->recording.session;
	struct hp_error *error = hp_db_open(arguments->db, !arguments->append, &session->db);
	size_t count;

	if (error || !arguments->append)
		return error;
	hp_db_on_warning(session->db, hp_cli_tell, NULL);
	error = hp_db_resolve(session->db, &arguments->append, 1, stamps, &count);
	if (error)
		return error;
	if (count != 1) {
		hp_db_free_stamps(*stamps, count);
		*stamps = NULL;
		return hp_error_create(HP_ERROR_USAGE,
				       "--append takes one epoch, but '%s' means %zu",
				       arguments->append, count);
	}
	session->append = (*stamps)[0];
	return NULL;
}

/* The command has ended and the epoch is stored; only the amount of work is missing. */
static void warn_of_work(const struct work *work)
{
	struct hp_error *error = work_missing(work);

	hp_cli_warn(error->message, error->advice);
	hp_error_destroy(error);
}

static struct hp_error *begin_trace(struct arguments *arguments)
{
	struct output_file *file = &arguments->trace_file;
	struct hp_error *error = output_file_open("--trace", arguments->trace, file);

	return error ? error : output_file_begin(file, &arguments->recording.shadow.trace_fd);
}

static struct hp_error *record(struct arguments *arguments, int *status)
{
	struct recording_result result = { .exit_status = HP_EXIT_RECORDER };
	struct hp_error *error = recording_prepare(&arguments->recording);
	char **stamps = NULL;

	if (!error)
		error = open_database(arguments, &stamps);
	if (!error && arguments->trace)
		error = begin_trace(arguments);
	if (!error)
		error = recording_run(&arguments->recording, &result);
	if (!error && arguments->trace)
		error = output_file_commit(&arguments->trace_file);
	if (!error && result.has_run && !(result.run.work > 0) &&
	    arguments->recording.work.kind != WORK_NOT_ASKED)
		warn_of_work(&arguments->recording.work);
	*status = result.exit_status;
	free(result.stamp);
	hp_db_free_stamps(stamps, stamps ? 1 : 0);
	return error;
}

/* A request for counters on a machine without any is an impossible request, not a failure. */
static bool lacks_counters(const struct recording *recording)
{
	return recording->wants_stalls && recording->machine && !recording->machine->has_cycles;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .recording.session.policy = HP_MUX_RR_RANDOM };
	struct hp_error *error;
	bool is_refused;
	int status;

	hp_broken_pipe_ignore();
	arguments.recording.output = stdout;
	argp_err_exit_status = HP_EXIT_RECORDER;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	error = record(&arguments, &status);
	is_refused = lacks_counters(&arguments.recording);
	recording_clear(&arguments.recording);
	output_file_close(&arguments.trace_file);
	hp_db_close(arguments.recording.session.db);
	free(arguments.targets.pids.at);
	free(arguments.targets.tids.at);
	if (error) {
		int refusal = hp_cli_fail(error);

		status = is_refused ? refusal : status;
	}
	return status;
}

const struct hp_command hp_command_record = {
	.name = "record",
	.summary = "Sample a command, processes or the whole system into the database",
	.argp = &argp,
	.run = run,
	.runs_command = true,
	.usage_status = HP_EXIT_RECORDER,
};
