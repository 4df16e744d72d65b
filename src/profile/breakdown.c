/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "breakdown.h"

#include <hpcprof/base/hash.h>

#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- what is asked for -------------------------------------------------------------------------- */

static const struct {
	const char *word;
	const char *of_perf; /* the same word in perf, or an alias */
	enum hp_breakdown_key key;
} words[] = {
	{ "comm", "command", HP_BY_COMM },	 { "pid", "process", HP_BY_PID },
	{ "tid", "thread", HP_BY_TID },		 { "cpu", NULL, HP_BY_CPU },
	{ "image", "dso", HP_BY_IMAGE },	 { "procedure", "symbol", HP_BY_PROCEDURE },
	{ "procedure", "sym", HP_BY_PROCEDURE }, { "line", "srcline", HP_BY_LINE },
};

static bool is_word(const char *text, size_t length, const char *word)
{
	return word && strlen(word) == length && strncmp(text, word, length) == 0;
}

/* Index of the word in the table; HP_ARRAY_COUNT(words): none. */
static size_t find_word(const char *word, size_t length)
{
	size_t i = 0;

	while (i < HP_ARRAY_COUNT(words) && !is_word(word, length, words[i].word) &&
	       !is_word(word, length, words[i].of_perf))
		i++;
	return i;
}

static struct hp_error *add_key(struct hp_profiles *profiles, const char *word, size_t length)
{
	static const char advice[] =
		"the keys are comm, pid (process), tid (thread), cpu, image (dso), procedure "
		"(symbol) and line (srcline), separated by commas";
	struct hp_breakdown *by = &profiles->by;
	size_t found = find_word(word, length);

	if (found == HP_ARRAY_COUNT(words))
		return hp_error_advise(hp_error_create(HP_ERROR_USAGE, "--by has no key '%.*s'",
						       (int)length, word),
				       "%s", advice);
	if (!by->has[words[found].key])
		by->keys[by->count++] = words[found].key;
	by->has[words[found].key] = true;
	return NULL;
}

struct hp_error *breakdown_parse(struct hp_profiles *profiles)
{
	const char *word = profiles->options->by;
	struct hp_error *error = NULL;

	while (word && !error) {
		size_t length = strcspn(word, ",");

		error = add_key(profiles, word, length);
		word = word[length] ? word + length + 1 : NULL;
	}
	return error;
}

bool breakdown_needs_shares(const struct hp_profiles *profiles)
{
	return profiles->by.has[HP_BY_TID] || profiles->by.has[HP_BY_CPU];
}

static struct hp_error *not_kept_apart(const char *asked, const char *stamp, const char *what,
				       const char *option)
{
	return hp_error_advise(
		hp_error_create(HP_ERROR_INSUFFICIENT, "%s: epoch %s does not distinguish %s",
				asked, stamp, what),
		"record it again, and add %s to the options of hpcprof record", option);
}

/* Names the key as the user has written it. */
static struct hp_error *not_kept_by(const struct hp_profiles *profiles, enum hp_breakdown_key key,
				    const char *stamp, const char *what, const char *option)
{
	const char *word = profiles->options->by;
	size_t length = strcspn(word, ",");
	char asked[32];

	while (words[find_word(word, length)].key != key) {
		word += length + 1;
		length = strcspn(word, ",");
	}
	snprintf(asked, sizeof(asked), "--by %.*s", (int)length, word);
	return not_kept_apart(asked, stamp, what, option);
}

struct hp_error *breakdown_check(const struct hp_profiles *profiles, const char *stamp,
				 const struct hp_epoch_meta *meta)
{
	const struct hp_breakdown *by = &profiles->by;

	if (profiles->options->pid && !meta->per_process)
		return not_kept_apart("--pid", stamp, "processes", "--per-process");
	if (by->has[HP_BY_PID] && !meta->per_process)
		return not_kept_by(profiles, HP_BY_PID, stamp, "processes", "--per-process");
	if (by->has[HP_BY_TID] && !meta->per_thread)
		return not_kept_by(profiles, HP_BY_TID, stamp, "threads", "--per-thread");
	if (by->has[HP_BY_CPU] && !meta->per_cpu)
		return not_kept_by(profiles, HP_BY_CPU, stamp, "CPUs", "--per-cpu");
	return NULL;
}

/* --- processes, threads, CPUs ------------------------------------------------------------------- */

struct group_key {
	const char *command; /* interned */
	uint32_t pid;
	uint32_t tid;
	uint64_t cpu;
};

struct group_entry {
	UT_hash_handle hh;
	struct group_key key;
	uint32_t number;
};

/* A thread may have had several names, or none at first. */
static struct hp_error *name_group(struct hp_profiles *profiles, struct hp_loaded_group *group,
				   const struct hp_stratum *stratum)
{
	uint64_t samples = hp_stratum_samples(stratum);

	if (!stratum->thread || !profiles->by.has[HP_BY_TID] ||
	    (group->thread && samples <= group->samples))
		return NULL;
	group->samples = samples;
	group->thread = hp_profiles_intern(profiles, stratum->thread);
	return group->thread ? NULL : hp_error_create_no_memory();
}

static struct hp_error *add_group(struct hp_profiles *profiles, const struct group_key *key,
				  struct group_entry **added)
{
	const struct hp_loaded_group group = {
		.command = key->command, .pid = key->pid, .tid = key->tid, .cpu = (uint32_t)key->cpu
	};
	struct group_entry *entry = hp_arena_alloc(profiles->arena, sizeof(*entry));

	if (!entry || profiles->groups.count >= UINT32_MAX ||
	    !hp_vector_push(&profiles->groups, group))
		return hp_error_create_no_memory();
	entry->number = (uint32_t)profiles->groups.count - 1;
	memcpy(&entry->key, key, sizeof(*key));
	HASH_ADD(hh, profiles->group_index, key, sizeof(entry->key), entry);
	*added = entry;
	return entry->hh.tbl ? NULL : hp_error_create_no_memory();
}

struct hp_error *breakdown_group(struct hp_profiles *profiles, const struct hp_stratum *stratum,
				 uint32_t *group)
{
	const struct hp_breakdown *by = &profiles->by;
	struct group_entry *entry;
	struct group_key key;
	struct hp_error *error = NULL;

	*group = 0;
	if (!by->has[HP_BY_COMM] && !by->has[HP_BY_PID] && !breakdown_needs_shares(profiles))
		return NULL;
	memset(&key, 0, sizeof(key));
	key.command = hp_profiles_intern(profiles, by->has[HP_BY_COMM] ? stratum->command : "");
	key.pid = by->has[HP_BY_PID] ? stratum->pid : 0;
	key.tid = by->has[HP_BY_TID] ? stratum->tid : 0;
	key.cpu = by->has[HP_BY_CPU] ? stratum->cpu : 0;
	if (!key.command)
		return hp_error_create_no_memory();
	HASH_FIND(hh, profiles->group_index, &key, sizeof(key), entry);
	if (!entry)
		error = add_group(profiles, &key, &entry);
	if (error)
		return error;
	*group = entry->number;
	return name_group(profiles, &profiles->groups.at[*group], stratum);
}

void breakdown_forget(struct hp_profiles *profiles)
{
	HASH_CLEAR(hh, profiles->group_index);
}
