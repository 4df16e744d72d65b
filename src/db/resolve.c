/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the epochs that an argument means: a range A..B, @latest or @-N, a stamp, a label, or the
 * beginning of exactly one stamp, in this order.
 *
 * If several epochs have the label, the error lists them: a report of "base" must not use the
 * newest of them, or their sum, without a word. Commands that keep epochs apart get all of them.
 */
#include "contents.h"
#include "database.h"

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <stdio.h>
#include <string.h>

enum { LISTED_AT_MOST = 10 };

struct candidate {
	char *stamp; /* borrowed from the list of stamps */
	char *label;
	char *problem;	   /* why it cannot be read; NULL: it can be */
	bool is_forbidden; /* the problem: we may not read it */
	bool is_passed_over;
};

struct resolving {
	const struct hp_db *db;
	struct candidate *all; /* the oldest first */
	size_t count;
	bool *chosen;
	bool labels_mean_all; /* a label means all epochs that have it, not one */
};

/* --- what there is ------------------------------------------------------------------------ */

/* False: out of memory. */
static bool look_at(const struct hp_db *db, struct candidate *candidate)
{
	struct hp_contents contents = { 0 };
	struct hp_error *problem;
	int directory = -1;

	problem = hp_directory_open(db->fd, candidate->stamp, &directory);
	if (!problem) {
		problem = hp_contents_read_heads(directory, &contents);
		close(directory);
	}
	candidate->label = hp_steal(contents.meta.label);
	hp_contents_clear(&contents);
	if (!problem)
		return true;
	candidate->is_forbidden = problem->class == HP_ERROR_NOT_PERMITTED;
	candidate->problem = strdup(problem->message);
	hp_error_destroy(problem);
	return candidate->problem;
}

static struct hp_error *survey(struct resolving *resolving)
{
	char **stamps;
	size_t count;
	struct hp_error *error = hp_db_stamps(resolving->db, &stamps, &count);

	if (error)
		return error;
	resolving->all = calloc(count + 1, sizeof(*resolving->all));
	resolving->chosen = calloc(count + 1, sizeof(*resolving->chosen));
	if (!resolving->all || !resolving->chosen) {
		hp_db_free_stamps(stamps, count);
		return hp_error_create_no_memory();
	}
	resolving->count = count;
	for (size_t i = 0; i < count; i++)
		resolving->all[i].stamp = stamps[i];
	free(stamps);
	for (size_t i = 0; i < count; i++)
		if (!look_at(resolving->db, &resolving->all[i]))
			return hp_error_create_no_memory();
	return NULL;
}

static void free_resolving(struct resolving *resolving)
{
	for (size_t i = 0; resolving->all && i < resolving->count; i++) {
		free(resolving->all[i].stamp);
		free(resolving->all[i].label);
		free(resolving->all[i].problem);
	}
	free(resolving->all);
	free(resolving->chosen);
}

/* --- errors that list what there is ------------------------------------------------------- */

static void write_text(struct hp_writer *text, const char *part)
{
	hp_write_bytes(text, part, strlen(part));
}

/* Lists those that `keep` selects, the newest first: "A (label), B, ... and older ones". */
static char *list_epochs(const struct resolving *resolving,
			 bool (*keep)(const struct candidate *, const char *), const char *text)
{
	struct hp_writer list = { 0 };
	size_t listed = 0;
	size_t left = 0;

	for (size_t i = resolving->count; i-- > 0;) {
		const struct candidate *candidate = &resolving->all[i];

		if (!keep(candidate, text))
			continue;
		if (listed == LISTED_AT_MOST) {
			left++;
			continue;
		}
		write_text(&list, listed++ ? ", " : "");
		write_text(&list, candidate->stamp);
		if (candidate->label) {
			write_text(&list, " (");
			write_text(&list, candidate->label);
			write_text(&list, ")");
		}
	}
	if (left)
		write_text(&list, " and older ones");
	hp_write_u8(&list, 0);
	if (!list.failed)
		return (char *)list.bytes;
	hp_writer_free(&list);
	return NULL;
}

static bool any(const struct candidate *candidate, const char *text)
{
	(void)candidate;
	(void)text;
	return true;
}

static bool has_label(const struct candidate *candidate, const char *label)
{
	return candidate->label && strcmp(candidate->label, label) == 0;
}

static bool starts_with(const struct candidate *candidate, const char *text)
{
	return strncmp(candidate->stamp, text, strlen(text)) == 0;
}

static bool is_newest_of_label(const struct resolving *resolving, size_t at)
{
	for (size_t i = at + 1; i < resolving->count; i++)
		if (has_label(&resolving->all[i], resolving->all[at].label))
			return false;
	return true;
}

