/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names.h"

#include "codec.h"

#include <hpcprof/base/search.h>
#include <hpcprof/base/text.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

/* --- stamps ------------------------------------------------------------------------------- */

enum { STAMP_TIME_BYTES = 16, MAX_LABEL_BYTES = 64 };

static bool matches(const char *text, const char *pattern)
{
	for (; *pattern; pattern++, text++) {
		if (*pattern == '0' ? !isdigit((unsigned char)*text) : *text != *pattern)
			return false;
	}
	return true;
}

bool hp_stamp_is_valid(const char *text)
{
	size_t digits;

	if (!matches(text, "00000000T000000Z-"))
		return false;
	text += STAMP_TIME_BYTES + 1;
	digits = strspn(text, "0123456789");
	return digits >= 1 && digits <= 9 && !text[digits] && text[0] != '0';
}

int hp_stamp_compare(const char *a, const char *b)
{
	int order = strncmp(a, b, STAMP_TIME_BYTES);
	unsigned long left;
	unsigned long right;

	if (order)
		return order;
	left = strtoul(a + STAMP_TIME_BYTES + 1, NULL, 10);
	right = strtoul(b + STAMP_TIME_BYTES + 1, NULL, 10);
	return hp_order(left, right);
}

void hp_stamp_format(uint64_t time_ns, unsigned number, char *text)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm utc = { 0 };
	char time_text[STAMP_TIME_BYTES + 1] = "";

	gmtime_r(&seconds, &utc);
	strftime(time_text, sizeof(time_text), "%Y%m%dT%H%M%SZ", &utc);
	snprintf(text, HP_STAMP_BYTES, "%s-%u", time_text, number);
}

static int number_of(const char *digits, size_t count)
{
	int number = 0;

	for (size_t i = 0; i < count; i++)
		number = number * 10 + (digits[i] - '0');
	return number;
}

uint64_t hp_stamp_time_ns(const char *stamp)
{
	struct tm utc;
	time_t seconds;

	if (!hp_stamp_is_valid(stamp))
		return 0;
	utc = (struct tm){
		.tm_year = number_of(stamp, 4) - 1900,
		.tm_mon = number_of(stamp + 4, 2) - 1,
		.tm_mday = number_of(stamp + 6, 2),
		.tm_hour = number_of(stamp + 9, 2),
		.tm_min = number_of(stamp + 11, 2),
		.tm_sec = number_of(stamp + 13, 2),
	};
	seconds = timegm(&utc);
	return seconds > 0 ? (uint64_t)seconds * 1000000000 : 0;
}

/* --- labels ------------------------------------------------------------------------------- */

static const char *label_fault(const char *label)
{
	size_t length = strlen(label);

	if (!length)
		return "it is empty";
	if (length > MAX_LABEL_BYTES)
		return "it is longer than 64 bytes";
	if (label[0] == '@' || label[0] == '-')
		return "it starts with '@' or '-'";
	if (strstr(label, ".."))
		return "it contains '..', which separates the ends of a range";
	if (matches(label, "00000000T"))
		return "it looks like the stamp of an epoch";
	while (*label) {
		uint32_t code_point;
		size_t bytes = hp_text_utf8(label, &code_point);

		if (!bytes || hp_text_is_control(code_point))
			return "it contains control characters, or is not UTF-8";
		if (code_point == ' ' || code_point == 0xa0)
			return "it contains blanks";
		label += bytes;
	}
	return NULL;
}

struct hp_error *hp_label_check(const char *label)
{
	const char *fault = label_fault(label);

	if (!fault)
		return NULL;
	return hp_error_advise(
		hp_error_create(HP_ERROR_USAGE, "'%s' cannot be a label: %s", label, fault),
		"choose a label like 'before' or 'release-1.2'");
}

/* --- files -------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct hp_image_id *image, const char *event)
{
	struct hp_writer key = { 0 };
	uint64_t hash;

	hp_image_encode(image, 0, &key);
	if (event)
		hp_write_string(&key, event);
	hash = XXH3_64bits(key.bytes, key.size);
	hp_writer_free(&key);
	return hash;
}

uint64_t hp_image_hash(const struct hp_image_id *image)
{
	return hash_of(image, NULL);
}

/* The last component, with only letters that need no quoting. */
static void plain_name(const char *text, char *name, size_t room)
{
	const char *slash = strrchr(text, '/');
	size_t length = 0;

	if (slash && slash[1])
		text = slash + 1;
	text += strspn(text, "[.");
	for (; *text && *text != ']' && length + 1 < room; text++) {
		bool plain = isalnum((unsigned char)*text) || strchr("._+-", *text);

		name[length++] = plain && (unsigned char)*text < 0x80 ? *text : '_';
	}
	if (!length)
		name[length++] = '_';
	name[length] = 0;
}

char *hp_profile_name(const struct hp_image_id *image, const char *event)
{
	char image_name[33];
	char event_name[25];
	char *name;

	plain_name(image->path, image_name, sizeof(image_name));
	plain_name(event, event_name, sizeof(event_name));
	return asprintf(&name, "%s-%s-%016" PRIx64 ".prof", image_name, event_name,
			hash_of(image, event)) < 0
		       ? NULL
		       : name;
}

static char *image_file_name(const struct hp_image_id *image, const char *suffix)
{
	char image_name[33];
	char *name;

	plain_name(image->path, image_name, sizeof(image_name));
	return asprintf(&name, "%s-%016" PRIx64 "%s", image_name, hash_of(image, NULL), suffix) < 0
		       ? NULL
		       : name;
}

char *hp_symbols_name(const struct hp_image_id *image)
{
	return image_file_name(image, ".sym");
}

char *hp_excerpt_name(const struct hp_image_id *image)
{
	return image_file_name(image, ".code");
}

char *hp_bytes_name(const struct hp_image_id *image)
{
	return image_file_name(image, ".bytes");
}

bool hp_name_has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name);
	size_t tail = strlen(suffix);

	return length > tail && strcmp(name + length - tail, suffix) == 0;
}
