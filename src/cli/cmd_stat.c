/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof stat: any number of events from few counters, with error bars. */
#include "command.h"
#include "stat.h"
#include "stat_history.h"
#include "stat_options.h"
#include "stat_replay.h"
#include "stat_stalls.h"
#include "tuning.h"

#include <hpcprof/base/broken_pipe.h>
#include <hpcprof/base/text.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/pmu/breakpoints.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- output ----------------------------------------------------------------------------------- */

/* Everything that a report needs while counting runs. */
struct printing {
	const struct stat_arguments *arguments;
	struct stat_subject subject;
	struct stat_replay replayed;
	struct stat_stalls stalls;
	struct stat_history history; /* of stacks, with intervals */
	FILE *stream;
	struct stat_plot *plot; /* NULL without --plot */
	FILE *plot_stream;
	uint32_t run;
	double *counts; /* [run][event, then STAT_TIMES]: for the spread; NaN: not counted */
	struct hp_error *error;
	bool print_intervals;
};

static struct hp_error *open_output(const struct stat_arguments *arguments, FILE **stream)
{
	int fd;

	*stream = stderr;
	if (arguments->output && strcmp(arguments->output, "-") == 0) {
		*stream = stdout;
		return NULL;
	}
	if (arguments->output) {
		fd = open(arguments->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd < 0)
			return hp_error_create_errno(errno, "opening %s", arguments->output);
	} else if (arguments->output_fd >= 0) {
		/* The command does not inherit this descriptor. */
		fcntl(arguments->output_fd, F_SETFD, FD_CLOEXEC);
		fd = arguments->output_fd;
	} else {
		return NULL;
	}
	*stream = fdopen(fd, "w");
	return *stream ? NULL : hp_error_create_errno(errno, "writing to descriptor %d", fd);
}

static struct hp_error *close_output(FILE *stream)
{
	bool failed = ferror(stream) != 0;

	/* main() closes standard output. */
	if (stream != stdout && stream != stderr && fclose(stream) != 0)
		return hp_error_advise(hp_error_create_errno(errno, "writing the counts"),
				       "-o FILE writes them to another file");
	return failed ? hp_error_create(HP_ERROR_SYSTEM, "writing the counts failed") : NULL;
}

/* Opens the drawing before anything runs, so that a missing directory is reported before the
 * command has run for hours. */
static struct hp_error *begin_plot(struct printing *printing, struct hp_counting_options *options)
{
	const char *path = printing->arguments->plot;

	if (!path)
		return NULL;
	if (!options->interval_ns)
		options->interval_ns = PLOT_INTERVAL_NS;
	if (!printing->subject.stalls)
		printing->plot = stat_plot_create(&printing->subject);
	if (!printing->subject.stalls && !printing->plot)
		return hp_error_create_no_memory();
	printing->plot_stream = fopen(path, "we");
	return printing->plot_stream ? NULL : hp_error_create_errno(errno, "opening %s", path);
}

static struct hp_error *write_plot(struct printing *printing)
{
	FILE *stream = printing->plot_stream;
	bool failed;

	if (!stream)
		return NULL;
	printing->plot_stream = NULL;
	if (printing->plot)
		stat_plot_write(stream, printing->plot);
	else
		stat_history_plot(stream, &printing->subject, &printing->history);
	failed = ferror(stream) != 0;
	return fclose(stream) != 0 || failed ? hp_error_create(HP_ERROR_SYSTEM, "writing %s failed",
							       printing->arguments->plot)
					     : NULL;
}

static void keep_counts(struct printing *printing, const struct hp_counting_report *report)
{
	size_t events = printing->subject.events->count;
	double *kept;

	if (!printing->counts)
		return;
	kept = printing->counts + (printing->run - 1) * (events + STAT_TIMES);
	for (size_t i = 0; i < events; i++) {
		const struct hp_mux_estimate *event = &report->estimates->events[i];
		bool known = event->verdict == HP_MUX_EXACT || event->verdict == HP_MUX_ESTIMATED;

		kept[i] = known ? event->count : NAN;
	}
	kept += events;
	kept[STAT_ELAPSED] = (double)report->whole->elapsed_ns / 1e9;
	kept[STAT_USER] = printing->subject.command ? (double)report->whole->user_ns / 1e9 : NAN;
	kept[STAT_SYSTEM] = printing->subject.command ? (double)report->whole->system_ns / 1e9
						      : NAN;
}

static bool write_view(struct printing *printing, const struct stat_view *view)
{
	switch (printing->arguments->format) {
	case STAT_JSON:
		return stat_json_view(printing->stream, view);
	case STAT_CSV:
		stat_csv_view(printing->stream, view);
		return true;
	case STAT_TEXT:
	default:
		stat_text_view(printing->stream, view);
		return true;
	}
}

