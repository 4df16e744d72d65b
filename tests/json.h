/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of JSON documents by their paths: "images.0.procedures.2.name". Paths are formats, as
 * printf has them. Documents are released when the test ends. */
#ifndef TESTS_JSON_H
#define TESTS_JSON_H

#include <jansson.h>

/* The document that the text is; duplicate members fail. */
json_t *json_parsed(const char *text);

/* NULL where there is no such value. */
json_t *json_at(const json_t *from, const char *path, ...) __attribute__((format(printf, 2, 3)));
/* What has to be there, of that type. */
double number_at(const json_t *from, const char *path, ...) __attribute__((format(printf, 2, 3)));
const char *string_at(const json_t *from, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/* The first object of the list whose `member` is that text; there has to be one. */
json_t *json_with(json_t *list, const char *member, const char *text);

#endif
