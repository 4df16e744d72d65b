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
	HP_JSON_TEXT,	/* char *, owned; NULL is left out */
	HP_JSON_TEXTS,	/* char **, NULL-terminated; NULL is left out */
	HP_JSON_BOOL,	/* bool */
	HP_JSON_U32,	/* uint32_t */
	HP_JSON_I32,	/* int32_t */
	HP_JSON_U64,	/* uint64_t below 2^63 */
	HP_JSON_DOUBLE, /* double, finite, not negative */
};

struct hp_json_field {
	const char *key;
	enum hp_json_type type;
	size_t offset; /* in the structure */
};

/* Sets each field of `structure` in `object`. */
struct hp_error *hp_json_put(json_t *object, const void *structure,
			     const struct hp_json_field *fields, size_t count);
/* Fills each field that `object` has; keys that no field names are ignored. On failure the fields
 * filled so far are owned by the structure. */
struct hp_error *hp_json_get(const json_t *object, void *structure,
			     const struct hp_json_field *fields, size_t count);

/* Of the whole of meta. */
struct hp_error *hp_meta_parts_of(json_t *root, struct hp_meta_parts *parts);

/* At least the number of values in the text, which need not be JSON: a value takes far more memory
 * than the two characters that it may be. */
size_t hp_json_count_values(const char *text, size_t size);

/*
 * Bytes that are not UTF-8 are lifted into a private-use plane, byte b as U+10FF00 + b, and so are
 * the bytes of characters that lie there already: every string of bytes comes back as it was.
 */
json_t *hp_json_text(const char *text);

#endif