/* Finds the stack of an interval or of the run, and at the end of the run its phases. */
static struct hp_error *find_stack(struct printing *printing,
				   const struct hp_counting_report *report, struct hp_stack *stack)
{
	struct hp_error *error =
		stat_stalls_stack(printing->subject.stalls, report->estimates, stack);

	if (!error && report->whole)
		return stat_history_end(&printing->history);
	if (!error && !stat_history_add(&printing->history, report, stack))
		error = hp_error_create_no_memory();
	return error;
}

static void print_report(const struct hp_counting_report *report, void *context)
{
	struct printing *printing = context;
	_cleanup_(hp_figures_destroy_scope) struct hp_figures *figures = NULL;
	struct stat_view view = {
		.subject = &printing->subject,
		.report = report,
		.run = printing->run,
	};
	struct hp_stack stack;
	bool fine = true;

	if (printing->plot && !report->whole)
		fine = stat_plot_add(printing->plot, report);
	if (report->whole)
		keep_counts(printing, report);
	if (!printing->error && printing->subject.stalls) {
		printing->error = find_stack(printing, report, &stack);
		view.stack = &stack;
		view.history = &printing->history;
	}
	if (!printing->error && fine && (report->whole || printing->print_intervals)) {
		printing->error = hp_figures_create(printing->subject.events,
						    printing->subject.rotation_sets,
						    report->estimates, &figures);
		view.figures = figures;
		if (!printing->error)
			fine = write_view(printing, &view);
	}
	if (!fine && !printing->error)
		printing->error = hp_error_create(HP_ERROR_SYSTEM, "writing the counts failed");
}

static void say(const char *message, void *context)
{
	const struct printing *printing = context;

	if (!printing->arguments->quiet)
		fprintf(stderr, "hpcprof: %s\n", message);
}

static void say_lines(const struct printing *printing, const char *lines)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");
		char *line = strndup(lines, length);

		say(line ? line : "out of memory", (void *)(uintptr_t)printing);
		free(line);
		lines += length + (lines[length] == '\n');
	}
}

/* --- several runs ----------------------------------------------------------------------------- */

static struct stat_spread spread_of(const double *counts, uint32_t runs, size_t each, size_t event)
{
	struct stat_spread spread = { .deviation = NAN, .low = NAN, .high = NAN };
	double squares = 0;
	double half;

	for (uint32_t i = 0; i < runs; i++) {
		double count = counts[i * each + event];

		if (isnan(count))
			continue;
		spread.runs++;
		spread.mean += count;
	}
	if (!spread.runs)
		return spread;
	spread.mean /= spread.runs;
	for (uint32_t i = 0; i < runs; i++) {
		double difference = counts[i * each + event] - spread.mean;

		squares += isnan(difference) ? 0 : difference * difference;
	}
	if (spread.runs < 2)
		return spread;
	spread.deviation = sqrt(squares / (spread.runs - 1));
	half = hp_mux_quantile(spread.runs - 1) * spread.deviation / sqrt(spread.runs);
	spread.low = fmax(spread.mean - half, 0);
	spread.high = spread.mean + half;
	return spread;
}

static struct hp_error *print_spread(struct printing *printing)
{
	size_t each = printing->subject.events->count + STAT_TIMES;
	_cleanup_free_ struct stat_spread *spreads = calloc(each, sizeof(*spreads));

	if (!spreads)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < each; i++)
		spreads[i] = spread_of(printing->counts, printing->run, each, i);
	printing->subject.runs = printing->run;
	if (printing->arguments->format == STAT_JSON)
		return stat_json_spread(printing->stream, &printing->subject, spreads)
			       ? NULL
			       : hp_error_create(HP_ERROR_SYSTEM, "writing the counts failed");
	if (printing->arguments->format == STAT_TEXT)
		stat_text_spread(printing->stream, &printing->subject, spreads);
	return NULL;
}

/* --- the steps -------------------------------------------------------------------------------- */

static struct hp_error *parse_events(const struct stat_arguments *arguments,
				     const struct hp_machine *machine, struct hp_event_list *events)
{
	struct hp_error *error = NULL;

	if (!arguments->events.count)
		return hp_event_parse("@default", machine, events);
	for (size_t i = 0; !error && i < arguments->events.count; i++)
		error = hp_event_parse(arguments->events.at[i], machine, events);
	for (size_t i = 0; !error && i < events->count; i++)
		for (size_t j = 0; !error && j < i; j++)
			if (strcmp(events->events[i].name, events->events[j].name) == 0)
				error = hp_error_create(HP_ERROR_USAGE, "event %s is named twice",
							events->events[i].name);
	return error ? error : hp_breakpoints_check(events);
}

