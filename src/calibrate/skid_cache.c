/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of calibrations: skid.json in the user's cache, an object with `schema` and
 * `calibrations`, a list of objects with `cpu`, `event`, `skid_instructions` and `date`. */
#include "tuning.h"

#include <hpcprof/base/cache.h>
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/calibrate/skid.h>

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char file_name[] = "skid.json";
static const char schema[] = "hpcprof-skid/1";
enum { DATE_BYTES = 11 };

static void clear_entry(struct hp_skid_entry *entry)
{
	free(entry->cpu);
	free(entry->key);
	free(entry->date);
	*entry = (struct hp_skid_entry){ 0 };
}

void hp_skid_entries_clear(struct hp_skid_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		clear_entry(&entries->at[i]);
	hp_vector_free(entries);
}

/* --- keys ------------------------------------------------------------------------------------- */

char *hp_skid_key(const struct hp_event *event)
{
	static const char modifiers[] = "ukhpPDGHIe";
	const char *colon = strrchr(event->name, ':');
	size_t length = strlen(event->name);
	char *key;

	if (colon && strspn(colon + 1, modifiers) == strlen(colon + 1))
		length = (size_t)(colon - event->name);
	if (asprintf(&key, "%.*s%.*s", (int)length, event->name,
		     event->precise ? 1 + (event->precise & 3) : 0, ":ppp") < 0)
		return NULL;
	return key;
}

static struct hp_skid_entry *find(const struct hp_skid_entries *entries, const char *cpu,
				  const char *key)
{
	for (size_t i = 0; i < entries->count; i++) {
		if (strcmp(entries->at[i].cpu, cpu) == 0 && strcmp(entries->at[i].key, key) == 0)
			return &entries->at[i];
	}
	return NULL;
}

const struct hp_skid_entry *hp_skid_find(const struct hp_skid_entries *entries,
					 const struct hp_cpu *cpu, const struct hp_event *event)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_free_ char *key = NULL;

	if (!entries->count || !hp_cpu_is_known(cpu))
		return NULL;
	name = hp_cpu_name(cpu);
	key = hp_skid_key(event);
	return name && key ? find(entries, name, key) : NULL;
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* YYYY-MM-DD, since it is shown to users. */
static bool is_date(const char *text)
{
	static const char pattern[] = "0000-00-00";
	size_t i = 0;

	for (; text && pattern[i]; i++) {
		if (pattern[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9')
			return false;
	}
	return text && !text[i];
}

static struct hp_error *decode_entry(const json_t *object, struct hp_skid_entries *entries)
{
	const char *cpu = json_string_value(json_object_get(object, "cpu"));
	const char *key = json_string_value(json_object_get(object, "event"));
	const char *date = json_string_value(json_object_get(object, "date"));
	const json_t *number = json_object_get(object, "skid_instructions");
	json_int_t instructions = json_integer_value(number);
	struct hp_skid_entry entry;

	if (!cpu || !key || !is_date(date) || !json_is_integer(number) || instructions < 0 ||
	    instructions > HP_SKID_LIMIT)
		return hp_error_create(HP_ERROR_DAMAGED, "a calibration is impossible");
	if (find(entries, cpu, key))
		return hp_error_create(HP_ERROR_DAMAGED, "a calibration is listed twice");
	entry = (struct hp_skid_entry){
		.cpu = strdup(cpu),
		.key = strdup(key),
		.instructions = (uint32_t)instructions,
		.date = strdup(date),
	};
	if (entry.cpu && entry.key && entry.date && hp_vector_push(entries, entry))
		return NULL;
	clear_entry(&entry);
	return hp_error_create_no_memory();
}

static struct hp_error *decode_root(const json_t *root, struct hp_skid_entries *entries)
{
	const char *found = json_string_value(json_object_get(root, "schema"));
	const json_t *list = json_object_get(root, "calibrations");
	struct hp_error *error = NULL;

	if (!found || strcmp(found, schema) != 0 || !json_is_array(list))
		return hp_error_create(HP_ERROR_DAMAGED, "no calibrations of the skid");
	for (size_t i = 0; i < json_array_size(list) && !error; i++)
		error = decode_entry(json_array_get(list, i), entries);
	return error;
}

struct hp_error *hp_skid_decode(const void *bytes, size_t size, struct hp_skid_entries *entries)
{
	json_t *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, NULL);
	struct hp_error *error;

	*entries = (struct hp_skid_entries){ 0 };
	error = root ? decode_root(root, entries) : hp_error_create(HP_ERROR_DAMAGED, "not JSON");
	if (error)
		hp_skid_entries_clear(entries);
	json_decref(root);
	return error;
}

struct hp_error *hp_skid_encode(const struct hp_skid_entries *entries, char **text)
{
	json_t *list = json_array();
	json_t *root;
	int failed = 0;

	for (size_t i = 0; i < entries->count; i++) {
		const struct hp_skid_entry *entry = &entries->at[i];

		failed |= json_array_append_new(
			list, json_pack("{s:s, s:s, s:i, s:s}", "cpu", entry->cpu, "event",
					entry->key, "skid_instructions", (int)entry->instructions,
					"date", entry->date));
	}
	root = json_pack("{s:s, s:o}", "schema", schema, "calibrations", list);
	*text = failed || !root ? NULL : json_dumps(root, JSON_INDENT(1));
	json_decref(root);
	return *text ? NULL : hp_error_create_no_memory();
}

/* --- the file --------------------------------------------------------------------------------- */

struct hp_error *hp_skid_load(struct hp_skid_entries *entries)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size = 0;
	struct hp_error *error = hp_cache_read(file_name, SKID_FILE_LIMIT_BYTES, &bytes, &size);

	*entries = (struct hp_skid_entries){ 0 };
	if (error && error->class == HP_ERROR_NOT_FOUND) {
		hp_error_destroy(error);
		return NULL;
	}
	if (!error)
		error = hp_skid_decode(bytes, size, entries);
	return hp_error_wrap(error, "reading the calibrated skids (%s in the cache)", file_name);
}

