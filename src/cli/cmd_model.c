/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof model: runs a trace on a simulated core whose cycles are known. */
#include "arguments.h"
#include "command.h"
#include "model_output.h"
#include "tuning.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/foreign_file.h>
#include <hpcprof/base/number.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPTION_CONFIG = 256,
	OPTION_WITH,
	OPTION_WARM,
	OPTION_INSTRUCTIONS,
	OPTION_NO_TRUTH,
	OPTION_COUNTS,
	OPTION_FORMAT,
};

enum format { TEXT, JSON };
static const char formats[] = "text|json"; /* enum format */

struct options {
	struct model_output output;
	enum format format;
	struct hp_cycle_options cycle;
	bool has_warming;
};

static const struct argp_option option_table[] = {
	{ "config", OPTION_CONFIG, "CORE", 0,
	  "The core: eyerman2006 (default) or one of the tables, for instance zen-4", 0 },
	{ "with", OPTION_WITH, "CHANGE,...", 0,
	  "Also say what the time would be with other sizes (l2:2M, rob:256) or without a cost "
	  "(branch:perfect); may be given several times",
	  0 },
	{ "warm", OPTION_WARM, "N", 0,
	  "The first N instructions only warm the caches (default: a fifth, at most a million)",
	  0 },
	{ "instructions", OPTION_INSTRUCTIONS, "N", 0, "Stop after N instructions", 0 },
	{ "no-truth", OPTION_NO_TRUTH, NULL, 0,
	  "Leave out the runs on idealised cores: no errors are known", 0 },
	{ "counts", OPTION_COUNTS, "CORE,...", 0,
	  "Print instead what counters of this core would count, as a text for hpcprof stat "
	  "--stalls --replay; of several cores with --format=json",
	  0 },
	{ "format", OPTION_FORMAT, formats, 0, "Output format (default: text)", 0 },
	{ 0 },
};

/* --- options ----------------------------------------------------------------------------------- */

static uint64_t parse_count(struct argp_state *state, const char *option, const char *text)
{
	uint64_t value = 0;

	if (!hp_parse_u64(text, &value) || !value)
		argp_error(state, "%s takes a number of instructions from 1, not '%s'", option,
			   text);
	return value;
}

static void add_change(struct argp_state *state, struct model_output *output, const char *list)
{
	if (output->change_count == MODEL_CHANGES_MOST)
		argp_error(state, "--with can be given %d times at most", MODEL_CHANGES_MOST);
	output->changes[output->change_count++].list = list;
}

static void add_table(struct argp_state *state, struct model_output *output, const char *name)
{
	const struct hp_stack_table *table = model_table_named(name);

	if (!table)
		argp_error(state, "--counts: events of '%s' are not emulated", name);
	else if (output->table_count == MODEL_TABLES_MOST)
		argp_error(state, "--counts takes %d cores at most", MODEL_TABLES_MOST);
	else if (output->table_count && table->refill != output->tables[0]->refill)
		argp_error(
			state,
			"--counts: %s takes %g cycles to refill the pipeline, and %s %g: one run "
			"cannot count for both",
			name, table->refill, output->tables[0]->name, output->tables[0]->refill);
	else
		output->tables[output->table_count++] = table;
}

static void add_tables(struct argp_state *state, struct model_output *output, const char *list)
{
	char name[64];

	for (;; list++) {
		size_t length = strcspn(list, ",");

		snprintf(name, sizeof(name), "%.*s",
			 (int)(length < sizeof(name) ? length : sizeof(name) - 1), list);
		add_table(state, output, name);
		list += length;
		if (!*list)
			return;
	}
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_CONFIG:
		options->output.core = argument;
		return 0;
	case OPTION_WITH:
		add_change(state, &options->output, argument);
		return 0;
	case OPTION_WARM:
		if (!hp_parse_u64(argument, &options->cycle.warming))
			argp_error(state, "--warm takes a number of instructions, not '%s'",
				   argument);
		options->has_warming = true;
		return 0;
	case OPTION_INSTRUCTIONS:
		options->cycle.most = parse_count(state, "--instructions", argument);
		return 0;
	case OPTION_NO_TRUTH:
		options->cycle.has_truth = false;
		return 0;
	case OPTION_COUNTS:
		add_tables(state, &options->output, argument);
		return 0;
	case OPTION_FORMAT:
		options->format =
			(enum format)hp_argument_choice(state, "--format", argument, formats);
		return 0;
	case ARGP_KEY_ARG:
		if (options->output.trace)
			argp_error(state, "only one trace is possible, and '%s' is a second one",
				   argument);
		options->output.trace = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which trace?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "TRACE",
	.doc = "Run a trace of a program (hpcprof record --trace) on a reference core, cycle by "
	       "cycle, and print what its cycles are spent on: the truth, found by runs on "
	       "idealised cores, and the result of each way to charge cycles to causes.",
};