/* "; labels: A, B, ..." if not all epochs are listed anyway, otherwise "". NULL: out of memory. */
static char *list_labels(const struct resolving *resolving)
{
	struct hp_writer list = { 0 };
	size_t listed = 0;
	size_t i = resolving->count > LISTED_AT_MOST ? resolving->count : 0;

	while (i-- > 0 && listed <= LISTED_AT_MOST) {
		if (!resolving->all[i].label || !is_newest_of_label(resolving, i))
			continue;
		write_text(&list, listed ? ", " : "; labels: ");
		write_text(&list, listed++ < LISTED_AT_MOST ? resolving->all[i].label : "...");
	}
	hp_write_u8(&list, 0);
	if (!list.failed)
		return (char *)list.bytes;
	hp_writer_free(&list);
	return NULL;
}

static struct hp_error *nothing_there(const struct resolving *resolving)
{
	return hp_error_advise(hp_error_create(HP_ERROR_NOT_FOUND,
					       "the profile database %s holds no epochs",
					       resolving->db->path),
			       "record one: hpcprof record -- COMMAND");
}

static struct hp_error *not_found(const struct resolving *resolving, const char *text)
{
	_cleanup_free_ char *list = NULL;
	_cleanup_free_ char *labels = NULL;

	if (!resolving->count)
		return nothing_there(resolving);
	list = list_epochs(resolving, any, NULL);
	labels = list_labels(resolving);
	return hp_error_advise(hp_error_create(HP_ERROR_NOT_FOUND, "no epoch '%s'; there are: %s%s",
					       text, list ? list : "others", labels ? labels : ""),
			       "give an epoch as its stamp, its label, @latest, @-1 (the one "
			       "before), or a range A..B; hpcprof epochs list shows them");
}

static struct hp_error *ambiguous(const struct resolving *resolving, const char *text,
				  bool (*keep)(const struct candidate *, const char *))
{
	_cleanup_free_ char *list = list_epochs(resolving, keep, text);

	return hp_error_advise(hp_error_create(HP_ERROR_USAGE, "'%s' names several epochs: %s",
					       text, list ? list : ""),
			       "give the stamp of one of them, or the stamps of all");
}

/* --- one epoch ---------------------------------------------------------------------------- */

/* Finds the only epoch that `matches` selects. *found is unchanged if there is none. */
static struct hp_error *find_only(const struct resolving *resolving, const char *text,
				  bool (*keep)(const struct candidate *, const char *), size_t *at,
				  bool *found)
{
	for (size_t i = 0; i < resolving->count; i++) {
		if (!keep(&resolving->all[i], text))
			continue;
		if (*found)
			return ambiguous(resolving, text, keep);
		*found = true;
		*at = i;
	}
	return NULL;
}

/* Counts back from the newest readable epoch. Epochs without samples count: the user means the
 * latest recording, and should learn that it is empty. */
static struct hp_error *find_latest(const struct resolving *resolving, const char *text,
				    uint64_t back, size_t *at)
{
	uint64_t left = back;

	if (!resolving->count)
		return nothing_there(resolving);
	for (size_t i = resolving->count; i-- > 0;) {
		if (resolving->all[i].problem) {
			resolving->all[i].is_passed_over = true;
			continue;
		}
		if (!left--) {
			*at = i;
			return NULL;
		}
	}
	if (back)
		return not_found(resolving, text);
	/* None can be read; opening the newest one tells why. */
	for (size_t i = 0; i < resolving->count; i++)
		resolving->all[i].is_passed_over = false;
	*at = resolving->count - 1;
	return NULL;
}

static bool exact_stamp(const struct candidate *candidate, const char *stamp)
{
	return strcmp(candidate->stamp, stamp) == 0;
}

static struct hp_error *find_one(const struct resolving *resolving, const char *text, size_t *at)
{
	static bool (*const ways[])(const struct candidate *, const char *) = {
		exact_stamp,
		has_label,
		starts_with,
	};
	uint64_t back;

	if (strcmp(text, "@latest") == 0)
		return find_latest(resolving, text, 0, at);
	if (strncmp(text, "@-", 2) == 0 && hp_parse_u64(text + 2, &back))
		return find_latest(resolving, text, back, at);
	for (size_t i = 0; *text && i < HP_ARRAY_COUNT(ways); i++) {
		bool found = false;
		struct hp_error *error = find_only(resolving, text, ways[i], at, &found);

		if (error || found)
			return error;
	}
	return not_found(resolving, text);
}

/* --- arguments ---------------------------------------------------------------------------- */

