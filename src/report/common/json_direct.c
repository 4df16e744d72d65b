/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes numbers and texts of long documents directly. printf() computes all 53 bits of a double
 * exactly, with integers of many words, which took a tenth of the time of a report. Here numbers
 * have twelve digits, more than any figure of a report is known to. Arithmetic on doubles suffices
 * for these: scaling by a power of ten is off by a few units of the sixteenth digit.
 */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DIGITS = 12,
	/* largest exponent of numbers without an exponent, as with printf's %g */
	MOST_PLAIN = DIGITS - 1,
	LEAST_PLAIN = -4,
	EXACT_POWER = 22, /* largest power of ten that a double represents exactly */
};

static const double first_too_long = 1e12; /* 10^DIGITS */
static const uint32_t half_too_long = 1000000;
static const double log_of_two = 0.30102999566398120; /* of 2, to base 10 */

static double power_of_ten(int exponent)
{
	static const double exact[EXACT_POWER + 1] = {
		1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,	1e8,  1e9,  1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	};

	return exponent <= EXACT_POWER ? exact[exponent] : pow(10, exponent);
}

/* In two steps, because the power for the smallest numbers is not a double. */
static double scaled(double value, int exponent)
{
	if (exponent < 0)
		return value / power_of_ten(-exponent);
	return value * power_of_ten(exponent / 2) * power_of_ten(exponent - exponent / 2);
}

/* `value` is digits * 10^(exponent - DIGITS + 1); the first digit is not 0. */
static uint64_t digits_of(double value, int *exponent)
{
	double digits;
	int bits;

	frexp(value, &bits);
	/* It is at most one too low. */
	*exponent = (int)floor((bits - 1) * log_of_two);
	digits = nearbyint(scaled(value, DIGITS - 1 - *exponent));
	while (digits >= first_too_long) {
		++*exponent;
		digits = nearbyint(scaled(value, DIGITS - 1 - *exponent));
	}
	return (uint64_t)digits;
}

/* Returns the number of digits without trailing zeros. */
static int write_digits(uint64_t digits, char text[DIGITS])
{
	uint32_t halves[] = { (uint32_t)(digits / half_too_long),
			      (uint32_t)(digits % half_too_long) };
	int count = DIGITS;

	for (int i = DIGITS; i-- > 0; halves[i >= DIGITS / 2] /= 10)
		text[i] = (char)('0' + halves[i >= DIGITS / 2] % 10);
	while (count > 1 && text[count - 1] == '0')
		count--;
	return count;
}

/* Writes `digits` with a point after the first `before`; if that is 0 or less, zeros come first. */
static char *write_plain(char *to, const char *digits, int count, int before)
{
	if (before <= 0) {
		*to++ = '0';
		*to++ = '.';
		for (; before < 0; before++)
			*to++ = '0';
		memcpy(to, digits, (size_t)count);
		return to + count;
	}
	for (int i = 0; i < before; i++)
		*to++ = i < count ? digits[i] : '0';
	*to++ = '.';
	for (int i = before; i < count; i++)
		*to++ = digits[i];
	if (count <= before)
		*to++ = '0';
	return to;
}

static char *write_exponent(char *to, int exponent)
{
	*to++ = 'e';
	if (exponent < 0)
		*to++ = '-';
	exponent = abs(exponent);
	if (exponent >= 100)
		*to++ = (char)('0' + exponent / 100);
	if (exponent >= 10)
		*to++ = (char)('0' + exponent / 10 % 10);
	*to++ = (char)('0' + exponent % 10);
	return to;
}

void json_add_number(struct hp_buffer *out, double value)
{
	char text[64];
	char digits[DIGITS];
	char *to = text;
	int exponent;
	int count;

	if (!isfinite(value)) {
		json_add(out, "null");
		return;
	}
	if (fpclassify(value) == FP_ZERO || fpclassify(value) == FP_SUBNORMAL) {
		json_add(out, "0.0"); /* smaller than any figure of interest */
		return;
	}
	if (value < 0)
		*to++ = '-';
	count = write_digits(digits_of(fabs(value), &exponent), digits);
	if (exponent >= LEAST_PLAIN && exponent <= MOST_PLAIN) {
		to = write_plain(to, digits, count, exponent + 1);
	} else {
		*to++ = digits[0];
		if (count > 1) {
			*to++ = '.';
			memcpy(to, digits + 1, (size_t)count - 1);
			to += count - 1;
		}
		to = write_exponent(to, exponent);
	}
	hp_buffer_add(out, text, (size_t)(to - text));
}

/* As json_dumps() writes it: all 17 digits that tell doubles apart, and no sign or zeros at the
 * beginning of an exponent. */
void json_add_exact(struct hp_buffer *out, double value)
{
	char text[32]; /* a sign, 17 digits, a point, and an exponent of 5 characters */
	char *exponent;
	char *digits;

	if (!isfinite(value)) {
		json_add(out, "null");
		return;
	}
	if (fpclassify(value) == FP_ZERO) {
		json_add(out, signbit(value) ? "-0.0" : "0.0");
		return;
	}
	snprintf(text, sizeof(text), "%.17g", value);
	exponent = strchr(text, 'e');
	if (!exponent) {
		json_add(out, text);
		if (!strchr(text, '.'))
			json_add(out, ".0");
		return;
	}
	hp_buffer_add(out, text, (size_t)(exponent + 1 - text));
	digits = exponent + 1;
	if (*digits == '-')
		json_add(out, "-");
	json_add(out, digits + strspn(digits, "+-0"));
}

void json_add_count(struct hp_buffer *out, uint64_t count)
{
	char text[20]; /* the largest number has 20 digits */
	char *at = text + sizeof(text);

	do {
		*--at = (char)('0' + count % 10);
		count /= 10;
	} while (count);
	hp_buffer_add(out, at, (size_t)(text + sizeof(text) - at));
}

void json_add_address(struct hp_buffer *out, bool known, uint64_t address)
{
	static const char digits[] = "0123456789abcdef";
	char text[20]; /* 16 digits, "0x" and quotes */
	char *at = text + sizeof(text);

	if (!known) {
		json_add(out, "null");
		return;
	}
	*--at = '"';
	do {
		*--at = digits[address & 15];
		address >>= 4;
	} while (address);
	*--at = 'x';
	*--at = '0';
	*--at = '"';
	hp_buffer_add(out, at, (size_t)(text + sizeof(text) - at));
}

static bool is_plain(const char *text)
{
	for (const char *at = text; *at; at++)
		if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
			return false;
	return true;
}

void json_add_text(struct hp_buffer *out, const char *text)
{
	_cleanup_free_ char *encoded = NULL;
	json_t *value;

	if (text && is_plain(text)) {
		json_add(out, "\"");
		json_add(out, text);
		json_add(out, "\"");
		return;
	}
	value = json_text(text);
	encoded = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
	json_decref(value);
	if (encoded)
		json_add(out, encoded);
	else
		out->failed = true;
}