static struct hp_error *check_strictly(const struct hp_event_list *events)
{
	for (size_t i = 0; i < events->count; i++)
		if (events->events[i].absent)
			return hp_error_advise(
				hp_error_create(HP_ERROR_NOT_PERMITTED, "cannot count %s: %s",
						events->events[i].name, events->events[i].absent),
				"run: hpcprof doctor; or leave out --strict");
	return NULL;
}

/* Checks that slices of instructions can be made: an event must count instructions and
 * interrupt. */
static struct hp_error *check_slices(const struct stat_arguments *arguments,
				     const struct hp_rotation_sets *rotation_sets)
{
	const char *unit = hp_unit_name(arguments->slice_unit);

	if (!arguments->counting.slice_units)
		return NULL;
	for (size_t i = 0; i < rotation_sets->count; i++)
		if (rotation_sets->at[i].has_reference &&
		    rotation_sets->at[i].reference.unit == arguments->slice_unit)
			return NULL;
	return hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED,
					       "slices cannot be measured in %s: none of the PMUs "
					       "of these events counts them here",
					       unit),
			       "use --slice=4ms; hpcprof doctor says why there is no PMU");
}

static struct hp_error *find_events(struct printing *printing, const struct hp_machine *machine,
				    struct hp_event_list *events)
{
	const struct stat_arguments *arguments = printing->arguments;
	struct stat_stalls *stalls = arguments->stalls ? &printing->stalls : NULL;
	struct hp_error *error = NULL;

	printing->stalls.accounting = arguments->accounting;
	if (arguments->replay)
		return stat_replay_events(&printing->replayed, arguments->replay, stalls, events);
	if (stalls)
		error = stat_stalls_events(stalls, machine, arguments->stalls_mode, events);
	if (!error && (!stalls || arguments->events.count))
		error = parse_events(arguments, machine, events);
	return error;
}

static struct hp_error *find_rotation_sets(struct printing *printing,
					   const struct hp_machine *machine,
					   struct hp_event_list *events,
					   struct hp_rotation_sets *rotation_sets)
{
	const struct stat_arguments *arguments = printing->arguments;
	struct hp_error *error = find_events(printing, machine, events);

	if (!error && printing->replayed.replay)
		error = hp_replay_group(printing->replayed.replay, printing->replayed.names, events,
					machine, &arguments->grouping, rotation_sets);
	else if (!error)
		error = hp_rotation_sets_create(events, machine, &arguments->grouping,
						rotation_sets);
	if (!error && arguments->strict)
		error = check_strictly(events);
	return error ? error : check_slices(arguments, rotation_sets);
}

static char *name_others(const struct hp_counting_options *counting)
{
	size_t count = counting->pid_count + counting->tid_count;
	char *text = NULL;
	int length;

	if (counting->system_wide)
		length = asprintf(&text, "the system%s%s", counting->cpus ? ", CPUs " : "",
				  counting->cpus ? counting->cpus : "");
	else if (count > 1)
		length = asprintf(&text, "%zu processes and threads", count);
	else
		length = asprintf(
			&text, "%s %d", counting->pid_count ? "process" : "thread",
			(int)(counting->pid_count ? counting->pids[0] : counting->tids[0]));
	return length < 0 ? NULL : text;
}

/* Returns a description of the target; NULL if a command is counted. */
static char *describe_target(const struct hp_counting_options *counting)
{
	_cleanup_free_ char *others = NULL;
	_cleanup_free_ char *words = NULL;
	char *text = NULL;

	if (hp_counting_counts_command(counting))
		return NULL;
	others = name_others(counting);
	if (!counting->command)
		return hp_steal(others);
	words = hp_text_join(counting->command, " ");
	if (!others || !words || asprintf(&text, "%s, while %s ran", others, words) < 0)
		return NULL;
	return text;
}

static struct hp_error *run_once(struct printing *printing, const struct hp_machine *machine,
				 const struct hp_counting_options *options, int *status)
{
	struct hp_counting_result result = { .exit_status = HP_EXIT_RECORDER };
	struct hp_counting *counting = NULL;
	struct hp_error *error;

	if (printing->replayed.replay) {
		*status = HP_EXIT_OK;
		error = hp_replay_run(printing->replayed.replay, printing->replayed.names, options);
		return error ? error : hp_steal(printing->error);
	}
	error = hp_counting_create(options, machine, &counting);

	if (error) {
		/* Nothing has run: the exit status is that of the error's class. */
		*status = 0;
		return error;
	}
	*status = HP_EXIT_RECORDER;
	error = hp_counting_run(counting, &result);
	*status = !error && !result.had_command ? HP_EXIT_OK : result.exit_status;
	hp_counting_destroy(counting);
	if (!error)
		error = hp_steal(printing->error);
	else
		hp_error_destroy(hp_steal(printing->error));
	return error;
}

