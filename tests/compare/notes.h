/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a comparison says beside its figures. */
#ifndef HPCPROF_TESTS_COMPARE_NOTES_H
#define HPCPROF_TESTS_COMPARE_NOTES_H

#include <hpcprof/compare/comparison.h>

#include <stdbool.h>
#include <string.h>

/* Whether one of its notes has that text in it. */
static inline bool has_note(const struct hp_comparison *comparison, const char *text)
{
	for (size_t i = 0; i < comparison->note_count; i++)
		if (strstr(comparison->notes[i], text))
			return true;
	return false;
}

#endif
