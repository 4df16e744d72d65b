/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stat_options.h"

#include "arguments.h"
#include "command.h"

#include <hpcprof/base/number.h>

#include <fcntl.h>
#include <math.h>
#include <string.h>

enum {
	KEY_COUNTERS = 0x100,
	KEY_SLICE,
	KEY_SCHEDULER,
	KEY_ESTIMATOR,
	KEY_OVERHEAD,
	KEY_SEED,
	KEY_STRICT,
	KEY_FORMAT,
	KEY_OUTPUT_FD,
	KEY_PLOT,
	KEY_TRUTH,
	KEY_STALLS,
	KEY_ACCOUNTING,
	KEY_REPLAY,
};

enum { MOST_RUNS = 100000 };

static const char formats[] = "text|json|csv"; /* enum stat_format */
static const char modes[] = "all|user|kernel"; /* enum stat_mode */
static const char accountings[] =
	"interval|multi-stage|power5|naive"; /* enum hp_stack_accounting */

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "What to count:", 1 },
	{ "pid", 'p', "PID,...", 0, "Count in these processes with all their threads", 1 },
	{ "tid", 't', "TID,...", 0, "Count in these threads and what they start", 1 },
	{ "all-cpus", 'a', NULL, 0, "Count in the whole system, if this user may", 1 },
	{ "cpu", 'C', "LIST", 0, "Count only on these CPUs, for instance 0-3,6", 1 },
	{ "event", 'e', "EVENT,...", 0,
	  "Count these events and sets of events such as @cache; hpcprof events lists them "
	  "(default: @default)",
	  1 },
	{ "stalls", KEY_STALLS, modes, OPTION_ARG_OPTIONAL,
	  "Count what the core's events say of stalls, and show what the cycles of an instruction "
	  "were spent on; with user or kernel, in that mode only",
	  1 },
	{ "accounting", KEY_ACCOUNTING, accountings, 0,
	  "With --stalls: also show what another accounting says", 1 },
	{ "replay", KEY_REPLAY, "FILE", 0,
	  "Count nothing: take the counts from FILE, as man hpcprof-stat describes it", 1 },
	{ "repeat", 'r', "N", 0,
	  "Run the command N times and print one table of means and their spread", 1 },
	{ "strict", KEY_STRICT, NULL, 0, "Fail if an event cannot be counted", 1 },
	{ NULL, 0, NULL, 0, "When:", 2 },
	{ "interval", 'I', "MS", 0, "Also print the counts of each interval of MS milliseconds",
	  2 },
	{ "delay", 'D', "MS", 0, "Start counting MS milliseconds after the target starts", 2 },
	{ "duration", HP_KEY_DURATION, "TIME", 0,
	  "Stop counting after TIME, for instance 10s, 5m or 500ms; a command continues to run",
	  2 },
	{ NULL, 0, NULL, 0, "More events than counters:", 3 },
	{ "counters", KEY_COUNTERS, "N", 0,
	  "Pretend that the hardware can count only N events of each PMU at once", 3 },
	{ "slice", KEY_SLICE, "LENGTH", 0,
	  "Count each group for this long before the next: a time (4ms), or 2M:instructions, "
	  "2M:cycles (default: as short as the cost of rotation allows)",
	  3 },
	{ "scheduler", KEY_SCHEDULER, "rr|rr-random|roc|adaptive", 0,
	  "How to choose the group that counts next (default: adaptive)", 3 },
	{ "estimator", KEY_ESTIMATOR, "scale|interpolate|trapezoid|best", 0,
	  "How to estimate counts from slices (default: best)", 3 },
	{ "overhead", KEY_OVERHEAD, "PERCENT", 0,
	  "Lengthen the slices until rotation takes at most this share of the time (default: 1)",
	  3 },
	{ "seed", KEY_SEED, "N", 0, "Seed of the scheduler's random numbers, to repeat a run", 3 },
	{ "truth", KEY_TRUTH, NULL, 0,
	  "Also count software events all the time, to compare the estimates with", 3 },
	{ NULL, 0, NULL, 0, "How to print it:", 4 },
	{ "format", KEY_FORMAT, formats, 0, "Output format; json is one object per line", 4 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard error; - is standard output",
	  4 },
	{ "output-fd", KEY_OUTPUT_FD, "FD", 0, "Write to this open file descriptor", 4 },
	{ "plot", KEY_PLOT, "FILE", 0, "Draw the rates over time into an SVG file", 4 },
	{ "quiet", 'q', NULL, 0, "Print no notices", 4 },
	{ 0 },
};

