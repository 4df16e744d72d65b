/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/number.h>

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct unit {
	const char *name;
	uint64_t scale;
};

bool hp_parse_u64(const char *text, uint64_t *value)
{
	bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	unsigned long long parsed;
	char *end;

	if (!isxdigit((unsigned char)text[hexadecimal ? 2 : 0]))
		return false;
	errno = 0;
	parsed = strtoull(text, &end, hexadecimal ? 16 : 10);
	if (errno || *end)
		return false;
	*value = parsed;
	return true;
}

bool hp_parse_i64(const char *text, int64_t *value)
{
	long long parsed;
	char *end;

	if (!isdigit((unsigned char)text[text[0] == '-']))
		return false;
	errno = 0;
	parsed = strtoll(text, &end, 10);
	if (errno || *end)
		return false;
	*value = parsed;
	return true;
}

bool hp_scan_u64(const char **text, uint64_t *value)
{
	const char *digits = *text + strspn(*text, " \t");
	unsigned long long parsed;
	char *end;

	if (!isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	parsed = strtoull(digits, &end, 10);
	if (errno)
		return false;
	*value = parsed;
	*text = end;
	return true;
}

/* Parses a decimal number and returns what follows it. The process runs in the C locale for
 * numbers. */
static bool parse_prefix(const char *text, double *value, const char **rest)
{
	const char *digits = text + (text[0] == '-');
	char *end;

	/* strtod would also take blanks, signs, names and hexadecimal. */
	if ((!isdigit((unsigned char)digits[0]) && text[0] != '.') ||
	    (digits[0] == '0' && (digits[1] | 0x20) == 'x'))
		return false;
	errno = 0;
	*value = strtod(text, &end);
	*rest = end;
	return end != text && !errno && isfinite(*value);
}

bool hp_parse_double(const char *text, double *value)
{
	const char *rest;

	return parse_prefix(text, value, &rest) && !*rest;
}

static bool parse_with_unit(const char *text, const struct unit *units, uint64_t *value)
{
	const char *rest;
	double number;

	if (!parse_prefix(text, &number, &rest) || number < 0)
		return false;
	for (const struct unit *unit = units; unit->name; unit++) {
		if (strcmp(rest, unit->name) != 0)
			continue;
		number *= (double)unit->scale;
		if (number >= 18446744073709549568.0)
			return false;
		*value = (uint64_t)number;
		return true;
	}
	return false;
}

bool hp_parse_duration_ns(const char *text, uint64_t *value_ns)
{
	static const struct unit units[] = {
		{ "", 1000000000 },
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "m", 60000000000 },
		{ "h", 3600000000000 },
		{ "d", 86400000000000 },
		{ NULL, 0 },
	};

	return parse_with_unit(text, units, value_ns);
}

bool hp_parse_bytes(const char *text, uint64_t *value_bytes)
{
	static const struct unit units[] = {
		{ "", 1 },	  { "B", 1 },	    { "k", 1 << 10 }, { "K", 1 << 10 },
		{ "M", 1 << 20 }, { "G", 1 << 30 }, { NULL, 0 },
	};

	return parse_with_unit(text, units, value_bytes);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t hp_clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t hp_clock_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t hp_clock_process_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t hp_clock_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

uint64_t hp_unforeseen_u64(void)
{
	uint64_t value = 0;

	/* It fails only early after boot, when no program runs that could predict the time to a
	 * nanosecond. */
	if (getrandom(&value, sizeof(value), GRND_NONBLOCK) != (ssize_t)sizeof(value))
		value = hp_clock_monotonic_ns() * UINT64_C(0x9e3779b97f4a7c15);
	return value;
}

struct hp_random hp_random_seeded(uint64_t seed)
{
	/* One splitmix64 step: close seeds give unrelated streams. */
	seed += 0x9e3779b97f4a7c15;
	seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
	seed = (seed ^ (seed >> 27)) * 0x94d049bb133111eb;
	seed ^= seed >> 31;
	return (struct hp_random){ .state = seed ? seed : 1 };
}

uint64_t hp_random_next(struct hp_random *random)
{
	uint64_t x = random->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	random->state = x;
	return x * 0x2545f4914f6cdd1d;
}

uint64_t hp_random_between(struct hp_random *random, uint64_t low, uint64_t high)
{
	uint64_t width = high - low + 1;

	/* The modulo's bias is below width / 2^64. */
	return width ? low + hp_random_next(random) % width : hp_random_next(random);
}