/* --- the trace --------------------------------------------------------------------------------- */

static struct hp_error *read_file(const char *path, uint8_t **bytes, size_t *size)
{
	struct stat status = { .st_mode = S_IFREG };
	int fd = hp_foreign_open(path, 0, &status);
	struct hp_error *error;

	if (fd < 0 && errno == EACCES && !S_ISREG(status.st_mode))
		return hp_error_create(HP_ERROR_DAMAGED, "%s: not a regular file", path);
	if (fd < 0)
		return hp_error_create_errno(errno, "%s", path);
	error = hp_file_read_fd(fd, HP_TRACE_BYTES_MOST, bytes, size);
	close(fd);
	return hp_error_wrap(error, "%s", path);
}

static void choose_warming(struct options *options, const struct hp_trace *trace)
{
	uint64_t all = trace->instructions;

	if (options->cycle.most && options->cycle.most < all)
		all = options->cycle.most;
	if (!options->has_warming)
		options->cycle.warming = all / WARMING_PART < WARMING_MOST ? all / WARMING_PART
									   : WARMING_MOST;
	options->output.warming = options->cycle.warming;
	options->output.has_truth = options->cycle.has_truth;
}

static struct hp_error *measure(struct options *options, const struct hp_trace *trace)
{
	struct model_output *output = &options->output;
	struct hp_cycle_options quick = options->cycle;
	struct hp_error *error =
		hp_cycle_measure(trace, &output->config, &options->cycle, &output->result);

	quick.has_truth = false;
	for (size_t i = 0; i < output->change_count && !error; i++) {
		struct model_change *change = &output->changes[i];
		struct hp_cycle_result result;

		error = hp_cycle_measure(trace, &change->config, &quick, &result);
		if (!error)
			change->cpi =
				(double)result.counts.cycles / (double)result.counts.instructions;
	}
	return hp_error_wrap(error, "%s", output->trace);
}

static struct hp_error *configure(struct model_output *output)
{
	struct hp_error *error = hp_cycle_config_named(output->core, &output->config);

	if (error)
		return hp_error_advise(error, "eyerman2006, zen-4 and so on: see hpcprof-model(1)");
	/* The formulas assume this. */
	if (output->table_count && output->tables[0]->refill > 0)
		output->config.front_stages = (uint16_t)output->tables[0]->refill;
	for (size_t i = 0; i < output->change_count && !error; i++) {
		output->changes[i].config = output->config;
		error = hp_cycle_config_change(&output->changes[i].config, output->changes[i].list);
	}
	return error;
}

static struct hp_error *work(struct options *options)
{
	struct hp_error *error = configure(&options->output);
	_cleanup_free_ uint8_t *bytes = NULL;
	struct hp_trace *trace;
	size_t size;

	if (!error)
		error = read_file(options->output.trace, &bytes, &size);
	if (error)
		return error;
	error = hp_error_wrap(hp_trace_open(bytes, size, &trace), "%s", options->output.trace);
	if (error)
		return error;
	choose_warming(options, trace);
	/* The output would not show the truth. */
	options->cycle.has_truth &= !options->output.table_count || options->format == JSON;
	error = measure(options, trace);
	hp_trace_close(trace);
	if (!error)
		error = options->format == JSON ? model_print_json(&options->output)
						: model_print_text(&options->output);
	return error;
}

static int run(int argc, char **argv)
{
	struct options options = { .output.core = "eyerman2006", .cycle.has_truth = true };
	struct hp_error *error;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (options.output.table_count > 1 && options.format == TEXT)
		return hp_cli_fail(hp_error_create(
			HP_ERROR_USAGE, "--counts of several cores needs --format=json"));
	error = work(&options);
	return error ? hp_cli_fail(error) : HP_EXIT_OK;
}

const struct hp_command hp_command_model = {
	.name = "model",
	.summary = "Run a trace of a program on a reference core, cycle by cycle",
	.argp = &argp,
	.run = run,
};
