/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof diff: compares two profiles side by side, without a verdict. */
#include "arguments.h"
#include "command.h"
#include "tuning.h"

#include <hpcprof/compare/compare.h>
#include <hpcprof/report/comparison.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>

enum {
	OPTION_ANNOTATE = 256,
	OPTION_RELATIVE,
	OPTION_WORK,
	OPTION_CANDIDATE_WORK,
	OPTION_FAIL_OVER,
	OPTION_TOP,
	OPTION_FORMAT,
};

struct arguments {
	const char *db;
	struct hp_compare_options compare;
	enum hp_comparison_format format;
	double work[HP_SIDES]; /* units of work per run; 0: as the epochs say */
	double fail_over;      /* share; 0: never */
	uint64_t top;
	char *epochs[HP_SIDES];
};

static const char formats[] = "text|json";

static const struct argp_option option_table[] = {
	HP_DB_OPTION(HP_KEY_DB, 0),
	{ "annotate", OPTION_ANNOTATE, "PROC", 0,
	  "Show the code of this procedure, or of all procedures that the glob matches, side by "
	  "side",
	  1 },
	{ "event", 'e', "EVENT", 0, "Compare this event (default: the first that both sides have)",
	  2 },
	{ "relative", OPTION_RELATIVE, NULL, 0, "Compare shares of the program instead of costs",
	  2 },
	{ "work", OPTION_WORK, "N", 0,
	  "Units of work per run, to compare the cost of one unit (default: what the epochs say)",
	  2 },
	{ "candidate-work", OPTION_CANDIDATE_WORK, "N", 0,
	  "Units of work per run of B, if they differ from those of A", 2 },
	{ "fail-over", OPTION_FAIL_OVER, "PERCENT", 0,
	  "Exit with 1 if the program or one procedure certainly costs more, by over PERCENT of "
	  "the program",
	  3 },
	{ "top", OPTION_TOP, "N", 0, "Show at most N rows (default: 30)", 3 },
	{ "format", OPTION_FORMAT, formats, 0, "Output format (default: text)", 3 },
	HP_FILE_OPTIONS(4),
	{ 0 },
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_ANNOTATE:
		arguments->compare.annotated = argument;
		return 0;
	case 'e':
		arguments->compare.event = argument;
		return 0;
	case OPTION_RELATIVE:
		arguments->compare.is_relative = true;
		return 0;
	case OPTION_WORK:
		arguments->work[HP_BASE] = hp_argument_amount(state, "--work", argument);
		return 0;
	case OPTION_CANDIDATE_WORK:
		arguments->work[HP_CANDIDATE] =
			hp_argument_amount(state, "--candidate-work", argument);
		return 0;
	case OPTION_FAIL_OVER:
		arguments->fail_over =
			hp_argument_percent(state, "--fail-over", argument, INFINITY) / 100;
		return 0;
	case OPTION_TOP:
		arguments->top = hp_argument_number(state, "--top", argument);
		return 0;
	case OPTION_FORMAT:
		arguments->format = hp_argument_choice(state, "--format", argument, formats)
					    ? HP_COMPARISON_DIFFERENCES_JSON
					    : HP_COMPARISON_DIFFERENCES;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num >= HP_SIDES)
			argp_error(state,
				   "only two profiles can be compared, and '%s' is a third one: "
				   "hpcprof check takes several per side",
				   argument);
		arguments->epochs[state->arg_num] = argument;
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < HP_SIDES)
			argp_error(state, "give two epochs, A and B");
		if (arguments->compare.is_relative &&
		    (arguments->work[HP_BASE] > 0 || arguments->work[HP_CANDIDATE] > 0))
			argp_error(state, "--relative compares shares of the program, and these do "
					  "not depend on the amount of work");
		return 0;
	default:
		return hp_argument_place(key, argument, &arguments->db, &arguments->compare.symfs,
					 &arguments->compare.no_debuginfo);
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "A B",
	.doc = "Show the differences between two profiles: how much more or less B costs than A, "
	       "for each procedure, largest difference first. Uncertain differences are listed "
	       "too.\vA and B are epochs: stamps, labels, @latest, @-1 (the one before), or "
	       "ranges. A label means all epochs with it, and a range all epochs in it; they are "
	       "replicates. Use hpcprof check to decide whether a difference is real.\n\nExit "
	       "status: 0; 1 by --fail-over; 2 usage; 3 different CPUs; 5 damaged or foreign "
	       "epochs.",
};

