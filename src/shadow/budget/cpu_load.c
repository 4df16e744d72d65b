/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cpu_load.h"

#include "../tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/target/cpu_times.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

void cpu_load_init(struct cpu_load *load)
{
	*load = (struct cpu_load){ .idle_cpus = -1 };
}

/* The weight of the newest value in the running mean. */
static double weight_of(uint64_t passed_ns)
{
	return 1 - exp(-(double)passed_ns / load_memory_ns);
}

static void take_idle(struct cpu_load *load, uint64_t now_ns, uint64_t idle_ns)
{
	uint64_t passed_ns = now_ns - load->from_ns;
	double now = (double)(idle_ns - load->from_idle_ns) / (double)passed_ns;

	if (load->from_ns && passed_ns < LOAD_SHORTEST_NS)
		return;
	if (load->from_ns && load->idle_cpus < 0)
		load->idle_cpus = now;
	else if (load->from_ns)
		load->idle_cpus += weight_of(passed_ns) * (now - load->idle_cpus);
	load->from_ns = now_ns;
	load->from_idle_ns = idle_ns;
}

void cpu_load_take(struct cpu_load *load, uint64_t now_ns, const char *text, uint64_t idle_ns,
		   uint64_t own_ns, bool has_copy)
{
	uint64_t own_threads = has_copy ? 2 : 1;

	const char *slash = strchr(text, '/');
	const char *at = slash;
	uint64_t runnable = 0;
	double now, newest;

	while (at && at > text && at[-1] >= '0' && at[-1] <= '9')
		at--;
	if (!slash || !hp_scan_u64(&at, &runnable) || at != slash)
		return;
	/* The calling thread is one of them, and so is a copy. */
	now = runnable > own_threads ? (double)(runnable - own_threads) : 0;
	newest = load->at_ns ? weight_of(now_ns - load->at_ns) : 1;
	load->runnable += newest * (now - load->runnable);
	load->at_ns = now_ns;
	take_idle(load, now_ns, idle_ns + own_ns);
}

void cpu_load_look(struct cpu_load *load, uint64_t now_ns, uint64_t own_ns, bool has_copy)
{
	_cleanup_free_ char *text = hp_file_text("/proc/loadavg");

	if (text)
		cpu_load_take(load, now_ns, text, hp_cpu_idle_ns(), own_ns, has_copy);
}

void cpu_load_pause(struct cpu_load *load)
{
	load->from_ns = 0;
}

bool cpu_load_is_full(const struct cpu_load *load)
{
	return load->idle_cpus >= 0 && load->idle_cpus < load_least_idle;
}
