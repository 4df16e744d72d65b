/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that say what is sampled and how. */
#include "arguments.h"
#include "command.h"
#include "recording.h"

#include <hpcprof/base/number.h>

#include <math.h>
#include <string.h>

enum {
	KEY_NO_CAP = 0x200,
	KEY_OVERHEAD,
	KEY_STRICT,
	KEY_NO_REGISTERS,
	KEY_PROBES,
	KEY_FLUSH,
	KEY_COUNTERS,
	KEY_SCHEDULER,
	KEY_SLICE,
	KEY_SHADOW,
	KEY_CAUSES,
	KEY_WHAT_IF,
	KEY_WORK,
	KEY_CALL_GRAPH,
};

/* Above these, the profile would not be the undisturbed program's. */
enum { MOST_SHADOW_PERCENT = 50, DEFAULT_PROBES_PERCENT = 1, MOST_PROBES_PERCENT = 10 };
enum { MOST_STACK_BYTES = 65528 };

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "Events and rates:", 2 },
	{ "event", 'e', "EVENT,...", 0,
	  "Sample these events; hpcprof events lists them (default: cycles, or cpu-clock on a "
	  "machine without a PMU)",
	  2 },
	{ "freq", 'F', "HZ", 0, "Take HZ samples per second on each CPU (default: 1000)", 2 },
	{ "count", 'c', "PERIOD", 0, "Take a sample every PERIOD events, instead of -F", 2 },
	{ "no-cap", KEY_NO_CAP, NULL, 0, "Allow more than 10000 samples per second on each CPU",
	  2 },
	{ "overhead", KEY_OVERHEAD, "PERCENT", 0,
	  "Lower the sampling rate until sampling takes at most this share of the target's time",
	  2 },
	{ "call-paths", 'g', "cfi[,BYTES]|fp|lbr|auto", OPTION_ARG_OPTIONAL,
	  "Record who called what is sampled, for report --tree, --callers and the like: by unwind "
	  "tables and a copied piece of the stack (cfi; its size follows what paths need, unless "
	  "BYTES is given), by frame pointers (fp), or by branch records (lbr); auto, the default, "
	  "is cfi on x86-64, else fp",
	  2 },
	{ "call-graph", KEY_CALL_GRAPH, "fp|dwarf[,BYTES]|lbr", 0,
	  "The same as --call-paths, as perf spells it; dwarf means cfi", 2 },
	{ "shadow", KEY_SHADOW, "PERCENT", OPTION_ARG_OPTIONAL,
	  "Count executions exactly, in copies of the target that replay parts of it on another "
	  "CPU, for at most this share of the target's time (default: 1)",
	  2 },
	{ "causes", KEY_CAUSES, "auto|always|off", 0,
	  "Simulate caches, TLBs and branch predictors on the path of shadow windows, to tell why "
	  "code stalled: while a CPU is idle (auto, the default), also while all CPUs are busy "
	  "(always), or not at all (off)",
	  2 },
	{ "what-if", KEY_WHAT_IF, "PART:SIZE,...", 0,
	  "Also simulate a core with other sizes (l2:2M, dtlb:4096, rob:512, ...), for report "
	  "--what-if; needs --shadow",
	  2 },
	{ "strict", KEY_STRICT, NULL, 0, "Fail if hpcprof cannot sample exactly what was asked for",
	  2 },
	{ "counters", KEY_COUNTERS, "N", 0,
	  "Pretend that the hardware can sample only N events of each PMU at once, so that groups "
	  "take turns",
	  2 },
	{ "scheduler", KEY_SCHEDULER, "rr|rr-random|roc|adaptive", 0,
	  "How to choose the group that is sampled next, when there are more events than counters "
	  "(default: rr-random)",
	  2 },
	{ "slice", KEY_SLICE, "TIME", 0,
	  "Sample each group for this long before the next (default: as short as the rotation "
	  "cost allows)",
	  2 },
	{ "probes", KEY_PROBES, "PERCENT", OPTION_ARG_OPTIONAL,
	  "Count executions of rarely executed code with hardware breakpoints, at random moments; "
	  "they take at most this share of the target's time (default: 1)",
	  2 },
	{ "no-registers", KEY_NO_REGISTERS, NULL, 0,
	  "Sample without registers and branch records; hpcprof then knows less about branch "
	  "directions and executions",
	  2 },
	{ "work", KEY_WORK, "WORK", 0,
	  "Units of work per run, to compare the cost of one unit: a number, a regular expression "
	  "with a group that matches the number in the command's output, or a file that the "
	  "command writes",
	  1 },
	{ "delay", 'D', "MS", 0, "Start sampling MS milliseconds after the target starts", 3 },
	{ "flush", KEY_FLUSH, "TIME", 0, "Write samples to disk every TIME (default: 10s)", 4 },
	{ "mmap-pages", 'm', "PAGES", 0, "Size of the ring of each CPU in pages, a power of two",
	  4 },
	{ 0 },
};

