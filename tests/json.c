/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json.h"

#include "support.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

static void release(void *document)
{
	json_decref(document);
}

json_t *json_parsed(const char *text)
{
	json_error_t error;
	json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(document != NULL, "%s at %d:\n%s", error.text, error.line, text);
	at_end(release, document);
	return document;
}

enum { PATH_ROOM = 256 };

/* Leaves the path in `path`. */
static json_t *walk(const json_t *from, char *path, const char *format, va_list arguments)
{
	char steps[PATH_ROOM];
	char *rest = steps;
	json_t *at = NULL;

	vsnprintf(path, PATH_ROOM, format, arguments);
	strcpy(steps, path);
	for (char *step = strsep(&rest, "."); step; step = strsep(&rest, "."), from = at)
		at = isdigit((unsigned char)*step) ? json_array_get(from, strtoul(step, NULL, 10))
						   : json_object_get(from, step);
	return at;
}

json_t *json_at(const json_t *from, const char *format, ...)
{
	char path[PATH_ROOM];
	va_list arguments;
	json_t *at;

	va_start(arguments, format);
	at = walk(from, path, format, arguments);
	va_end(arguments);
	return at;
}

double number_at(const json_t *from, const char *format, ...)
{
	char path[PATH_ROOM];
	va_list arguments;
	json_t *at;

	va_start(arguments, format);
	at = walk(from, path, format, arguments);
	va_end(arguments);
	ck_assert_msg(json_is_number(at), "no number at %s", path);
	return json_number_value(at);
}

const char *string_at(const json_t *from, const char *format, ...)
{
	char path[PATH_ROOM];
	va_list arguments;
	json_t *at;

	va_start(arguments, format);
	at = walk(from, path, format, arguments);
	va_end(arguments);
	ck_assert_msg(json_is_string(at), "no text at %s", path);
	return json_string_value(at);
}

json_t *json_with(json_t *list, const char *member, const char *text)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(string_at(list, "%zu.%s", i, member), text) == 0)
			return json_array_get(list, i);
	ck_abort_msg("none has %s \"%s\"", member, text);
	return NULL;
}
