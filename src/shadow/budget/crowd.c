/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crowd.h"

#include "../tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <math.h>
#include <string.h>

void crowd_take(struct crowd *crowd, uint64_t now_ns, const char *text)
{
	const char *slash = strchr(text, '/');
	const char *at = slash;
	uint64_t runnable = 0;
	double now, newest;

	while (at && at > text && at[-1] >= '0' && at[-1] <= '9')
		at--;
	if (!slash || !hp_scan_u64(&at, &runnable) || at != slash)
		return;
	/* Whoever reads it runs, too. */
	now = runnable ? (double)(runnable - 1) : 0;
	newest = crowd->at_ns ? 1 - exp(-(double)(now_ns - crowd->at_ns) / crowd_memory_ns) : 1;
	crowd->runnable += newest * (now - crowd->runnable);
	crowd->at_ns = now_ns;
}

void crowd_look(struct crowd *crowd, uint64_t now_ns)
{
	_cleanup_free_ char *text = NULL;

	hp_error_destroy(hp_file_read_text("/proc/loadavg", &text));
	if (text)
		crowd_take(crowd, now_ns, text);
}

bool crowd_fills(const struct crowd *crowd, uint64_t cpus)
{
	return crowd->runnable >= (double)cpus;
}
