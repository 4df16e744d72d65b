/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure_code: for each line of hexadecimal machine code on standard input, the core cycles that
 * it takes again and again in a row, or "-" when it faults or will not be steady. No counters: time
 * stamps, against a chain of dependent additions that runs beside it, each of which takes one
 * cycle.
 *
 * The code must not touch memory or the stack pointer, nor jump.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>

enum {
	BUFFER_BYTES = 1 << 16,
	LINE = 8192,
	CODE_BYTES = 2400, /* of copies: within the first-level and micro-op caches */
	CHAIN = 400,
	RUN_BYTES = 80000, /* of code run in one go: short, so that few are interrupted */
	REPEATS = 31,
};

struct code {
	uint8_t *bytes; /* a function without arguments */
	double pieces;	/* that one call runs */
};

static sigjmp_buf fault;

static void on_fault(int number)
{
	siglongjmp(fault, number);
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

#define PUT(at, ...)                                                                               \
	put(at, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* Saves what a function must keep; the counter of the loop is in memory, since the code may use any
 * register. */
static struct code make(const uint8_t *piece, size_t size, unsigned copies, uint32_t loops)
{
	uint8_t *start = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *at = start;
	uint8_t *again;
	int32_t to;

	if (start == MAP_FAILED)
		exit(1);
	at = PUT(at, 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57); /* push */
	at = PUT(at, 0x48, 0x83, 0xec, 0x48, 0xc7, 0x04, 0x24); /* mov [rsp], loops */
	at = put(at, &loops, sizeof(loops));
	for (unsigned reg = 0; reg < 16; reg++) /* mov reg, reg + 3 */
		if (reg != 4)
			at = PUT(at, (uint8_t)(0x48 | (reg >> 3)), 0xc7,
				 (uint8_t)(0xc0 | (reg & 7)), (uint8_t)(reg + 3), 0, 0, 0);
	while ((at - start) % 64)
		*at++ = 0x90;
	again = at;
	for (unsigned i = 0; i < copies; i++)
		at = put(at, piece, size);
	at = PUT(at, 0x83, 0x2c, 0x24, 1, 0x0f, 0x85); /* sub dword [rsp], 1; jne again */
	to = (int32_t)(again - (at + 4));
	at = put(at, &to, sizeof(to));
	at = PUT(at, 0x48, 0x83, 0xc4, 0x48, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d,
		 0x5b, 0xfc, 0xc3);
	if (mprotect(start, BUFFER_BYTES, PROT_READ | PROT_EXEC) != 0)
		exit(1);
	return (struct code){ .bytes = start, .pieces = (double)copies * loops };
}

static uint64_t run(const struct code *code)
{
	uint64_t from;
	uint64_t to;

	__asm__ volatile("vzeroall" ::
				 : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
				   "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
				   "xmm14", "xmm15");
	_mm_lfence();
	from = __rdtsc();
	_mm_lfence();
	((void (*)(void))(uintptr_t)code->bytes)();
	_mm_lfence();
	to = __rdtsc();
	_mm_lfence();
	return to - from;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of paired ratios; 0 when the middle half of them is wider than a twentieth. */
static double measure(const struct code *code, const struct code *chain)
{
	double ratios[REPEATS];

	for (int i = -2; i < REPEATS; i++) { /* the first ones warm up */
		uint64_t before = run(chain);
		uint64_t time = run(code);
		uint64_t after = run(chain);

		if (i >= 0)
			ratios[i] = 2.0 * (double)time / (double)(before + after);
	}
	qsort(ratios, REPEATS, sizeof(ratios[0]), by_value);
	if (ratios[REPEATS * 3 / 4] > 1.05 * ratios[REPEATS / 4])
		return 0;
	return ratios[REPEATS / 2] * chain->pieces / code->pieces;
}

static double measure_often(const struct code *code, const struct code *chain)
{
	double cycles = 0;

	for (int attempt = 0; attempt < 4 && cycles <= 0; attempt++)
		cycles = measure(code, chain);
	return cycles;
}

static double measure_or_fault(const struct code *code, const struct code *chain)
{
	return sigsetjmp(fault, 1) ? 0 : measure_often(code, chain);
}

int main(void)
{
	/* add rax, rcx, and not of a small constant, which some cores do at rename */
	static uint8_t additions[3] = { 0x48, 0x01, 0xc8 };
	struct code chain = make(additions, 3, CHAIN, 100);
	struct sigaction action = { .sa_handler = on_fault };
	static char line[LINE];
	static uint8_t piece[LINE / 2];

	sigaction(SIGILL, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	while (fgets(line, sizeof(line), stdin)) {
		size_t size = 0;
		unsigned value;
		unsigned copies;
		struct code code;
		double cycles;

		while (size < sizeof(piece) && sscanf(line + 2 * size, "%2x", &value) == 1)
			piece[size++] = (uint8_t)value;
		if (size == 0) {
			puts("-");
			continue;
		}
		copies = (unsigned)(CODE_BYTES / size) + 1;
		code = make(piece, size, copies, RUN_BYTES / (unsigned)(copies * size) + 1);
		cycles = measure_or_fault(&code, &chain);
		munmap(code.bytes, BUFFER_BYTES);
		if (cycles > 0)
			printf("%.4f\n", cycles);
		else
			puts("-");
		fflush(stdout);
	}
	return 0;
}
