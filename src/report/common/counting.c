/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counting.h"

#include <string.h>

/* Most windows ended at system calls before they could be counted, so recording more windows will
 * not help. */
static bool do_calls_end_them(const struct hp_window_evidence *sum)
{
	const char *call = hp_window_end_name(HP_WINDOW_SYSTEM_CALL);
	uint64_t by_calls = 0, others = 0;

	for (size_t i = 0; i < sum->reason_count; i++) {
		const struct hp_window_reason *reason = &sum->reasons[i];

		if (reason->is_refusal)
			continue;
		if (strncmp(reason->what, call, strlen(call)) == 0)
			by_calls += reason->count;
		else
			others += reason->count;
	}
	return by_calls > others;
}

const char *counting_advice(const struct report *report)
{
	if (!hp_windows_tried(report->inference))
		return "record with: hpcprof record --shadow -- COMMAND";
	if (do_calls_end_them(&report->inference->windows.sum))
		return "hpcprof report --summary says what ended them; hpcprof record "
		       "--probes counts code that runs rarely";
	return "hpcprof report --summary says why; a longer run or a larger "
	       "share (--shadow=PERCENT) pays for more windows";
}
