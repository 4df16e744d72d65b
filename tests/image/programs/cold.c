/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static functions of the same name in two files, each with a part that the compiler moves away. */
#include <stdio.h>
#include <stdlib.h>

static int counter;

static __attribute__((cold, noinline)) void complain(int n)
{
	fprintf(stderr, "%d\n", n);
}

static __attribute__((noinline)) int worker(int n)
{
	for (int i = 0; i < n; i++) {
		counter += i * n;
		if (__builtin_expect(counter == 12345, 0)) {
			complain(n);
			complain(i);
			counter -= n;
			abort();
		}
	}
	return counter;
}

int ENTRY(int n);
int ENTRY(int n)
{
	return worker(n) + worker(n + 1);
}
