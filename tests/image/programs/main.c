/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls first() and second(), two copies of cold.c, and pieces of libc through its PLT. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int first(int n);
int second(int n);

static inline __attribute__((always_inline)) int innermost(int n)
{
	volatile int v = n;

	return v * 3 + v;
}

static inline __attribute__((always_inline)) int middle(int n)
{
	return innermost(n) + innermost(n + 1);
}

__attribute__((noinline)) int outermost(int n)
{
	return middle(n) * middle(n - 1);
}

int main(int argc, char **argv)
{
	char *copy = strdup(argv[0]);

	printf("%d %d %zu\n", first(argc) + second(argc), outermost(argc), strlen(copy));
	free(copy);
	return 0;
}
