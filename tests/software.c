/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "software.h"

#include <hpcprof/base/number.h>

#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

const char *software_reason(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return "perf_event_open is not permitted here";
	close(fd);
	return NULL;
}

struct software software_create(const char *events, uint32_t counters)
{
	struct software software = { 0 };
	struct hp_grouping_options options = { .counters = counters };

	hp_assert_ok(hp_machine_create(&software.machine));
	hp_assert_ok(hp_event_parse(events, software.machine, &software.events));
	hp_assert_ok(hp_rotation_sets_create(&software.events, software.machine, &options,
					     &software.rotation_sets));
	ck_assert_uint_eq(software.rotation_sets.count, 1);
	ck_assert(software.rotation_sets.at[0].software);
	return software;
}

void software_clear(struct software *software)
{
	hp_rotation_sets_clear(&software->rotation_sets);
	hp_event_list_clear(&software->events);
	hp_machine_destroy(software->machine);
}

void software_touch(size_t count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	/* Where the kernel cannot do that it has no large pages either. */
	madvise(memory, count * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < count; i++)
		((volatile char *)memory)[i * page] = 1;
	munmap(memory, count * page);
}

void software_burn(uint64_t cpu_ns)
{
	uint64_t end_ns = hp_clock_thread_ns() + cpu_ns;

	while (hp_clock_thread_ns() < end_ns)
		;
}

static size_t entries(const char *path)
{
	DIR *directory = opendir(path);
	size_t count = 0;

	ck_assert_ptr_nonnull(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

size_t software_descriptors(void)
{
	return entries("/proc/self/fd");
}

size_t software_threads(void)
{
	return entries("/proc/self/task");
}
