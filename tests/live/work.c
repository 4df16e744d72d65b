/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One process that works in a known way, for a known CPU time:
 *
 *	work here MS		in burn_here
 *	work threads N MS	each of N threads in burn_in_thread
 *	work later MS		prints its number; after a line on standard input, in
 *				burn_in_thread, in a thread started only then
 *	work held N MS		N threads; prints its number when all are there; after a line on
 *				standard input each in burn_in_thread
 *	work phases MS		in first_half during the first half of every millisecond of the
 *				clock, in second_half during the other
 *	work vdso MS		asking for the time
 *	work kernel MS		reading /dev/zero
 *	work faults N		touching N fresh pages in touch_pages
 *	work kill N		sends itself signal N
 *	work term MS		until SIGTERM, then MS in burn_after_signal; exit 7
 */
#include "burn.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

BURNER(burn_here);
BURNER(burn_in_thread);
BURNER(burn_after_signal);

static void *thread(void *argument)
{
	burn_in_thread(*(const unsigned *)argument);
	return NULL;
}

static void in_threads(unsigned count, unsigned cpu_ms)
{
	pthread_t threads[64];

	if (count > 64)
		count = 64;
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, thread, &cpu_ms))
			die("pthread_create");
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void later(unsigned cpu_ms)
{
	char line[16];

	printf("%d\n", (int)getpid());
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin))
		in_threads(1, cpu_ms);
}

struct held {
	pthread_barrier_t all_are_there;
	pthread_barrier_t go;
	unsigned cpu_ms;
};

static void *held_thread(void *argument)
{
	struct held *held = argument;

	pthread_barrier_wait(&held->all_are_there);
	pthread_barrier_wait(&held->go);
	burn_in_thread(held->cpu_ms);
	return NULL;
}

static void in_held_threads(unsigned count, unsigned cpu_ms)
{
	struct held held = { .cpu_ms = cpu_ms };
	pthread_t threads[64];
	char line[16];

	if (count > 64)
		count = 64;
	pthread_barrier_init(&held.all_are_there, NULL, count + 1);
	pthread_barrier_init(&held.go, NULL, count + 1);
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, held_thread, &held))
			die("pthread_create");
	pthread_barrier_wait(&held.all_are_there);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(EXIT_FAILURE);
	pthread_barrier_wait(&held.go);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* Stays until the clock leaves the half of the millisecond that it is in. */
__attribute__((always_inline)) static inline void stay(unsigned half)
{
	while (clock_ns(CLOCK_MONOTONIC) % 1000000 / 500000 == half)
		for (volatile unsigned i = 0; i < 2000; i++)
			;
}

APART static void first_half(void)
{
	stay(0);
	__asm__ volatile("");
}

APART static void second_half(void)
{
	stay(1);
	__asm__ volatile("");
}

static void in_phases(unsigned wall_ms)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + wall_ms * 1000000ull;

	while (clock_ns(CLOCK_MONOTONIC) < end_ns) {
		first_half();
		second_half();
	}
}

APART static void ask_for_the_time(unsigned cpu_ms)
{
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ms * 1000000ull;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		for (unsigned i = 0; i < 2000; i++)
			clock_ns(CLOCK_MONOTONIC);
}

static void in_the_kernel(unsigned cpu_ms)
{
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ms * 1000000ull;
	enum { SIZE = 1 << 20 };
	char *buffer = malloc(SIZE);
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		if (fd < 0 || read(fd, buffer, SIZE) < 0)
			die("/dev/zero");
	free(buffer);
}

APART static void touch_pages(unsigned pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	/* Not many at a time, huge ones. */
	madvise(memory, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		((volatile char *)memory)[i * page] = 1;
}

static int until_terminated(unsigned cpu_ms)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&set, &signal);
	burn_after_signal(cpu_ms);
	return 7;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	unsigned amount = argc > 2 ? number(argv[argc - 1]) : 0;

	if (strcmp(how, "here") == 0)
		burn_here(amount);
	else if (strcmp(how, "threads") == 0)
		in_threads(number(argv[2]), amount);
	else if (strcmp(how, "held") == 0)
		in_held_threads(number(argv[2]), amount);
	else if (strcmp(how, "later") == 0)
		later(amount);
	else if (strcmp(how, "phases") == 0)
		in_phases(amount);
	else if (strcmp(how, "vdso") == 0)
		ask_for_the_time(amount);
	else if (strcmp(how, "kernel") == 0)
		in_the_kernel(amount);
	else if (strcmp(how, "faults") == 0)
		touch_pages(amount);
	else if (strcmp(how, "kill") == 0)
		raise((int)amount);
	else if (strcmp(how, "term") == 0)
		return until_terminated(amount);
	else
		return 2;
#ifdef CHANGED
	/* Another program of the same name. */
	if (amount == UINT32_MAX)
		puts("changed");
#endif
	return EXIT_SUCCESS;
}
