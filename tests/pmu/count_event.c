/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts an event on itself while it does a known amount of work, and prints the canonical name and
 * the count; for open.test.
 *
 *	count_event EVENT WORK [NUMBER]     WORK: spin, faults, writes, calls, sleeps, none
 *
 * In EVENT, DATA and CODE stand for the addresses that `writes` writes to and `calls` calls. Exits
 * with 1 when the event does not parse, 2 when it does not open; the message and the advice are
 * then printed, with the class before them.
 */
#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/machine.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

static volatile uint32_t written __attribute__((aligned(8)));

static __attribute__((noinline)) void called(void)
{
	__asm__ volatile("" ::: "memory");
}

static void spin(long milliseconds)
{
	struct timespec now;
	clock_t end = clock() + milliseconds * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

/* Pages that nobody has touched yet. */
struct fresh {
	volatile char *at;
	size_t size;
};

static struct fresh fresh_pages(long count)
{
	size_t size = (size_t)count * (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return (struct fresh){ 0 };
	/* A huge page would be one fault. */
	madvise(at, size, MADV_NOHUGEPAGE);
	return (struct fresh){ at, size };
}

/* A sanitizer that looked on would touch pages of its own. */
__attribute__((no_sanitize("thread"), no_sanitize("address"))) static void fault(
	const struct fresh *fresh)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < fresh->size; at += page)
		fresh->at[at] = 1;
}

static void work(const char *kind, long count, const struct fresh *fresh)
{
	if (!strcmp(kind, "spin"))
		spin(count);
	if (!strcmp(kind, "faults"))
		fault(fresh);
	for (long i = 0; i < count && !strcmp(kind, "writes"); i++)
		written = (uint32_t)i;
	for (long i = 0; i < count && !strcmp(kind, "calls"); i++)
		called();
	for (long i = 0; i < count && !strcmp(kind, "sleeps"); i++)
		usleep(1000);
}

static char *with_address(const char *event, const char *word, uintptr_t address)
{
	const char *at = strstr(event, word);
	char *made;

	if (!at)
		return strdup(event);
	return asprintf(&made, "%.*s0x%" PRIxPTR "%s", (int)(at - event), event, address,
			at + strlen(word)) < 0
		       ? NULL
		       : made;
}

static int failed(struct hp_error *error, int status)
{
	printf("class %d: %s\nadvice: %s\n", (int)error->class, error->message,
	       error->advice ? error->advice : "(none)");
	hp_error_destroy(error);
	return status;
}

static int count_one(const struct hp_machine *machine, const struct hp_event *event,
		     const char *kind, long number)
{
	struct perf_event_attr attr = { 0 };
	struct fresh fresh = { 0 };
	_cleanup_close_ int fd = -1;
	uint64_t count;

	hp_event_to_attr(event, &attr);
	attr.disabled = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return failed(hp_machine_open_error(machine, event, 0, errno), 2);
	if (!strcmp(kind, "faults"))
		fresh = fresh_pages(number);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	work(kind, number, &fresh);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return 3;
	printf("%s %" PRIu64 "\n", event->name, count);
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_free_ char *with_data =
		with_address(argc > 1 ? argv[1] : "", "DATA", (uintptr_t)&written);
	_cleanup_free_ char *text = with_data ? with_address(with_data, "CODE", (uintptr_t)&called)
					      : NULL;
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine = NULL;
	struct hp_event_list list = { 0 };
	struct hp_error *error;
	int status = 0;

	if (!text || argc < 3)
		return 3;
	error = hp_machine_create(&machine);
	if (!error)
		error = hp_event_parse(text, machine, &list);
	if (error)
		return failed(error, 1);
	for (size_t i = 0; i < list.count && !status; i++)
		status = count_one(machine, &list.events[i], argv[2],
				   argc > 3 ? strtol(argv[3], NULL, 10) : 0);
	hp_event_list_clear(&list);
	return status;
}