static struct hp_error *set_entry(struct hp_skid_entries *entries, char *cpu,
				  const struct hp_skid *skid)
{
	struct hp_skid_entry *entry = find(entries, cpu, skid->key);
	struct hp_skid_entry fresh = {
		.cpu = cpu,
		.key = strdup(skid->key),
		.instructions = skid->instructions,
		.date = malloc(DATE_BYTES),
	};
	time_t now = time(NULL);
	struct tm utc;

	if (!fresh.key || !fresh.date || !gmtime_r(&now, &utc) ||
	    !strftime(fresh.date, DATE_BYTES, "%Y-%m-%d", &utc) ||
	    (!entry && !hp_vector_push(entries, fresh))) {
		clear_entry(&fresh);
		return hp_error_create_no_memory();
	}
	if (entry) {
		clear_entry(entry);
		*entry = fresh;
	}
	return NULL;
}

struct hp_error *hp_skid_store(const struct hp_cpu *cpu, const struct hp_skid *skid)
{
	struct hp_skid_entries entries;
	struct hp_error *error;
	_cleanup_free_ char *text = NULL;
	char *name;

	if (!hp_cpu_is_known(cpu))
		return hp_error_create(HP_ERROR_INSUFFICIENT,
				       "the CPU model is not known, or the cores differ: the "
				       "result is not stored");
	name = hp_cpu_name(cpu);
	if (!name)
		return hp_error_create_no_memory();
	/* A file that cannot be read is replaced. */
	hp_error_destroy(hp_skid_load(&entries));
	error = set_entry(&entries, name, skid);
	if (!error)
		error = hp_skid_encode(&entries, &text);
	if (!error)
		error = hp_cache_write(file_name, text, strlen(text));
	hp_skid_entries_clear(&entries);
	/* The path is not one that the user has given, so advice about it would not help. */
	if (error && error->class == HP_ERROR_NOT_FOUND)
		error->class = HP_ERROR_SYSTEM;
	return hp_error_advise(
		hp_error_wrap(error, "keeping the calibrated skid"),
		"set XDG_CACHE_HOME to a directory of your own, and calibrate again");
}
