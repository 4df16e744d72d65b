/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/target/cpu_times.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* fields of the first line of /proc/stat */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, FIELDS };

void hp_cpu_meter_create(struct hp_cpu_meter *meter, bool system_wide, const char *cpus,
			 const pid_t *pids, size_t pid_count, const pid_t *tids, size_t tid_count)
{
	*meter = (struct hp_cpu_meter){
		.of = calloc(pid_count + tid_count + 1, sizeof(*meter->of)),
	};
	if (!meter->of)
		return;
	if (system_wide && !cpus)
		meter->count = 1;
	for (size_t i = 0; i < pid_count; i++)
		meter->of[meter->count++].pid = pids[i];
	for (size_t i = 0; i < tid_count; i++)
		meter->of[meter->count++] = (struct hp_cpu_times_of){ tids[i], .is_thread = true };
}

void hp_cpu_meter_clear(struct hp_cpu_meter *meter)
{
	free(meter->of);
	*meter = (struct hp_cpu_meter){ 0 };
}

/* Parses so many numbers of ticks, separated by blanks. */
static bool read_ticks(const char *text, size_t count, uint64_t *ticks)
{
	for (size_t i = 0; i < count; i++) {
		int length = 0;

		if (sscanf(text, "%20" SCNu64 "%n", &ticks[i], &length) != 1)
			return false;
		text += length;
	}
	return true;
}

/* "cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ …": the time of guests is included in that of
 * users. */
bool hp_cpu_times_of_system(const char *text, uint64_t tick_ns, struct hp_cpu_times *times)
{
	uint64_t ticks[FIELDS];

	if (strncmp(text, "cpu ", 4) != 0 || !read_ticks(text + 4, FIELDS, ticks))
		return false;
	times->user_ns = (ticks[USER] + ticks[NICE]) * tick_ns;
	times->system_ns = (ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ]) * tick_ns;
	return true;
}

/* "PID (NAME) STATE …": the name may contain anything; utime and stime are fields 14 and 15. */
bool hp_cpu_times_of_process(const char *text, uint64_t tick_ns, struct hp_cpu_times *times)
{
	enum { FIRST_AFTER_STATE = 4, USER_FIELD = 14 };
	const char *name_end = strrchr(text, ')');
	uint64_t ticks[2];

	if (!name_end || strlen(name_end) < 4)
		return false;
	text = name_end + 3;
	for (int i = FIRST_AFTER_STATE; i < USER_FIELD; i++) {
		text += strspn(text, " ");
		text += strcspn(text, " ");
	}
	if (!read_ticks(text, 2, ticks))
		return false;
	times->user_ns = ticks[0] * tick_ns;
	times->system_ns = ticks[1] * tick_ns;
	return true;
}

static uint64_t tick_ns(void)
{
	long hz = sysconf(_SC_CLK_TCK);

	return 1000000000 / (uint64_t)(hz > 0 ? hz : 100);
}

uint64_t hp_cpu_idle_ns(void)
{
	_cleanup_free_ char *text = hp_file_text("/proc/stat");
	uint64_t ticks[IOWAIT + 1];

	if (!text || strncmp(text, "cpu ", 4) != 0 || !read_ticks(text + 4, IOWAIT + 1, ticks))
		return 0;
	return (ticks[IDLE] + ticks[IOWAIT]) * tick_ns();
}

static bool look_at(const struct hp_cpu_times_of *of, struct hp_cpu_times *times)
{
	_cleanup_free_ char *text =
		!of->pid	? hp_file_text("/proc/stat")
		: of->is_thread ? hp_file_text("/proc/%d/task/%d/stat", of->pid, of->pid)
				: hp_file_text("/proc/%d/stat", of->pid);

	if (!text)
		return false;
	return of->pid ? hp_cpu_times_of_process(text, tick_ns(), times)
		       : hp_cpu_times_of_system(text, tick_ns(), times);
}

void hp_cpu_meter_begin(struct hp_cpu_meter *meter)
{
	for (size_t i = 0; i < meter->count; i++) {
		struct hp_cpu_times_of *of = &meter->of[i];

		of->is_known = look_at(of, &of->begun);
		of->last = of->begun;
	}
}

void hp_cpu_meter_look(struct hp_cpu_meter *meter)
{
	for (size_t i = 0; i < meter->count; i++) {
		struct hp_cpu_times_of *of = &meter->of[i];
		struct hp_cpu_times now;

		/* If the time is less than before, the number was reused by another process. */
		if (!of->is_known || !look_at(of, &now) || now.user_ns < of->last.user_ns ||
		    now.system_ns < of->last.system_ns)
			continue;
		of->last = now;
	}
}

struct hp_cpu_times hp_cpu_meter_times(const struct hp_cpu_meter *meter)
{
	struct hp_cpu_times times = { 0 };

	for (size_t i = 0; i < meter->count; i++) {
		const struct hp_cpu_times_of *of = &meter->of[i];

		times.user_ns += of->last.user_ns - of->begun.user_ns;
		times.system_ns += of->last.system_ns - of->begun.system_ns;
	}
	return times;
}
