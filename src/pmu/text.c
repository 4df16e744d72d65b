/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LONGEST_NAME = 64 };

struct hp_pmu_shown hp_pmu_show(const char *text, size_t length)
{
	struct hp_pmu_shown shown;
	size_t room = sizeof(shown.text) - 1;
	size_t kept = length <= room ? length : room - 3;

	for (size_t i = 0; i < kept; i++)
		shown.text[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	if (kept < length) {
		memcpy(shown.text + kept, "...", 3);
		kept += 3;
	}
	shown.text[kept] = 0;
	return shown;
}

struct hp_pmu_shown hp_pmu_show_string(const char *text)
{
	return hp_pmu_show(text, strlen(text));
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static uint8_t smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* The restricted edit distance by rows; three of them, because a swap looks two rows back. */
size_t hp_pmu_name_distance(const char *a, const char *b, size_t limit)
{
	uint8_t rows[3][LONGEST_NAME + 1];
	size_t a_length = strlen(a);
	size_t b_length = strlen(b);

	if (a_length > LONGEST_NAME || b_length > LONGEST_NAME)
		return limit + 1;
	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = (uint8_t)j;
	for (size_t i = 1; i <= a_length; i++) {
		uint8_t *now = rows[i % 3];
		const uint8_t *above = rows[(i + 2) % 3];
		const uint8_t *two_above = rows[(i + 1) % 3];

		now[0] = (uint8_t)i;
		for (size_t j = 1; j <= b_length; j++) {
			bool same = lower(a[i - 1]) == lower(b[j - 1]);
			uint8_t best = (uint8_t)(above[j - 1] + !same);

			best = smaller(best, (uint8_t)(above[j] + 1));
			best = smaller(best, (uint8_t)(now[j - 1] + 1));
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				best = smaller(best, (uint8_t)(two_above[j - 2] + 1));
			now[j] = best;
		}
	}
	return rows[a_length % 3][b_length] <= limit ? rows[a_length % 3][b_length] : limit + 1;
}
