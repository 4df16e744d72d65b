/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "contents.h"
#include "database.h"
#include "names.h"

#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct verifying {
	const char *stamp;
	struct hp_verifying *result;
	bool out_of_memory;
};

static void tell(struct verifying *verifying, enum hp_verify_finding finding, char *text)
{
	verifying->result->counts[finding]++;
	if (!text)
		verifying->out_of_memory = true;
	else if (verifying->result->each)
		verifying->result->each(finding, text, verifying->result->context);
	free(text);
}

static enum hp_verify_finding finding_of(struct verifying *verifying,
					 const struct hp_error *problem)
{
	if (problem->errno_value == ENOMEM)
		verifying->out_of_memory = true;
	return problem->class == HP_ERROR_NOT_PERMITTED ? HP_VERIFY_UNREAD : HP_VERIFY_PROBLEM;
}

/* "STAMP/FILE: offset 0x40: …". */
static struct hp_error *note(struct hp_error *problem, void *context)
{
	struct verifying *verifying = context;
	char *text;

	if (asprintf(&text, "%s/%s", verifying->stamp, problem->message) < 0)
		text = NULL;
	tell(verifying, finding_of(verifying, problem), text);
	hp_error_destroy(problem);
	return NULL;
}

static void note_any(struct verifying *verifying, struct hp_error *problem)
{
	/* note() always goes on. */
	if (problem)
		hp_error_destroy(note(problem, verifying));
}

/* --- names that stand for an image -------------------------------------------------------- */

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

struct expected_names {
	HP_VECTOR(char *) names;
};

static bool expect(struct expected_names *expected, char *name)
{
	if (name && hp_vector_push(&expected->names, name))
		return true;
	free(name);
	return false;
}

/* The files beside the profiles that the index explains, sorted. */
static bool list_expected(const struct hp_index *index, struct expected_names *expected)
{
	for (size_t i = 0; i < index->count; i++) {
		const struct hp_index_entry *entry = &index->entries[i];

		if (!expect(expected, hp_symbols_name(&entry->id)))
			return false;
		if (!expect(expected, hp_excerpt_name(&entry->id)))
			return false;
		if (entry->has_bytes && !expect(expected, hp_bytes_name(&entry->id)))
			return false;
	}
	if (expected->names.count)
		qsort(expected->names.at, expected->names.count, sizeof(char *), compare_names);
	return true;
}

static bool is_expected(const struct expected_names *expected, const char *name)
{
	return expected->names.count && bsearch(&name, expected->names.at, expected->names.count,
						sizeof(char *), compare_names);
}

/* --- files -------------------------------------------------------------------------------- */

static void check_evidence(struct verifying *verifying, int directory)
{
	struct hp_window_evidence evidence;
	struct hp_error *lost;

	note_any(verifying, hp_contents_read_evidence(directory, &evidence, NULL, &lost));
	note_any(verifying, lost);
	hp_window_evidence_clear(&evidence);
}

static void check_paths(struct verifying *verifying, int directory)
{
	struct hp_paths paths;

	note_any(verifying, hp_contents_read_paths(directory, &paths, NULL));
	hp_paths_clear(&paths);
}

static void check_kept(struct verifying *verifying, int directory, const struct hp_index *index)
{
	for (size_t i = 0; i < index->count; i++) {
		struct hp_symbol_file symbols;
		struct hp_excerpt_file excerpt;

		note_any(verifying,
			 hp_contents_read_symbols(directory, &index->entries[i].id, &symbols));
		note_any(verifying, hp_steal(symbols.lost));
		hp_symbol_file_clear(&symbols);
		note_any(verifying,
			 hp_contents_read_excerpt(directory, &index->entries[i].id, &excerpt));
		note_any(verifying, hp_steal(excerpt.lost));
		hp_excerpt_file_clear(&excerpt);
		if (index->entries[i].has_bytes)
			note_any(verifying, hp_contents_check_bytes(directory, &index->entries[i]));
	}
}

/* Symbols, excerpts and bytes are written before the index that explains them, so an unfinished
 * epoch may have more of them. */
static bool may_be_early(const char *name, bool complete)
{
	return !complete &&
	       (hp_name_has_suffix(name, ".sym") || hp_name_has_suffix(name, ".code") ||
		hp_name_has_suffix(name, ".bytes"));
}

static struct hp_error *check_stray(int directory, const char *name, bool complete,
				    const struct expected_names *expected)
{
	struct stat status;

	if (strcmp(name, HP_LOCK_NAME) == 0) {
		if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode))
			return hp_error_create(HP_ERROR_DAMAGED, "%s: not a regular file", name);
		return status.st_size ? hp_error_create(HP_ERROR_DAMAGED,
							"%s: offset 0x0: it holds bytes", name)
				      : NULL;
	}
	/* Profiles have been read, with their keys. */
	if (name[0] == '.' || strcmp(name, HP_META_NAME) == 0 || strcmp(name, HP_INDEX_NAME) == 0 ||
	    strcmp(name, HP_EVIDENCE_NAME) == 0 || strcmp(name, HP_PATHS_NAME) == 0 ||
	    hp_name_has_suffix(name, ".prof") || is_expected(expected, name) ||
	    may_be_early(name, complete))
		return NULL;
	return hp_error_create(HP_ERROR_DAMAGED, "%s: not a file of this epoch", name);
}