/* --- what was asked -------------------------------------------------------------------------- */

/* Returns whether the cost grew by more than the share, even at the lower end of its interval. */
static bool is_over(const struct hp_comparison *comparison, double share)
{
	const struct hp_compared *program = comparison->program;
	double least = share * program->side[HP_BASE].cost.value;

	if (program->change.low > share)
		return true;
	for (size_t i = 0; i < program->part_count; i++)
		for (size_t j = 0; j < program->parts[i]->part_count; j++)
			if (program->parts[i]->parts[j]->lost.low > least)
				return true;
	return false;
}

static bool has_code(const struct hp_comparison *comparison)
{
	for (size_t i = 0; i < comparison->program->part_count; i++) {
		const struct hp_compared *image = comparison->program->parts[i];

		for (size_t j = 0; j < image->part_count; j++)
			if (image->parts[j]->code_count)
				return true;
	}
	return false;
}

static struct hp_error *compare(const struct arguments *arguments, struct hp_db *db,
				struct hp_comparison **comparison)
{
	struct hp_compare_epochs sides[HP_SIDES] = { 0 };
	char **stamps[HP_SIDES] = { 0 };
	struct hp_error *error = NULL;

	for (size_t side = 0; side < HP_SIDES && !error; side++) {
		error = hp_db_resolve_apart(db, &arguments->epochs[side], 1, &stamps[side],
					    &sides[side].count);
		sides[side].db = db;
		sides[side].stamps = stamps[side];
		sides[side].work = arguments->work[arguments->work[side] > 0 ? side : HP_BASE];
	}
	if (!error)
		error = hp_cli_check_apart(sides);
	if (!error)
		error = hp_compare(sides, &arguments->compare, comparison);
	if (!error)
		error = hp_comparison_add_reasons(*comparison, sides, &arguments->compare);
	for (size_t side = 0; side < HP_SIDES; side++)
		hp_db_free_stamps(stamps[side], stamps[side] ? sides[side].count : 0);
	return error;
}

static struct hp_error *diff(const struct arguments *arguments, bool *over)
{
	_cleanup_(hp_db_close_scope) struct hp_db *db = NULL;
	_cleanup_(hp_comparison_destroy_scope) struct hp_comparison *comparison = NULL;
	const struct hp_comparison_options options = { .most_findings = (size_t)arguments->top,
						       .columns = hp_cli_line_columns(stdout) };
	struct hp_error *error = hp_db_open(arguments->db, false, &db);

	if (!error) {
		hp_db_on_warning(db, hp_cli_tell, NULL);
		error = compare(arguments, db, &comparison);
	}
	if (error)
		return error;
	if (arguments->compare.annotated && !has_code(comparison))
		return hp_error_advise(
			hp_error_create(
				HP_ERROR_NOT_FOUND,
				"neither side has a procedure '%s' with samples, lines and code",
				arguments->compare.annotated),
			"hpcprof diff without --annotate lists the procedures");
	error = hp_comparison_write(comparison, arguments->format, &options, stdout);
	if (!error)
		*over = arguments->fail_over > 0 && is_over(comparison, arguments->fail_over);
	return error;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .top = TOP_BY_DEFAULT, .format = HP_COMPARISON_DIFFERENCES };
	error_t failed = argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	struct hp_error *error;
	bool over = false;

	arguments.compare.without_code = !arguments.compare.annotated;
	error = failed ? hp_error_create_errno(failed, "reading options") : diff(&arguments, &over);
	if (error)
		return hp_cli_fail(error);
	return over ? HP_EXIT_REGRESSION : HP_EXIT_OK;
}

const struct hp_command hp_command_diff = {
	.name = "diff",
	.summary = "Show what differs between two profiles, down to instructions",
	.argp = &argp,
	.run = run,
};
