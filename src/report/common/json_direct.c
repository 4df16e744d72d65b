/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes numbers and texts of long documents directly. printf() computes all 53 bits of a double
 * exactly, with integers of many words, which took a tenth of the time of a report. Here numbers
 * have twelve digits, more than any figure of a report is known to. Arithmetic on doubles suffices
 * for these: scaling by a power of ten is off by a few units of the sixteenth digit.
 */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
	DIGITS = 12,
	MOST_PLAIN = DIGITS - 1, /* exponent; as printf's %g, which writes more with an exponent */
	LEAST_PLAIN = -4,
	EXACT_POWER = 22, /* of ten, that a double holds */
};

static const double first_too_long = 1e12; /* 10^DIGITS */

static double power_of_ten(int exponent)
{
	static const double exact[EXACT_POWER + 1] = {
		1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,	1e8,  1e9,  1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	};

	return exponent <= EXACT_POWER ? exact[exponent] : pow(10, exponent);
}

/* In two steps: the power for the smallest numbers is none that a double has. */
static double scaled(double value, int exponent)
{
	if (exponent < 0)
		return value / power_of_ten(-exponent);
	return value * power_of_ten(exponent / 2) * power_of_ten(exponent - exponent / 2);
}

/* `value` is digits * 10^(exponent - DIGITS + 1), and the first digit is not 0. */
static uint64_t digits_of(double value, int *exponent)
{
	double digits;

	*exponent = (int)floor(log10(value));
	digits = nearbyint(scaled(value, DIGITS - 1 - *exponent));
	if (digits < first_too_long / 10) { /* the logarithm was rounded up */
		--*exponent;
		digits = nearbyint(scaled(value, DIGITS - 1 - *exponent));
	}
	if (digits >= first_too_long) {
		++*exponent;
		digits = nearbyint(digits / 10);
	}
	return (uint64_t)digits;
}

/* Returns how many there are without zeros at the end. */
static int write_digits(uint64_t digits, char text[DIGITS])
{
	int count = DIGITS;

	for (int i = DIGITS; i-- > 0; digits /= 10)
		text[i] = (char)('0' + digits % 10);
	while (count > 1 && text[count - 1] == '0')
		count--;
	return count;
}

/* `digits` with a point behind the first `before` of them; 0 and less: zeros come first. */
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

void json_write_number(double value, FILE *out)
{
	char text[64];
	char digits[DIGITS];
	char *to = text;
	int exponent;
	int count;

	if (!isfinite(value)) {
		fputs("null", out);
		return;
	}
	if (fpclassify(value) == FP_ZERO || fpclassify(value) == FP_SUBNORMAL) {
		fputs("0.0", out); /* less than any figure is */
		return;
	}
	if (value < 0)
		*to++ = '-';
	count = write_digits(digits_of(fabs(value), &exponent), digits);
	if (exponent >= LEAST_PLAIN && exponent <= MOST_PLAIN) {
		to = write_plain(to, digits, count, exponent + 1);
		fwrite(text, 1, (size_t)(to - text), out);
		return;
	}
	*to++ = digits[0];
	if (count > 1) {
		*to++ = '.';
		memcpy(to, digits + 1, (size_t)count - 1);
		to += count - 1;
	}
	fprintf(out, "%.*se%d", (int)(to - text), text, exponent);
}

static bool is_plain(const char *text)
{
	for (const char *at = text; *at; at++)
		if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
			return false;
	return true;
}

struct hp_error *json_write_text(const char *text, FILE *out)
{
	if (!text || !is_plain(text))
		return json_write(json_text(text), false, out);
	putc('"', out);
	fputs(text, out);
	putc('"', out);
	return NULL;
}