static struct hp_error *check_strays(struct verifying *verifying, int directory,
				     const struct hp_contents *contents)
{
	struct expected_names expected = { 0 };
	char **names;
	size_t count;
	struct hp_error *error = hp_directory_list(directory, &names, &count);

	if (error)
		return error;
	if (!list_expected(&contents->index, &expected))
		error = hp_error_create_no_memory();
	for (size_t i = 0; i < count && !error; i++)
		note_any(verifying,
			 check_stray(directory, names[i], contents->meta.complete, &expected));
	hp_directory_free_list(names, count);
	for (size_t i = 0; i < expected.names.count; i++)
		free(expected.names.at[i]);
	hp_vector_free(&expected.names);
	return error;
}

/* --- epochs ------------------------------------------------------------------------------- */

static void say_unsummed(struct verifying *verifying)
{
	char *text;

	if (asprintf(&text,
		     "%s: finished by an older hpcprof, which stored no digests of single files: "
		     "only samples were compared with " HP_META_NAME,
		     verifying->stamp) < 0)
		text = NULL;
	tell(verifying, HP_VERIFY_UNSUMMED, text);
}

/* Takes over `bytes`. */
static struct hp_error *decode_alone(const char *name, uint8_t *bytes, size_t size)
{
	struct hp_symbol_file symbols;
	struct hp_excerpt_file excerpt;
	struct hp_profile profile;
	struct hp_error *error = NULL;

	if (hp_name_has_suffix(name, ".prof")) {
		error = hp_profile_decode(bytes, size, &profile, NULL, NULL);
		hp_profile_clear(&profile);
	} else if (hp_name_has_suffix(name, ".sym")) {
		error = hp_symbols_decode(bytes, size, &symbols);
		if (!error)
			error = hp_steal(symbols.lost);
		hp_symbol_file_clear(&symbols);
	} else if (hp_name_has_suffix(name, ".code")) {
		error = hp_excerpt_decode(bytes, size, &excerpt);
		if (!error)
			error = hp_steal(excerpt.lost);
		hp_excerpt_file_clear(&excerpt);
	} else {
		free(bytes);
	}
	return hp_error_wrap(error, "%s", name);
}

/* Without meta or index nothing can be judged but each file for itself. */
static struct hp_error *verify_alone(struct verifying *verifying, int directory)
{
	char **names;
	size_t count;
	struct hp_error *error = hp_directory_list(directory, &names, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		uint8_t *bytes = NULL;
		size_t size = 0;

		if (names[i][0] == '.' || strcmp(names[i], HP_META_NAME) == 0 ||
		    strcmp(names[i], HP_INDEX_NAME) == 0 ||
		    strcmp(names[i], HP_EVIDENCE_NAME) == 0 || strcmp(names[i], HP_PATHS_NAME) == 0)
			continue;
		error = hp_contents_read_file(directory, names[i], &bytes, &size, NULL);
		note_any(verifying, error ? error : decode_alone(names[i], bytes, size));
	}
	hp_directory_free_list(names, count);
	check_evidence(verifying, directory);
	check_paths(verifying, directory);
	return NULL;
}

static struct hp_error *verify_contents(struct verifying *verifying, int directory)
{
	struct hp_contents contents;
	struct hp_error *error = hp_contents_read(directory, note, verifying, &contents);

	if (error && error->class == HP_ERROR_NOT_PERMITTED)
		return error;
	if (error) {
		note_any(verifying, error);
		return verify_alone(verifying, directory);
	}
	if (contents.meta.complete && !contents.files.count && !contents.index.meta.are_known)
		say_unsummed(verifying);
	check_kept(verifying, directory, &contents.index);
	check_evidence(verifying, directory);
	check_paths(verifying, directory);
	error = check_strays(verifying, directory, &contents);
	hp_contents_clear(&contents);
	return error;
}

static void verify_epoch(const struct hp_db *db, struct verifying *verifying)
{
	int directory = -1;
	struct hp_error *error = hp_directory_open(db->fd, verifying->stamp, &directory);

	if (error) {
		tell(verifying, finding_of(verifying, error), strdup(error->message));
		hp_error_destroy(error);
		return;
	}
	note_any(verifying, verify_contents(verifying, directory));
	close(directory);
}

struct hp_error *hp_db_verify(struct hp_db *db, char *const *stamps, size_t count,
			      struct hp_verifying *result)
{
	struct verifying verifying = { .result = result };

	for (size_t i = 0; i < HP_VERIFY_FINDINGS; i++)
		result->counts[i] = 0;
	for (size_t i = 0; i < count; i++) {
		verifying.stamp = stamps[i];
		if (!hp_stamp_is_valid(stamps[i]))
			return hp_error_create(HP_ERROR_USAGE, "'%s' is not the stamp of an epoch",
					       stamps[i]);
		verify_epoch(db, &verifying);
		if (verifying.out_of_memory)
			return hp_error_create_no_memory();
	}
	return NULL;
}
