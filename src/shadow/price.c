/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "price.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before anything has been measured; a VM of 2 CPUs took 0.25 to 0.5 ms a MiB and 0.2 to 0.5 ms. */
static const double guessed_fixed_ns = 500e3;
static const double guessed_ns_per_byte = 0.5;
/* How much a new measurement counts. */
static const double newest = 0.3;
/* Where nothing is known: an interrupt that leaves a VM; on bare metal it is about a tenth. */
static const double guessed_sample_ns = 13e3;
/* What was read has pushed the target's own data out of the caches, up to their size. */
static const double refill_ns_per_byte = 0.05;
static const double cache_bytes = 32 << 20;

void ledger_init(struct ledger *ledger, double percent, double sample_ns)
{
	*ledger = (struct ledger){
		.share = percent / 100,
		.sample_ns = sample_ns > 0 ? sample_ns : guessed_sample_ns,
		.fixed_ns = guessed_fixed_ns,
		.ns_per_byte = guessed_ns_per_byte,
	};
}

static double refill_ns(uint64_t bytes)
{
	double cold = (double)bytes < cache_bytes ? (double)bytes : cache_bytes;

	return cold * refill_ns_per_byte;
}

uint64_t ledger_price(const struct ledger *ledger, uint64_t bytes, uint64_t samples)
{
	return (uint64_t)(ledger->fixed_ns + ledger->ns_per_byte * (double)bytes +
			  refill_ns(bytes) + ledger->sample_ns * (double)samples);
}

uint64_t ledger_slot(const struct ledger *ledger, uint64_t price_ns)
{
	return (uint64_t)((double)price_ns / ledger->share);
}

bool ledger_allows(const struct ledger *ledger, uint64_t price_ns, uint64_t slot_end_ns)
{
	return (double)ledger->lost_ns + (double)price_ns <= ledger->share * (double)slot_end_ns;
}

void ledger_stop(struct ledger *ledger, uint64_t stop_ns, uint64_t bytes)
{
	const uint64_t little_bytes = 1 << 20;
	double weight = ledger->has_measured ? newest : 1;
	double reading_ns = (double)stop_ns - ledger->fixed_ns;

	/* What little memory takes is the fixed part; of much memory it is the reading. */
	if (bytes < little_bytes)
		ledger->fixed_ns += weight * ((double)stop_ns - ledger->fixed_ns);
	else if (reading_ns > 0)
		ledger->ns_per_byte += weight * (reading_ns / (double)bytes - ledger->ns_per_byte);
	else
		ledger->fixed_ns = (double)stop_ns / 2;
	ledger->has_measured = true;
	ledger->stopped_ns += stop_ns;
	if (stop_ns > ledger->longest_stop_ns)
		ledger->longest_stop_ns = stop_ns;
	ledger->lost_ns += stop_ns + (uint64_t)refill_ns(bytes);
}

void ledger_samples(struct ledger *ledger, uint64_t samples)
{
	ledger->lost_ns += (uint64_t)(ledger->sample_ns * (double)samples);
}

void ledger_other(struct ledger *ledger, uint64_t lost_ns)
{
	ledger->lost_ns += lost_ns;
}

/* --- memory ----------------------------------------------------------------------------------- */

static uint64_t kib_after(const char *text, const char *name)
{
	const char *line = strstr(text, name);
	uint64_t kib = 0;

	if (!line)
		return 0;
	line += strlen(name);
	return hp_scan_u64(&line, &kib) && kib < UINT64_MAX / 1024 ? kib * 1024 : 0;
}

uint64_t meminfo_available(const char *text, uint64_t *total_bytes)
{
	*total_bytes = kib_after(text, "MemTotal:");
	return kib_after(text, "MemAvailable:");
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What is left below the limit of a group (version 2); UINT64_MAX without one. */
static uint64_t room_of_group(const char *group)
{
	int64_t limit;
	int64_t used;
	char path[4352];
	struct hp_error *error;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group);
	/* "max" is no number. */
	error = hp_file_read_number(path, &limit);
	if (!error) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.current", group);
		error = hp_file_read_number(path, &used);
	}
	if (error) {
		hp_error_destroy(error);
		return UINT64_MAX;
	}
	return used < limit ? (uint64_t)(limit - used) : 0;
}

/* Of our group and those it is in. */
static uint64_t room_of_groups(void)
{
	_cleanup_free_ char *text = NULL;
	uint64_t room = UINT64_MAX;
	char *group;

	hp_error_destroy(hp_file_read_text("/proc/self/cgroup", &text));
	group = text ? strstr(text, "0::/") : NULL;
	if (!group)
		return room;
	group += strlen("0::");
	group[strcspn(group, "\n")] = 0;
	while (*group) {
		room = lesser(room, room_of_group(group));
		*strrchr(group, '/') = 0;
	}
	return lesser(room, room_of_group(""));
}

uint64_t memory_to_spare(void)
{
	const uint64_t least_reserve = 64 << 20;
	_cleanup_free_ char *text = NULL;
	uint64_t total = 0;
	uint64_t available;
	uint64_t reserve;

	hp_error_destroy(hp_file_read_text("/proc/meminfo", &text));
	available = text ? meminfo_available(text, &total) : 0;
	reserve = total / 16 > least_reserve ? total / 16 : least_reserve;
	available = lesser(available, room_of_groups());
	return available > reserve ? available - reserve : 0;
}