static void parse_rate(struct argp_state *state, const char *text, double *frequency_hz)
{
	if (!hp_parse_double(text, frequency_hz) || *frequency_hz <= 0)
		argp_error(state, "-F takes samples per second, not '%s'", text);
}

static void parse_pages(struct argp_state *state, const char *text, size_t *pages)
{
	uint64_t value;

	if (!hp_parse_u64(text, &value) || !value || (value & (value - 1)) || value > 1 << 20)
		argp_error(state, "-m takes a power of two, not '%s'", text);
	else
		*pages = (size_t)value;
}

/* The kernel takes fewer than 64 KiB, in multiples of 8. */
static void parse_stack_bytes(struct argp_state *state, const char *text, uint32_t *bytes)
{
	uint64_t value;

	if (!hp_parse_u64(text, &value) || value < 64 || value > MOST_STACK_BYTES || value % 8)
		argp_error(state,
			   "-g copies between 64 and %d bytes of stack, in multiples of 8, "
			   "not '%s'",
			   MOST_STACK_BYTES, text);
	else
		*bytes = (uint32_t)value;
}

/* Parses the argument of -g: "-gfp" comes as "fp", "-g=fp" as "=fp". */
static void parse_paths(struct argp_state *state, const char *text,
			struct hp_session_options *session)
{
	static const struct {
		const char *name;
		enum hp_call_paths how;
	} modes[] = {
		{ "auto", HP_CALL_PATHS_AUTO }, { "cfi", HP_CALL_PATHS_CFI },
		{ "dwarf", HP_CALL_PATHS_CFI }, { "fp", HP_CALL_PATHS_FP },
		{ "lbr", HP_CALL_PATHS_LBR },
	};
	size_t length;

	session->call_paths = HP_CALL_PATHS_NONE;
	text += *text == '=';
	length = strcspn(text, ",");
	for (size_t i = 0; i < HP_ARRAY_COUNT(modes); i++) {
		if (strlen(modes[i].name) == length && strncmp(modes[i].name, text, length) == 0)
			session->call_paths = modes[i].how;
	}
	if (session->call_paths == HP_CALL_PATHS_NONE ||
	    (text[length] && session->call_paths != HP_CALL_PATHS_CFI))
		argp_error(state, "-g takes cfi[,BYTES], fp, lbr or auto, not '%s'", text);
	else if (text[length])
		parse_stack_bytes(state, text + length + 1, &session->call_path_stack_bytes);
}

void recording_parse_work(struct argp_state *state, const char *text, struct work *work)
{
	struct hp_error *error = work_parse(text, work);

	if (error)
		argp_error(state, "%s%s%s", error->message, error->advice ? "; " : "",
			   error->advice ? error->advice : "");
	hp_error_destroy(error);
}