/* An open end means the oldest or the newest epoch. */
static struct hp_error *choose_range(struct resolving *resolving, const char *argument,
				     const char *dots)
{
	_cleanup_free_ char *from = strndup(argument, (size_t)(dots - argument));
	const char *to = dots + 2;
	struct hp_error *error = NULL;
	size_t first = 0;
	size_t last = resolving->count ? resolving->count - 1 : 0;

	if (!from)
		return hp_error_create_no_memory();
	if (!resolving->count)
		return nothing_there(resolving);
	if (*from)
		error = find_one(resolving, from, &first);
	if (!error && *to)
		error = find_one(resolving, to, &last);
	if (error)
		return hp_error_wrap(error, "range '%s'", argument);
	if (first > last)
		return hp_error_advise(hp_error_create(HP_ERROR_USAGE,
						       "range '%s' runs backwards: %s is newer "
						       "than %s",
						       argument, resolving->all[first].stamp,
						       resolving->all[last].stamp),
				       "name the older epoch first: %s..%s", to, from);
	for (size_t i = first; i <= last; i++)
		resolving->chosen[i] = true;
	return NULL;
}

/* An unreadable epoch may have the label, too, so it is unknown which epochs do. Epochs of other
 * users do not count. */
static struct hp_error *choose_label(struct resolving *resolving, const char *label, bool *found)
{
	const char *unread = NULL;

	*found = false;
	for (size_t i = 0; i < resolving->count; i++) {
		if (resolving->all[i].problem && !resolving->all[i].is_forbidden)
			unread = resolving->all[i].stamp;
		if (!has_label(&resolving->all[i], label))
			continue;
		resolving->chosen[i] = true;
		*found = true;
	}
	if (!*found || !unread)
		return NULL;
	return hp_error_advise(
		hp_error_create(
			HP_ERROR_DAMAGED,
			"epoch %s cannot be read, so it is not known whether its label is '%s'",
			unread, label),
		"hpcprof epochs verify shows what is wrong with it; hpcprof epochs rm %s removes "
		"it; or give stamps instead",
		unread);
}

static struct hp_error *choose(struct resolving *resolving, const char *argument)
{
	const char *dots = strstr(argument, "..");
	struct hp_error *error;
	size_t at = 0;

	if (dots)
		return choose_range(resolving, argument, dots);
	if (resolving->labels_mean_all) {
		bool found;

		error = choose_label(resolving, argument, &found);
		if (error || found)
			return error;
	}
	error = find_one(resolving, argument, &at);
	if (!error)
		resolving->chosen[at] = true;
	return error;
}

static struct hp_error *take_chosen(const struct resolving *resolving, char ***stamps,
				    size_t *count)
{
	char **list = calloc(resolving->count + 1, sizeof(*list));
	size_t taken = 0;

	if (!list)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < resolving->count; i++) {
		if (!resolving->chosen[i])
			continue;
		list[taken] = strdup(resolving->all[i].stamp);
		if (!list[taken]) {
			hp_db_free_stamps(list, taken);
			return hp_error_create_no_memory();
		}
		taken++;
	}
	*stamps = list;
	*count = taken;
	return NULL;
}

/* Warns once, even if it is skipped several times. */
static void warn_of_passed_over(struct hp_db *db, const struct resolving *resolving)
{
	const struct candidate *newest = NULL;
	size_t count = 0;
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ char *advice = NULL;
	char others[48] = "";

	for (size_t i = 0; i < resolving->count; i++)
		if (resolving->all[i].is_passed_over) {
			newest = &resolving->all[i];
			count++;
		}
	if (!db->warn || !newest || (db->warned_of && strcmp(db->warned_of, newest->stamp) == 0))
		return;
	if (count > 1)
		snprintf(others, sizeof(others), " (and %zu older)", count - 1);
	if (asprintf(&message, "passed over epoch %s%s, which cannot be read: %s", newest->stamp,
		     others, newest->problem) < 0)
		message = NULL;
	if (asprintf(&advice,
		     "hpcprof epochs verify shows what is wrong with it; hpcprof epochs rm "
		     "%s removes it",
		     newest->stamp) < 0)
		advice = NULL;
	if (message && advice)
		db->warn(message, newest->is_forbidden ? NULL : advice, db->warn_context);
	free(db->warned_of);
	db->warned_of = strdup(newest->stamp);
}

static struct hp_error *resolve(struct hp_db *db, char *const *arguments, size_t argument_count,
				bool labels_mean_all, char ***stamps, size_t *count)
{
	struct resolving resolving = { .db = db, .labels_mean_all = labels_mean_all };
	struct hp_error *error = survey(&resolving);

	if (!error && !argument_count)
		error = choose(&resolving, "@latest");
	for (size_t i = 0; i < argument_count && !error; i++)
		error = choose(&resolving, arguments[i]);
	if (!error)
		error = take_chosen(&resolving, stamps, count);
	if (!error)
		warn_of_passed_over(db, &resolving);
	free_resolving(&resolving);
	return error;
}

struct hp_error *hp_db_resolve(struct hp_db *db, char *const *arguments, size_t argument_count,
			       char ***stamps, size_t *count)
{
	return resolve(db, arguments, argument_count, false, stamps, count);
}

struct hp_error *hp_db_resolve_apart(struct hp_db *db, char *const *arguments,
				     size_t argument_count, char ***stamps, size_t *count)
{
	return resolve(db, arguments, argument_count, true, stamps, count);
}
