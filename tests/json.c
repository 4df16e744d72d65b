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
static json_t *walk(json_t *from, char *path, const char *format, va_list arguments)
{
	char steps[PATH_ROOM];
	char *rest = steps;

	vsnprintf(path, PATH_ROOM, format, arguments);
	strcpy(steps, path);
	for (char *step = strsep(&rest, "."); step; step = strsep(&rest, "."))
		from = isdigit((unsigned char)*step) ? json_array_get(from, strtoul(step, NULL, 10))
						     : json_object_get(from, step);
	return from;
}

json_t *json_at(json_t *from, const char *format, ...)
{
	char path[PATH_ROOM];
	va_list arguments;

	va_start(arguments, format);
	from = walk(from, path, format, arguments);
	va_end(arguments);
	return from;
}

double number_at(json_t *from, const char *format, ...)
{
	char path[PATH_ROOM];
	va_list arguments;

	va_start(arguments, format);
	from = walk(from, path, format, arguments);
	va_end(arguments);
	ck_assert_msg(json_is_number(from), "no number at %s", path);
	return json_number_value(from);
}

const char *string_at(json_t *from, const char *format, ...)
{
	char path[PATH_ROOM];
	va_list arguments;

	va_start(arguments, format);
	from = walk(from, path, format, arguments);
	va_end(arguments);
	ck_assert_msg(json_is_string(from), "no text at %s", path);
	return json_string_value(from);
}

json_t *json_with(json_t *list, const char *member, const char *text)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(string_at(list, "%zu.%s", i, member), text) == 0)
			return json_array_get(list, i);
	ck_abort_msg("none has %s \"%s\"", member, text);
	return NULL;
}
