/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * first_reading
 *
 * How much longer the first reading of a process's memory takes than the next one: into memory whose pages
 * only exist, and into a buffer as shadow windows have it, which the kernel has written to. Each figure is
 * the median of nine. The target of a window waits for the first. Without shadow page tables both are near 1.
 */
#include "../../src/shadow/copy/buffer.h"
#include "../../src/shadow/copy/readers.h"
#include "../../src/shadow/tuning.h"

#include <hpcprof/base/error.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/search.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	TRIES = 9,
	SOURCE_BYTES = 16 << 20,
	PARTS = LENT_LEAST_BYTES / SOURCE_BYTES,
	BYTES = PARTS * SOURCE_BYTES,
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "first_reading: %s\n", what);
	exit(1);
}

static double reading_ns(uint8_t *into, const uint8_t *source)
{
	uint64_t start_ns = hp_clock_monotonic_ns();
	struct run runs[PARTS];

	for (size_t i = 0; i < PARTS; i++)
		runs[i] =
			(struct run){ (uint64_t)(uintptr_t)source, SOURCE_BYTES, i * SOURCE_BYTES };
	if (readers_read(getpid(), runs, PARTS, into, UINT64_MAX) != BYTES)
		die("this process cannot be read");
	return (double)(hp_clock_monotonic_ns() - start_ns);
}

static double ratio(uint8_t *into, const uint8_t *source)
{
	double first = reading_ns(into, source);

	return first / reading_ns(into, source);
}

static double of_pages(const uint8_t *source)
{
	uint8_t *pages =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double found;

	if (pages == MAP_FAILED)
		die("memory is short");
	madvise(pages, BYTES, MADV_NOHUGEPAGE); /* as the buffer's, which copies can map */
	memset(pages, 0, BYTES);
	found = ratio(pages, source);
	munmap(pages, BYTES);
	return found;
}

static double of_buffer(const uint8_t *source)
{
	struct buffer buffer = { 0 };
	struct hp_error *error;
	double found;

	while ((error = buffer_enlarge(&buffer, BYTES, FILL_PAID, UINT64_MAX, -1))) {
		if (error->class != HP_ERROR_INSUFFICIENT)
			die(error->message);
		hp_error_destroy(error);
	}
	found = ratio(buffer.at, source);
	buffer_release(&buffer);
	return found;
}

static int by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return hp_order(*a, *b);
}

int main(void)
{
	uint8_t *source = malloc(SOURCE_BYTES);
	double pages[TRIES], buffers[TRIES];

	if (!source)
		die("memory is short");
	memset(source, 1, SOURCE_BYTES);
	for (unsigned i = 0; i < TRIES; i++) {
		pages[i] = of_pages(source);
		buffers[i] = of_buffer(source);
	}
	free(source);
	qsort(pages, TRIES, sizeof(double), by_value);
	qsort(buffers, TRIES, sizeof(double), by_value);
	printf("first reading of %d MiB, as a multiple of the next one:\n", BYTES >> 20);
	printf("  into pages that only exist  %5.1f\n  into a window's buffer      %5.1f\n",
	       pages[TRIES / 2], buffers[TRIES / 2]);
	return 0;
}