static struct hp_error *run_all(struct printing *printing, const struct hp_machine *machine,
				struct hp_counting_options *options, int *status)
{
	const struct stat_arguments *arguments = printing->arguments;
	size_t each = printing->subject.events->count + STAT_TIMES;
	struct hp_error *error = NULL;

	if (arguments->runs > 1) {
		printing->counts = calloc(arguments->runs * each, sizeof(*printing->counts));
		if (!printing->counts)
			return hp_error_create_no_memory();
	}
	if (arguments->format == STAT_CSV)
		stat_csv_header(printing->stream, &printing->subject);
	for (printing->run = 1; !error; printing->run++) {
		error = run_once(printing, machine, options, status);
		/* A signal ended the run: no further run. */
		if (printing->run == arguments->runs || *status >= 128)
			break;
		options->seed++;
	}
	if (!error && printing->counts)
		error = print_spread(printing);
	if (!error)
		error = write_plot(printing);
	return error;
}

static bool are_user_only(const struct hp_event_list *events)
{
	for (size_t i = 0; i < events->count; i++)
		if (!events->events[i].absent && !events->events[i].exclude_kernel)
			return false;
	return events->count > 0;
}

static struct hp_error *count(struct stat_arguments *arguments, int *status)
{
	struct hp_counting_options *options = &arguments->counting;
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine = NULL;
	struct hp_event_list events = { 0 };
	struct hp_rotation_sets rotation_sets = { 0 };
	struct printing printing = { .arguments = arguments, .stream = stderr };
	_cleanup_free_ char *target = arguments->replay ? strdup(arguments->replay)
							: describe_target(options);
	struct hp_error *error = hp_machine_create(&machine);

	if (!error)
		error = find_rotation_sets(&printing, machine, &events, &rotation_sets);
	printing.subject = (struct stat_subject){
		.events = &events,
		.rotation_sets = &rotation_sets,
		.command = hp_counting_counts_command(options) ? options->command : NULL,
		.target = target,
		.user_only = are_user_only(&events),
		.interval_ns = options->interval_ns,
		.runs = arguments->runs,
		.scheduler = hp_mux_policy_name(options->policy),
		.estimator = hp_mux_method_name(options->method),
		.stalls = arguments->stalls ? &printing.stalls : NULL,
		.is_replayed = arguments->replay != NULL,
	};
	printing.print_intervals = options->interval_ns > 0;
	if (!error)
		error = begin_plot(&printing, options);
	if (!error)
		error = open_output(arguments, &printing.stream);
	if (!error && rotation_sets.notice)
		say_lines(&printing, rotation_sets.notice);
	*status = 0;
	options->events = &events;
	options->rotation_sets = &rotation_sets;
	options->report = print_report;
	options->notify = say;
	options->context = &printing;
	if (!error)
		error = run_all(&printing, machine, options, status);
	if (printing.stream && !error)
		error = close_output(printing.stream);
	if (printing.plot_stream)
		fclose(printing.plot_stream);
	stat_plot_destroy(printing.plot);
	stat_replay_clear(&printing.replayed);
	stat_stalls_clear(&printing.stalls);
	stat_history_clear(&printing.history);
	free(printing.counts);
	hp_rotation_sets_clear(&rotation_sets);
	hp_event_list_clear(&events);
	return error;
}

static int run(int argc, char **argv)
{
	struct stat_arguments arguments = {
		.output_fd = -1,
		.runs = 1,
		.counting = { .policy = HP_MUX_ADAPTIVE, .method = HP_MUX_BEST },
	};
	struct hp_error *error;
	int status;
	int class_status;

	hp_broken_pipe_ignore();
	argp_parse(&stat_argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	error = count(&arguments, &status);
	free(arguments.events.at);
	free(arguments.targets.pids.at);
	free(arguments.targets.tids.at);
	if (!error)
		return status;
	class_status = hp_cli_fail(error);
	/* If nothing ran, the status is that of the error's class, otherwise the command's. */
	return status ? status : class_status;
}

const struct hp_command hp_command_stat = {
	.name = "stat",
	.summary = "Count any number of events, each with an interval",
	.argp = &stat_argp,
	.run = run,
	.runs_command = true,
};
