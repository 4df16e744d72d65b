/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof epochs: lists and manages the epochs of the profile database. */
#include "arguments.h"
#include "command.h"
#include "epoch_list.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/text.h>

#include <stdio.h>
#include <string.h>

enum {
	OPTION_DB = 256,
	OPTION_FORMAT,
	OPTION_WIDE,
	OPTION_LABEL,
	OPTION_MOVE,
	OPTION_REMOVE,
	OPTION_OLDER_THAN,
	OPTION_KEEP,
	OPTION_MAX_SIZE,
	FIRST_OPTION = OPTION_DB,
	LAST_OPTION = OPTION_MAX_SIZE,
};

struct options {
	const char *db;
	enum epoch_format format;
	const char *label;
	bool move;
	bool remove;
	struct hp_gc_options gc;
	char **words; /* of argv; words[0] is the action */
	size_t word_count;
	const char *given[LAST_OPTION - FIRST_OPTION + 2]; /* how each given option was spelled */
};

struct action {
	const char *name;
	int (*run)(const struct options *options, struct hp_db *db);
	const char *takes; /* options allowed beside --db, each followed by a blank */
	size_t least;	   /* least number of arguments */
	size_t most;
};

/* --- options ------------------------------------------------------------------------------ */

static const char formats[] = "text|json|csv"; /* enum epoch_format */

static const struct argp_option option_table[] = {
	HP_DB_OPTION(OPTION_DB, 0),
	{ "format", OPTION_FORMAT, formats, 0, "list: output format (default: text)", 1 },
	{ "wide", OPTION_WIDE, NULL, 0, "list: print all columns, at any width", 1 },
	{ "label", OPTION_LABEL, "LABEL", 0, "merge: give the new epoch this label", 2 },
	{ "move", OPTION_MOVE, NULL, 0,
	  "label: first remove the label from the epochs that have it", 3 },
	{ "remove", OPTION_REMOVE, NULL, 0, "label: remove the label of the epoch", 3 },
	{ "older-than", OPTION_OLDER_THAN, "DURATION", 0,
	  "gc: remove epochs that ended longer ago than this, for instance 12h or 30d", 4 },
	{ "keep", OPTION_KEEP, "N", 0,
	  "gc: keep the newest N epochs; without another rule, remove all others", 4 },
	{ "max-size", OPTION_MAX_SIZE, "BYTES", 0,
	  "gc: remove the oldest epochs until all together take at most this, for instance 500M or "
	  "2G",
	  4 },
	{ "dry-run", 'n', NULL, 0, "gc: only print what would be removed", 4 },
	{ 0 },
};

static const char *spelling(int key)
{
	for (const struct argp_option *option = option_table; option->name; option++) {
		if (option->key == key)
			return option->name;
	}
	return NULL;
}

static void note_given(struct options *options, int key)
{
	size_t slot = key == 'n' ? LAST_OPTION - FIRST_OPTION + 1 : (size_t)(key - FIRST_OPTION);

	options->given[slot] = spelling(key);
}

