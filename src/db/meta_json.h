/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts C structures to JSON objects and back, by tables of fields; and C strings, which may
 * contain any bytes, to JSON strings, which are UTF-8.
 */
#ifndef HPCPROF_SRC_DB_META_JSON_H
#define HPCPROF_SRC_DB_META_JSON_H

#include <hpcprof/base/error.h>

#include "codec.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum hp_json_type {
	HP_JSON_TEXT,	/* char *, owned; NULL is not written */
	HP_JSON_TEXTS,	/* char **, NULL-terminated; NULL is not written */
	HP_JSON_BOOL,	/* bool */
	HP_JSON_U32,	/* uint32_t */
	HP_JSON_I32,	/* int32_t */
	HP_JSON_U64,	/* uint64_t below 2^63 */
	HP_JSON_DOUBLE, /* double, finite, not negative */
};

struct hp_json_field {
	const char *key;
	enum hp_json_type type;
	size_t offset; /* offset in the structure */
};

/* Writes each field of `structure` to `object`. */
struct hp_error *hp_json_put(json_t *object, const void *structure,
			     const struct hp_json_field *fields, size_t count);
/* Reads each field that `object` has; other keys are ignored. On failure, the structure owns the
 * fields read so far. */
struct hp_error *hp_json_get(const json_t *object, void *structure,
			     const struct hp_json_field *fields, size_t count);

/* Digests of all parts of meta. */
struct hp_error *hp_meta_parts_of(json_t *root, struct hp_meta_parts *parts);

/* An upper limit of the number of values in the text, which need not be JSON: a value takes far
 * more memory than its two characters at least. */
size_t hp_json_count_values(const char *text, size_t size);

/*
 * Bytes that are not UTF-8 are mapped to the private-use characters U+10FF00 + byte, and so are the
 * bytes of characters that are there already. Every string of bytes can be recovered exactly.
 */
json_t *hp_json_text(const char *text);

#endif