static void parse_causes(struct argp_state *state, const char *text, struct record_shadow *shadow)
{
	shadow->causes = strcmp(text, "auto") == 0     ? RECORD_CAUSES_AUTO
			 : strcmp(text, "always") == 0 ? RECORD_CAUSES_ALWAYS
						       : RECORD_CAUSES_OFF;
	if (shadow->causes == RECORD_CAUSES_OFF && strcmp(text, "off") != 0)
		argp_error(state, "--causes takes auto, always or off, not '%s'", text);
}

/* Refuses sizes that have no model, before anything is recorded. */
static void parse_what_if(struct argp_state *state, const char *text, struct hp_resizes *resizes)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	struct hp_core core = *hp_core_named("generic-x86-64");

	if (!hp_resizes_parse(text, resizes) || !hp_resizes_apply(resizes, &geometry, &core))
		argp_error(state,
			   "--what-if takes up to %d of l1i, l1d, l2, itlb, dtlb, rob and stores, "
			   "each with a size that a model can have (l2:2M,dtlb:4096), not '%s'",
			   HP_MOST_RESIZES, text);
}

/* Takes the options of evidence and of how events take turns. */
static error_t take_evidence_option(struct recording *recording, int key, char *argument,
				    struct argp_state *state)
{
	struct hp_session_options *session = &recording->session;

	switch (key) {
	case KEY_CAUSES:
		parse_causes(state, argument, &recording->shadow);
		return 0;
	case KEY_WHAT_IF:
		parse_what_if(state, argument, &recording->shadow.resizes);
		return 0;
	case KEY_SHADOW:
		recording->shadow.percent = HP_SHADOW_DEFAULT_PERCENT;
		if (argument)
			recording->shadow.percent = hp_argument_percent(state, "--shadow", argument,
									MOST_SHADOW_PERCENT);
		return 0;
	case KEY_PROBES:
		session->probes_percent = DEFAULT_PROBES_PERCENT;
		if (argument)
			session->probes_percent = hp_argument_percent(state, "--probes", argument,
								      MOST_PROBES_PERCENT);
		return 0;
	case KEY_NO_REGISTERS:
		session->no_registers = true;
		return 0;
	case KEY_COUNTERS:
		hp_argument_counters(state, argument, &recording->counters);
		return 0;
	case KEY_SCHEDULER:
		session->policy = hp_argument_policy(state, argument);
		return 0;
	case KEY_SLICE:
		session->slice_ns = hp_argument_time(state, "--slice", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t take_option(struct recording *recording, int key, char *argument,
			   struct argp_state *state)
{
	struct hp_session_options *session = &recording->session;

	switch (key) {
	case 'e':
		if (!hp_vector_push(&recording->events_asked, argument))
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
		session->overhead_percent =
			hp_argument_percent(state, "--overhead", argument, INFINITY);
		return 0;
	case 'g':
	case KEY_CALL_GRAPH:
		parse_paths(state, argument ? argument : "auto", session);
		return 0;
	case KEY_STRICT:
		recording->is_strict = true;
		return 0;
	case 'D':
		session->delay_ns = hp_argument_milliseconds(state, "-D", argument);
		return 0;
	case KEY_FLUSH:
		session->flush_ns = hp_argument_time(state, "--flush", argument);
		return 0;
	case 'm':
		parse_pages(state, argument, &session->ring_pages);
		return 0;
	case KEY_WORK:
		recording_parse_work(state, argument, &recording->work);
		return 0;
	case ARGP_KEY_END:
		if (session->frequency_hz > 0 && session->period)
			argp_error(state, "-F and -c exclude each other");
		return 0;
	default:
		return take_evidence_option(recording, key, argument, state);
	}
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct recording *recording = state->input;

	if (!recording->given && key != 'e' && key != KEY_WORK)
		recording->given = hp_argument_name(option_table, key);
	return take_option(recording, key, argument, state);
}

const struct argp recording_argp = { .options = option_table, .parser = parse_option };