static void parse_gc(int key, const char *argument, struct argp_state *state)
{
	struct hp_gc_options *gc = &((struct options *)state->input)->gc;
	uint64_t number = 0;

	switch (key) {
	case OPTION_OLDER_THAN:
		if (!hp_parse_duration_ns(argument, &gc->older_than_ns) || !gc->older_than_ns)
			argp_error(state, "--older-than takes a duration like 12h or 30d, not '%s'",
				   argument);
		break;
	case OPTION_KEEP:
		if (!hp_parse_u64(argument, &number) || !number)
			argp_error(state, "--keep takes a number from 1, not '%s'", argument);
		gc->keep = (size_t)number;
		break;
	case OPTION_MAX_SIZE:
		if (!hp_parse_bytes(argument, &gc->max_bytes) || !gc->max_bytes)
			argp_error(state, "--max-size takes a size like 500M or 2G, not '%s'",
				   argument);
		break;
	default:
		gc->dry_run = true;
		break;
	}
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_DB:
		options->db = argument;
		break;
	case OPTION_FORMAT:
		options->format =
			(enum epoch_format)hp_argument_choice(state, "--format", argument, formats);
		break;
	case OPTION_WIDE:
		options->format = EPOCH_FORMAT_WIDE;
		break;
	case OPTION_LABEL:
		options->label = argument;
		break;
	case OPTION_MOVE:
		options->move = true;
		break;
	case OPTION_REMOVE:
		options->remove = true;
		break;
	case OPTION_OLDER_THAN:
	case OPTION_KEEP:
	case OPTION_MAX_SIZE:
	case 'n':
		parse_gc(key, argument, state);
		break;
	case ARGP_KEY_ARGS:
		options->words = state->argv + state->next;
		options->word_count = (size_t)(state->argc - state->next);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	note_given(options, key);
	return 0;
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[list [EPOCH...]]\n"
		    "label EPOCH LABEL\n"
		    "rm EPOCH...\n"
		    "merge EPOCH EPOCH...\n"
		    "gc\n"
		    "verify [EPOCH...]",
	.doc = "List, label, remove, merge and check the epochs of the profile database.\vEPOCH is "
	       "a stamp or the beginning of one, a label, @latest, @-1 (the one before) or a range "
	       "A..B.",
};

/* --- what the actions share --------------------------------------------------------------- */

static void print_text(FILE *stream, const char *text)
{
	_cleanup_free_ char *printable = hp_text_printable(text);

	fputs(printable ? printable : "?", stream);
}

/* Finds the epochs that the words after the action name; without any word, all epochs. */
static struct hp_error *resolve(const struct options *options, struct hp_db *db, char ***stamps,
				size_t *count)
{
	char everything[] = "..";
	char *all[] = { everything };
	struct hp_epoch_summary *epochs;
	struct hp_error *error;

	if (options->word_count > 1)
		return hp_db_resolve(db, options->words + 1, options->word_count - 1, stamps,
				     count);
	error = hp_db_list(db, &epochs, count);
	if (error)
		return error;
	hp_db_free_list(epochs, *count);
	if (*count)
		return hp_db_resolve(db, all, 1, stamps, count);
	/* An empty database has nothing to list or to verify, which is no error. */
	*stamps = NULL;
	return NULL;
}

/* --- list --------------------------------------------------------------------------------- */

/* `stamps` may be NULL: none are named. */
static bool is_named(const char *stamp, char *const *stamps, size_t count)
{
	for (size_t i = 0; stamps && i < count; i++) {
		if (strcmp(stamp, stamps[i]) == 0)
			return true;
	}
	return false;
}

static int list(const struct options *options, struct hp_db *db)
{
	struct hp_epoch_summary *epochs;
	size_t epoch_count;
	char **stamps;
	size_t count;
	size_t kept = 0;
	struct hp_error *error = resolve(options, db, &stamps, &count);

	if (error)
		return hp_cli_fail(error);
	error = hp_db_list(db, &epochs, &epoch_count);
	if (error) {
		hp_db_free_stamps(stamps, count);
		return hp_cli_fail(error);
	}
	/* The epochs that are not named go to the end. */
	for (size_t i = 0; i < epoch_count; i++) {
		struct hp_epoch_summary epoch = epochs[i];

		if (!is_named(epoch.stamp, stamps, count))
			continue;
		epochs[i] = epochs[kept];
		epochs[kept++] = epoch;
	}
	error = epoch_list_print(stdout, options->format, hp_db_path(db), epochs, kept);
	hp_db_free_list(epochs, epoch_count);
	hp_db_free_stamps(stamps, count);
	return error ? hp_cli_fail(error) : HP_EXIT_OK;
}

/* --- label -------------------------------------------------------------------------------- */

/* Takes the label from other epochs, or refuses if it must not. */
static struct hp_error *free_label(const struct options *options, struct hp_db *db,
				   const char *label, const char *stamp)
{
	struct hp_epoch_summary *epochs;
	size_t count;
	struct hp_error *error = hp_db_list(db, &epochs, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++) {
		const char *other = epochs[i].meta.label;

		if (!other || strcmp(other, label) != 0 || strcmp(epochs[i].stamp, stamp) == 0)
			continue;
		if (options->move)
			error = hp_db_label(db, epochs[i].stamp, NULL);
		else
			error = hp_error_advise(hp_error_create(HP_ERROR_USAGE,
								"epoch %s is labelled '%s' already",
								epochs[i].stamp, label),
						"give --move to move the label");
	}
	hp_db_free_list(epochs, count);
	return error;
}

