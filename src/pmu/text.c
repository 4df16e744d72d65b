/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include <string.h>

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
