/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "meta_json.h"

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/text.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t hp_json_count_values(const char *text, size_t size)
{
	bool is_quoted = false;
	size_t count = 1;

	for (size_t i = 0; i < size; i++) {
		if (is_quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && strchr(",:[{", text[i]))
			count++;
	}
	return count;
}

/* --- strings ------------------------------------------------------------------------------ */

enum { LIFTED = 0x10ff00, LIFTED_BYTES = 4 };

static bool is_lifted(uint32_t code_point)
{
	return code_point >= LIFTED && code_point <= LIFTED + 0xff;
}

/* Writes the character U+10FF00 + byte in UTF-8. */
static void write_lifted(struct hp_writer *writer, uint8_t byte)
{
	hp_write_u8(writer, 0xf4);
	hp_write_u8(writer, 0x8f);
	hp_write_u8(writer, (uint8_t)(0xbc | byte >> 6));
	hp_write_u8(writer, (uint8_t)(0x80 | (byte & 0x3f)));
}

json_t *hp_json_text(const char *text)
{
	struct hp_writer writer = { 0 };
	json_t *value = NULL;

	while (*text) {
		uint32_t code_point;
		size_t length = hp_text_utf8(text, &code_point);

		if (length && !is_lifted(code_point)) {
			hp_write_bytes(&writer, text, length);
			text += length;
		} else {
			write_lifted(&writer, (uint8_t)*text++);
		}
	}
	if (!writer.failed)
		value = json_stringn(writer.bytes ? (const char *)writer.bytes : "", writer.size);
	hp_writer_free(&writer);
	return value;
}

/* malloc'ed; NULL: out of memory. */
static char *hp_json_text_value(const json_t *value)
{
	const char *text = json_string_value(value);
	struct hp_writer writer = { 0 };

	while (*text) {
		uint32_t code_point;
		size_t length = hp_text_utf8(text, &code_point);

		if (length == LIFTED_BYTES && is_lifted(code_point) && code_point > LIFTED)
			hp_write_u8(&writer, (uint8_t)(code_point - LIFTED));
		else
			hp_write_bytes(&writer, text, length ? length : 1);
		text += length ? length : 1;
	}
	hp_write_u8(&writer, 0);
	if (!writer.failed)
		return (char *)writer.bytes;
	hp_writer_free(&writer);
	return NULL;
}

/* --- putting ------------------------------------------------------------------------------ */

static json_t *texts_to_json(char *const *texts)
{
	json_t *array = json_array();

	for (; array && *texts; texts++) {
		if (json_array_append_new(array, hp_json_text(*texts)) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *field_to_json(const void *at, enum hp_json_type type)
{
	switch (type) {
	case HP_JSON_TEXT:
		return hp_json_text(*(char *const *)at);
	case HP_JSON_TEXTS:
		return texts_to_json(*(char **const *)at);
	case HP_JSON_BOOL:
		return json_boolean(*(const bool *)at);
	case HP_JSON_U32:
		return json_integer(*(const uint32_t *)at);
	case HP_JSON_I32:
		return json_integer(*(const int32_t *)at);
	case HP_JSON_U64:
		return json_integer((json_int_t) * (const uint64_t *)at);
	case HP_JSON_DOUBLE:
		return json_real(*(const double *)at);
	}
	return NULL;
}

static bool is_left_out(const void *at, enum hp_json_type type)
{
	return (type == HP_JSON_TEXT || type == HP_JSON_TEXTS) && !*(void *const *)at;
}

static bool is_out_of_range(const void *at, enum hp_json_type type)
{
	if (type == HP_JSON_U64)
		return *(const uint64_t *)at > INT64_MAX;
	if (type == HP_JSON_DOUBLE)
		return !isfinite(*(const double *)at) || *(const double *)at < 0;
	return false;
}

struct hp_error *hp_json_put(json_t *object, const void *structure,
			     const struct hp_json_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const void *at = (const char *)structure + fields[i].offset;

		if (is_left_out(at, fields[i].type))
			continue;
		if (is_out_of_range(at, fields[i].type))
			return hp_error_create(HP_ERROR_USAGE, "%s is out of range", fields[i].key);
		if (json_object_set_new(object, fields[i].key, field_to_json(at, fields[i].type)) <
		    0)
			return hp_error_create_no_memory();
	}
	return NULL;
}

/* --- getting ------------------------------------------------------------------------------ */

static struct hp_error *get_text(const json_t *value, const char *key, char **text)
{
	if (!json_is_string(value))
		return hp_error_create(HP_ERROR_DAMAGED, "%s is not a string", key);
	free(*text);
	*text = hp_json_text_value(value);
	return *text ? NULL : hp_error_create_no_memory();
}

static struct hp_error *get_texts(const json_t *value, const char *key, char ***texts)
{
	size_t count = json_array_size(value);

	if (!json_is_array(value))
		return hp_error_create(HP_ERROR_DAMAGED, "%s is not a list", key);
	/* It stays NULL-terminated, so that it can be freed at any point. */
	*texts = calloc(count + 1, sizeof(**texts));
	if (!*texts)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct hp_error *error = get_text(json_array_get(value, i), key, &(*texts)[i]);

		if (error)
			return error;
	}
	return NULL;
}

static struct hp_error *get_integer(const json_t *value, const char *key, json_int_t low,
				    json_int_t high, json_int_t *number)
{
	if (!json_is_integer(value))
		return hp_error_create(HP_ERROR_DAMAGED, "%s is not an integer", key);
	*number = json_integer_value(value);
	if (*number < low || *number > high)
		return hp_error_create(HP_ERROR_DAMAGED, "%s is out of range", key);
	return NULL;
}

static struct hp_error *get_number(const json_t *value, const char *key, enum hp_json_type type,
				   void *at)
{
	bool wide = type == HP_JSON_U64;
	bool is_signed = type == HP_JSON_I32;
	json_int_t number = 0;
	struct hp_error *error =
		get_integer(value, key, is_signed ? INT32_MIN : 0,
			    wide ? INT64_MAX : (is_signed ? INT32_MAX : UINT32_MAX), &number);

	if (error)
		return error;
	if (wide)
		*(uint64_t *)at = (uint64_t)number;
	else if (is_signed)
		*(int32_t *)at = (int32_t)number;
	else
		*(uint32_t *)at = (uint32_t)number;
	return NULL;
}

static struct hp_error *get_field(const json_t *value, const struct hp_json_field *field, void *at)
{
	switch (field->type) {
	case HP_JSON_TEXT:
		return get_text(value, field->key, at);
	case HP_JSON_TEXTS:
		return get_texts(value, field->key, at);
	case HP_JSON_BOOL:
		if (!json_is_boolean(value))
			return hp_error_create(HP_ERROR_DAMAGED, "%s is neither true nor false",
					       field->key);
		*(bool *)at = json_is_true(value);
		return NULL;
	case HP_JSON_DOUBLE:
		if (!json_is_number(value) || json_number_value(value) < 0)
			return hp_error_create(HP_ERROR_DAMAGED, "%s is no amount", field->key);
		*(double *)at = json_number_value(value);
		return NULL;
	case HP_JSON_U32:
	case HP_JSON_I32:
	case HP_JSON_U64:
		return get_number(value, field->key, field->type, at);
	}
	return NULL;
}

struct hp_error *hp_json_get(const json_t *object, void *structure,
			     const struct hp_json_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_object_get(object, fields[i].key);
		struct hp_error *error;

		if (!value)
			continue;
		error = get_field(value, &fields[i], (char *)structure + fields[i].offset);
		if (error)
			return error;
	}
	return NULL;
}