static struct hp_error *label_one(const struct options *options, struct hp_db *db,
				  const char *stamp)
{
	const char *label = options->remove ? NULL : options->words[2];
	struct hp_error *error = label ? free_label(options, db, label, stamp) : NULL;

	return error ? error : hp_db_label(db, stamp, label);
}

static int label(const struct options *options, struct hp_db *db)
{
	struct hp_error *error;
	char **stamps;
	size_t count;

	if (options->remove != (options->word_count == 2))
		return hp_cli_fail(hp_error_create(HP_ERROR_USAGE,
						   "label takes an EPOCH and a LABEL, or --remove "
						   "and an EPOCH"));
	error = hp_db_resolve(db, options->words + 1, 1, &stamps, &count);
	if (error)
		return hp_cli_fail(error);
	if (count == 1)
		error = label_one(options, db, stamps[0]);
	else
		error = hp_error_create(HP_ERROR_USAGE,
					"a label is for one epoch, not for a range");
	hp_db_free_stamps(stamps, count);
	return error ? hp_cli_fail(error) : HP_EXIT_OK;
}

/* --- rm and merge ------------------------------------------------------------------------- */

static int rm(const struct options *options, struct hp_db *db)
{
	char **stamps;
	size_t count;
	struct hp_error *error = resolve(options, db, &stamps, &count);
	int status = HP_EXIT_OK;

	if (error)
		return hp_cli_fail(error);
	for (size_t i = 0; i < count; i++) {
		error = hp_db_remove(db, stamps[i]);
		if (error)
			status = hp_cli_fail(error);
		else
			printf("removed %s\n", stamps[i]);
	}
	hp_db_free_stamps(stamps, count);
	return status;
}

static int merge(const struct options *options, struct hp_db *db)
{
	char **stamps;
	size_t count;
	char *merged = NULL;
	struct hp_error *error = resolve(options, db, &stamps, &count);

	if (error)
		return hp_cli_fail(error);
	if (count < 2)
		error = hp_error_create(HP_ERROR_USAGE, "merge needs at least two epochs");
	else
		error = hp_db_merge(db, stamps, count, options->label, &merged);
	hp_db_free_stamps(stamps, count);
	if (error)
		return hp_cli_fail(error);
	puts(merged);
	free(merged);
	return HP_EXIT_OK;
}

/* --- gc ----------------------------------------------------------------------------------- */

static int gc(const struct options *options, struct hp_db *db)
{
	const char *verb = options->gc.dry_run ? "would remove" : "removed";
	struct hp_gc_result result;
	struct hp_error *error = hp_db_gc(db, &options->gc, &result);
	char size[EPOCH_SIZE_BYTES];

	if (error)
		return hp_cli_fail(error);
	for (size_t i = 0; i < result.removed_count; i++)
		printf("%s %s\n", verb, result.removed[i]);
	epoch_size_format(result.freed_bytes, size);
	printf("%s %zu epoch%s and %zu leftover%s, %s\n", verb, result.removed_count,
	       result.removed_count == 1 ? "" : "s", result.leftovers,
	       result.leftovers == 1 ? "" : "s", size);
	hp_gc_result_clear(&result);
	return HP_EXIT_OK;
}

/* --- verify ------------------------------------------------------------------------------- */

static void print_finding(enum hp_verify_finding finding, const char *problem, void *context)
{
	(void)finding;
	(void)context;
	print_text(stdout, problem);
	putchar('\n');
}

