/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

json_t *json_text(const char *text)
{
	_cleanup_(hp_buffer_free) struct hp_buffer valid = { 0 };

	if (!text)
		return json_null();
	text_make_valid(&valid, text);
	return valid.failed ? NULL : json_string(hp_buffer_text(&valid));
}

json_t *json_address(bool known, uint64_t address)
{
	return known ? json_sprintf("0x%" PRIx64, address) : json_null();
}

/* JSON integers are signed 64-bit numbers here; no real count is larger. */
json_t *json_count(uint64_t count)
{
	return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

json_t *json_samples(const struct report *report, const struct hp_tally *tallies)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < report->profiles->events.count; i++)
		json_array_append_new(samples, json_count(tallies[i].samples));
	return samples;
}

json_t *json_shares(const struct report *report, const struct hp_tally *tallies)
{
	json_t *shares = json_array();

	for (size_t i = 0; i < report->profiles->events.count; i++)
		json_array_append_new(
			shares, json_real(hp_profiles_share(report->profiles, i, &tallies[i])));
	return shares;
}

/* --- the summary -------------------------------------------------------------------------- */

/* Writes the characters from `first` on, without the last ones. */
static struct hp_error *write_part(json_t *value, size_t first, size_t last, FILE *out)
{
	_cleanup_free_ char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII)
					  : NULL;

	json_decref(value);
	if (!text)
		return hp_error_create_no_memory();
	fwrite(text + first, 1, strlen(text) - first - last, out);
	return NULL;
}

struct hp_error *json_write(json_t *value, bool open, FILE *out)
{
	return write_part(value, 0, open, out);
}

struct hp_error *json_write_more(json_t *object, FILE *out)
{
	fputs(", ", out);
	return write_part(object, 1, 1, out);
}
