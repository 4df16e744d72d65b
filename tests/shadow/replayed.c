/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program to be replayed: stops itself, then does a bit of everything that compilers and the C
 * library make of C. Its output depends on all of it.
 */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned sink;

static unsigned fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int by_value(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* A table of jumps, as interpreters have. */
static unsigned interpret(const uint8_t *code, size_t size)
{
	unsigned a = 1, b = 2;

	for (size_t i = 0; i < size; i++)
		switch (code[i] & 15) {
		case 0:
			a += b;
			break;
		case 1:
			b ^= a << 3;
			break;
		case 2:
			a = a * 33 + 7;
			break;
		case 3:
			b -= a;
			break;
		case 4:
			a = ~a;
			break;
		case 5:
			b = b >> 5 | b << 27;
			break;
		case 6:
			a ^= b;
			break;
		case 7:
			b += 0x9e37;
			break;
		case 8:
			sink = a;
			break;
		case 9:
			b *= 5;
			break;
		case 10:
			a |= 1;
			break;
		case 11:
			b ^= sink;
			break;
		default:
			a++;
		}
	return a ^ b;
}

static jmp_buf back;

static int leap(int depth)
{
	if (depth == (int)(sink % 1))
		longjmp(back, 7);
	return depth > 100 ? 0 : 1 + leap(depth - 1);
}

static unsigned leap_and_return(void)
{
	if (setjmp(back) == 0)
		return (unsigned)leap(5);
	return sink;
}

/* The same state again and again, as seen from inside. */
__attribute__((noinline)) static void come_round(void)
{
	for (volatile int i = 0; i < 50; i++)
		sink = 5;
}

int main(void)
{
	static uint32_t values[80];
	uint8_t code[400];
	char text[256] = "";
	double sum = 0;

	/* The first malloc draws a random number. */
	free(malloc(100));
	raise(SIGSTOP);
	for (size_t i = 0; i < 80; i++)
		values[i] = (uint32_t)(i * 2654435761U) >> 7;
	qsort(values, 80, sizeof(values[0]), by_value);
	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = (uint8_t)(values[i % 80] >> (i & 7));
	for (int i = 1; i < 20; i++)
		sum += sqrt(i) * sin(i) / i;
	for (int i = 0; i < 8; i++) {
		char *copy = malloc((size_t)i * 37 + 5);

		if (!copy)
			return 3;
		snprintf(copy, (size_t)i * 37 + 5, "%d:%s", i, text);
		memmove(text, copy, strlen(copy) < 200 ? strlen(copy) + 1 : 200);
		text[200] = 0;
		free(copy);
	}
	come_round();
	printf("%u %u %.6f %s %u %u\n", fibonacci(9), interpret(code, sizeof(code)), sum, text,
	       sink, leap_and_return());
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		if (write(STDOUT_FILENO, "again\n", 6) != 6)
			return 4;
	return 42;
}