/* --- options ---------------------------------------------------------------------------------- */

/* Parses "2M:instructions"; k, M and G are powers of 1000. */
static bool parse_units(const char *text, uint64_t *units, enum hp_unit *unit)
{
	const char *at = text;
	uint64_t factor = 1;

	if (!hp_scan_u64(&at, units) || !*units)
		return false;
	if (*at == 'k' || *at == 'M' || *at == 'G')
		factor = *at == 'k' ? 1000 : *at == 'M' ? 1000000 : 1000000000;
	at += factor > 1;
	if (*units > UINT64_MAX / 2 / factor)
		return false;
	*units *= factor;
	if (strcmp(at, ":instructions") == 0)
		*unit = HP_UNIT_INSTRUCTIONS;
	else if (strcmp(at, ":cycles") == 0)
		*unit = HP_UNIT_CYCLES;
	else
		return false;
	return true;
}

static void parse_slice(struct argp_state *state, const char *text,
			struct stat_arguments *arguments)
{
	const uint64_t least_ns = 10000;
	const uint64_t most_ns = UINT64_C(3600000000000);
	const uint64_t least_units = 10000;
	struct hp_counting_options *counting = &arguments->counting;

	counting->slice_ns = counting->slice_units = 0;
	if (strchr(text, ':')) {
		if (!parse_units(text, &counting->slice_units, &arguments->slice_unit) ||
		    counting->slice_units < least_units)
			argp_error(state,
				   "--slice takes a time (4ms) or at least 10k of instructions or "
				   "cycles (2M:instructions), not '%s'",
				   text);
	} else if (!hp_parse_duration_ns(text, &counting->slice_ns) ||
		   counting->slice_ns < least_ns || counting->slice_ns > most_ns) {
		argp_error(state,
			   "--slice takes 10us to 1h (4ms), or instructions or cycles "
			   "(2M:instructions), not '%s'",
			   text);
	}
	arguments->grouping.reference = arguments->slice_unit;
}