static int say_verdict(const struct hp_verifying *verifying, size_t count)
{
	size_t problems = verifying->counts[HP_VERIFY_PROBLEM];
	size_t unread = verifying->counts[HP_VERIFY_UNREAD];
	const char *epochs = count == 1 ? "epoch" : "epochs";

	if (problems)
		printf("%zu problem%s in %zu %s\n", problems, problems == 1 ? "" : "s", count,
		       epochs);
	else if (unread)
		printf("%zu %s, no problems in the files that you may read\n", count, epochs);
	else
		printf("%zu %s verified, no problems\n", count, epochs);
	if (problems)
		return HP_EXIT_DAMAGED;
	return unread ? HP_EXIT_NOT_PERMITTED : HP_EXIT_OK;
}

static int verify(const struct options *options, struct hp_db *db)
{
	struct hp_verifying verifying = { .each = print_finding };
	char **stamps;
	size_t count;
	struct hp_error *error = resolve(options, db, &stamps, &count);

	if (error)
		return hp_cli_fail(error);
	error = hp_db_verify(db, stamps, count, &verifying);
	hp_db_free_stamps(stamps, count);
	if (error)
		return hp_cli_fail(error);
	return say_verdict(&verifying, count);
}

/* --- the command -------------------------------------------------------------------------- */

static const struct action actions[] = {
	{ "list", list, "format wide ", 0, SIZE_MAX },
	{ "label", label, "move remove ", 1, 2 },
	{ "rm", rm, "", 1, SIZE_MAX },
	{ "merge", merge, "label ", 1, SIZE_MAX },
	{ "gc", gc, "older-than keep max-size dry-run ", 0, 0 },
	{ "verify", verify, "", 0, SIZE_MAX },
};

static struct hp_error *find_action(const char *name, const struct action **action)
{
	static const char *const names[] = { "list", "label", "rm", "merge", "gc", "verify", NULL };
	const char *closest;
	struct hp_error *error;

	for (size_t i = 0; i < HP_ARRAY_COUNT(actions); i++) {
		if (strcmp(actions[i].name, name) == 0) {
			*action = &actions[i];
			return NULL;
		}
	}
	closest = hp_cli_closest(name, names);
	error = hp_error_create(HP_ERROR_USAGE, "there is no 'hpcprof epochs %s'", name);
	if (closest)
		return hp_error_advise(error, "did you mean '%s'?", closest);
	return hp_error_advise(error, "it is one of: list label rm merge gc verify");
}

/* Reports options that the action would ignore. */
static struct hp_error *check_usage(const struct options *options, const struct action *action)
{
	size_t arguments = options->word_count ? options->word_count - 1 : 0;

	for (size_t i = 1; i < HP_ARRAY_COUNT(options->given); i++) {
		const char *given = options->given[i];
		const char *found = given ? strstr(action->takes, given) : NULL;

		if (given && (!found || found[strlen(given)] != ' '))
			return hp_error_create(HP_ERROR_USAGE,
					       "'hpcprof epochs %s' does not have the option --%s",
					       action->name, given);
	}
	if (arguments < action->least)
		return hp_error_advise(hp_error_create(HP_ERROR_USAGE,
						       "'hpcprof epochs %s' needs an EPOCH",
						       action->name),
				       "see: hpcprof epochs list");
	if (arguments > action->most)
		return hp_error_create(HP_ERROR_USAGE, "'hpcprof epochs %s' does not take '%s'",
				       action->name, options->words[action->most + 1]);
	return NULL;
}

static int run(int argc, char **argv)
{
	struct options options = { .format = EPOCH_FORMAT_TEXT };
	const struct action *action = &actions[0];
	struct hp_error *error = NULL;
	struct hp_db *db = NULL;
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
		return HP_EXIT_USAGE;
	if (options.word_count)
		error = find_action(options.words[0], &action);
	if (!error)
		error = check_usage(&options, action);
	if (!error)
		error = hp_db_open(options.db, false, &db);
	if (error)
		return hp_cli_fail(error);
	hp_db_on_warning(db, hp_cli_tell, NULL);
	status = action->run(&options, db);
	hp_db_close(db);
	return status;
}

const struct hp_command hp_command_epochs = {
	.name = "epochs",
	.summary = "List, label, remove, merge and verify the epochs of the database",
	.argp = &argp,
	.run = run,
};
