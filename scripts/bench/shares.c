/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shares FILE CALLS [threads N | processes N]
 *
 * Calls procedures of known names in a random order, CALLS times in all, and writes to FILE, one a
 * line, each procedure's name and its CPU time (ns) as the thread's clock has it. Two of them split
 * time 20 to 80; the others have other natures: division, a chase through memory, mispredicted
 * branches, calls. With threads or processes the calls are shared out among N of them.
 */
#include "self_timed.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CELLS = 1 << 19, PROCEDURES = 6, MOST_WORKERS = 64 };

struct worker {
	uint64_t random;
	unsigned long calls;
	uint64_t spent_ns[PROCEDURES];
	uint32_t *cells;
};

static uint64_t draw(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

WORK uint64_t divide(uint64_t value, unsigned long steps)
{
	for (unsigned long i = 0; i < steps; i++)
		value = (value | UINT64_C(1) << 63) / (i | 3) + value;
	return value;
}

WORK uint64_t chase(const uint32_t *cells, uint32_t at, unsigned long steps)
{
	for (unsigned long i = 0; i < steps; i++)
		at = cells[at];
	return at;
}

WORK uint64_t branch(uint64_t random, unsigned long steps)
{
	uint64_t value = random;

	for (unsigned long i = 0; i < steps; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		if (random >> 63)
			value = value * 3 + 1;
		else
			value ^= value >> 5 ^ i;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

WORK uint64_t recur(uint64_t depth)
{
	uint64_t value = depth < 2 ? depth : recur(depth - 1) + recur(depth - 2);

	__asm__ volatile("" : "+r"(value));
	return value;
}

static uint64_t call(struct worker *worker, unsigned which, uint64_t value)
{
	switch (which) {
	case 0:
		return work_chain(value, 20000);
	case 1:
		return work_twin(value, 80000);
	case 2:
		return divide(value, 8000);
	case 3:
		return chase(worker->cells, (uint32_t)(value % CELLS), 2000);
	case 4:
		return branch(value, 10000);
	default:
		return recur(16 + value % 4);
	}
}

static const char *const names[PROCEDURES] = { "work_chain", "work_twin", "divide",
					       "chase",	     "branch",	  "recur" };

static void *run(void *argument)
{
	struct worker *worker = argument;
	uint64_t value = worker->random;

	for (unsigned long i = 0; i < worker->calls; i++) {
		unsigned which = (unsigned)(draw(&worker->random) % PROCEDURES);
		uint64_t start_ns = thread_cpu_ns();

		value = call(worker, which, value) | 1;
		worker->spent_ns[which] += thread_cpu_ns() - start_ns;
	}
	worker->random = value;
	return NULL;
}

/* One cycle through all cells, in a random order. */
static uint32_t *fill_cells(void)
{
	uint32_t *cells = malloc(CELLS * sizeof(*cells));
	uint64_t random = 88172645463325252u;

	if (!cells)
		exit(1);
	for (uint32_t i = 0; i < CELLS; i++)
		cells[i] = i;
	for (uint32_t i = CELLS - 1; i > 0; i--) {
		uint32_t other = (uint32_t)(draw(&random) % i);
		uint32_t swapped = cells[i];

		cells[i] = cells[other];
		cells[other] = swapped;
	}
	return cells;
}

static void run_all(struct worker *workers, unsigned long count, int threads)
{
	pthread_t thread[MOST_WORKERS];
	pid_t process[MOST_WORKERS];

	if (count == 1) {
		run(&workers[0]);
		return;
	}
	for (unsigned long i = 0; i < count; i++) {
		if (threads) {
			if (pthread_create(&thread[i], NULL, run, &workers[i]) != 0)
				exit(1);
			continue;
		}
		process[i] = fork();
		if (process[i] == 0) {
			run(&workers[i]);
			_exit(0);
		}
	}
	for (unsigned long i = 0; i < count; i++) {
		if (threads)
			pthread_join(thread[i], NULL);
		else
			waitpid(process[i], NULL, 0);
	}
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000;
	int threads = argc > 3 && strcmp(argv[3], "threads") == 0;
	unsigned long count = argc > 4 ? strtoul(argv[4], NULL, 10) : 1;
	/* Shared, so that what processes find reaches their parent. */
	struct worker *workers = mmap(NULL, MOST_WORKERS * sizeof(*workers), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t *cells = fill_cells();
	FILE *file;

	if (workers == MAP_FAILED || argc < 2 || count < 1 || count > MOST_WORKERS)
		return 1;
	for (unsigned long i = 0; i < count; i++)
		workers[i] = (struct worker){
			.random = 0x9e3779b97f4a7c15u * (i + 1),
			.calls = calls / count,
			.cells = cells,
		};
	run_all(workers, count, threads);
	file = fopen(argv[1], "we");
	if (!file)
		return 1;
	for (unsigned which = 0; which < PROCEDURES; which++) {
		uint64_t spent_ns = 0;

		for (unsigned long i = 0; i < count; i++)
			spent_ns += workers[i].spent_ns[which];
		fprintf(file, "%s %" PRIu64 "\n", names[which], spent_ns);
	}
	free(cells);
	return fclose(file) != 0;
}