static void parse_fd(struct argp_state *state, const char *text, int *fd)
{
	uint64_t value;
	int flags;

	if (!hp_parse_u64(text, &value) || value > INT32_MAX)
		argp_error(state, "--output-fd takes the number of an open descriptor, not '%s'",
			   text);
	*fd = (int)value;
	flags = fcntl(*fd, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		argp_error(state, "--output-fd: descriptor %d is not open for writing", *fd);
}

static void parse_runs(struct argp_state *state, const char *text, uint32_t *runs)
{
	uint64_t value;

	if (!hp_parse_u64(text, &value) || !value || value > MOST_RUNS)
		argp_error(state, "-r takes a number from 1 to %d, not '%s'", MOST_RUNS, text);
	*runs = (uint32_t)value;
}

static void parse_target(struct argp_state *state, struct stat_arguments *arguments)
{
	struct hp_counting_options *counting = &arguments->counting;
	const struct hp_targets *targets = &arguments->targets;

	if (arguments->replay) {
		if (state->next < state->argc || targets->pids.count || targets->tids.count ||
		    targets->system_wide || arguments->runs > 1)
			argp_error(state, "--replay counts nothing: leave out the command, -p, -t, "
					  "-a and -r");
	} else {
		counting->command = hp_argument_command(state, "stat", "count", targets);
	}
	counting->pids = targets->pids.at;
	counting->pid_count = targets->pids.count;
	counting->tids = targets->tids.at;
	counting->tid_count = targets->tids.count;
	counting->system_wide = arguments->grouping.system_wide = targets->system_wide;
	counting->cpus = targets->cpus;
	counting->duration_ns = targets->duration_ns;
	if (arguments->runs > 1 && !counting->command)
		argp_error(state, "-r needs a command to run again");
	if (arguments->runs > 1 && arguments->plot)
		argp_error(state, "--plot draws one run: leave out -r");
	if (arguments->stalls && arguments->runs > 1)
		argp_error(state, "--stalls shows one run: leave out -r");
	if (arguments->stalls && arguments->format == STAT_CSV)
		argp_error(state, "--stalls is text or JSON: use --format=json");
	if (arguments->accounting != HP_STACK_INTERVAL && !arguments->stalls)
		argp_error(state, "--accounting is of stacks: add --stalls");
	if (arguments->output && arguments->output_fd >= 0)
		argp_error(state, "-o and --output-fd exclude each other");
}

static error_t parse_counting(int key, char *argument, struct argp_state *state)
{
	struct stat_arguments *arguments = state->input;
	struct hp_counting_options *counting = &arguments->counting;

	switch (key) {
	case KEY_COUNTERS:
		hp_argument_counters(state, argument, &arguments->grouping.counters);
		return 0;
	case KEY_SLICE:
		parse_slice(state, argument, arguments);
		return 0;
	case KEY_SCHEDULER:
		counting->policy = hp_argument_policy(state, argument);
		return 0;
	case KEY_ESTIMATOR:
		if (!hp_mux_method_parse(argument, &counting->method))
			argp_error(state,
				   "--estimator is scale, interpolate, trapezoid or best, not '%s'",
				   argument);
		return 0;
	case KEY_OVERHEAD:
		counting->overhead_percent =
			hp_argument_percent(state, "--overhead", argument, INFINITY);
		return 0;
	case KEY_SEED:
		if (!hp_parse_u64(argument, &counting->seed))
			argp_error(state, "--seed takes a number, not '%s'", argument);
		return 0;
	case KEY_TRUTH:
		counting->truth = true;
		return 0;
	case KEY_FORMAT:
		arguments->format =
			(enum stat_format)hp_argument_choice(state, "--format", argument, formats);
		return 0;
	case 'o':
		arguments->output = argument;
		return 0;
	case KEY_OUTPUT_FD:
		parse_fd(state, argument, &arguments->output_fd);
		return 0;
	case KEY_PLOT:
		arguments->plot = argument;
		return 0;
	case 'q':
		arguments->quiet = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct stat_arguments *arguments = state->input;
	struct hp_counting_options *counting = &arguments->counting;

	switch (key) {
	case 'e':
		if (!hp_vector_push(&arguments->events, argument))
			argp_failure(state, HP_EXIT_RECORDER, 0, "out of memory");
		return 0;
	case 'r':
		parse_runs(state, argument, &arguments->runs);
		return 0;
	case KEY_STRICT:
		arguments->strict = true;
		return 0;
	case KEY_STALLS:
		arguments->stalls = true;
		if (argument)
			arguments->stalls_mode = (enum stat_mode)hp_argument_choice(
				state, "--stalls", argument, modes);
		return 0;
	case KEY_ACCOUNTING:
		arguments->accounting = (enum hp_stack_accounting)hp_argument_choice(
			state, "--accounting", argument, accountings);
		return 0;
	case KEY_REPLAY:
		arguments->replay = argument;
		return 0;
	case 'I':
		counting->interval_ns = hp_argument_milliseconds(state, "-I", argument);
		if (counting->interval_ns < 1000000)
			argp_error(state, "-I takes at least 1 (millisecond), not '%s'", argument);
		return 0;
	case 'D':
		counting->delay_ns = hp_argument_milliseconds(state, "-D", argument);
		return 0;
	case ARGP_KEY_ARGS:
	case ARGP_KEY_NO_ARGS:
		parse_target(state, arguments);
		return 0;
	default:
		if (parse_counting(key, argument, state) == 0)
			return 0;
		return hp_argument_target(key, argument, state, &arguments->targets);
	}
}

const struct argp stat_argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc =
		"-- CMD [ARG...]\n-p PID [-- CMD [ARG...]]\n-a [-- CMD [ARG...]]\n--replay FILE",
	.doc = "Count events of a command, of processes or of the whole system. If there are more "
	       "events than the hardware has counters, groups of events take turns. Each count has "
	       "an interval: ± gives the distance to the true value in 95 of 100 cases.\vThe exit "
	       "status is that of the command (128+N for signal N, 127 not found, 126 not "
	       "executable). Before the command starts it is 2 for an unknown event or a wrong "
	       "option, and 4 if nothing can be counted. It is 125 if hpcprof itself fails.",
};
