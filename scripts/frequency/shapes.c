/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of many shapes, for judging frequencies: an interpreter, recursion, loops that end early or
 * run few rounds, branches that go both ways, trees and lists, bits and strings. Always the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t seed = 99;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 8) % below;
}

/* --- an interpreter of a stack machine ------------------------------------------------------- */

enum op { PUSH, ADD, SUB, MUL, DUP, SWAP, JUMP_NOT_ZERO, LOAD, STORE, HALT };

static int64_t interpret(const int *code, int64_t *cells)
{
	int64_t stack[64];
	int top = 0;

	for (int at = 0;;) {
		int64_t other;

		switch ((enum op)code[at++]) {
		case PUSH:
			stack[top++] = code[at++];
			break;
		case ADD:
			top--;
			stack[top - 1] += stack[top];
			break;
		case SUB:
			top--;
			stack[top - 1] -= stack[top];
			break;
		case MUL:
			top--;
			stack[top - 1] *= stack[top];
			break;
		case DUP:
			stack[top] = stack[top - 1];
			top++;
			break;
		case SWAP:
			other = stack[top - 1];
			stack[top - 1] = stack[top - 2];
			stack[top - 2] = other;
			break;
		case JUMP_NOT_ZERO:
			at = stack[--top] ? code[at] : at + 1;
			break;
		case LOAD:
			stack[top++] = cells[code[at++]];
			break;
		case STORE:
			cells[code[at++]] = stack[--top];
			break;
		case HALT:
			return cells[0];
		}
	}
}

static int64_t run_machine(int rounds)
{
	static const int code[] = {
		/* 0 */ LOAD,
		1,
		DUP,
		MUL,
		LOAD,
		0,
		ADD,
		STORE,
		0,
		/* 9 */ LOAD,
		0,
		PUSH,
		3,
		MUL,
		STORE,
		2,
		LOAD,
		2,
		/* 18 */ PUSH,
		7,
		SWAP,
		SUB,
		STORE,
		2,
		LOAD,
		1,
		PUSH,
		/* 27 */ 1,
		SUB,
		DUP,
		STORE,
		1,
		JUMP_NOT_ZERO,
		0,
		HALT,
	};
	int64_t cells[4] = { 0, rounds, 0, 0 };

	return interpret(code, cells);
}

/* --- recursion ------------------------------------------------------------------------------- */

static unsigned queens(unsigned size, unsigned row, unsigned columns, unsigned left, unsigned right)
{
	unsigned free_columns;
	unsigned found = 0;

	if (row == size)
		return 1;
	free_columns = ~(columns | left | right) & ((1u << size) - 1);
	while (free_columns) {
		unsigned bit = free_columns & -free_columns;

		free_columns ^= bit;
		found +=
			queens(size, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
	}
	return found;
}

/* --- a tree of numbers ----------------------------------------------------------------------- */

struct node {
	uint32_t key;
	uint32_t count;
	struct node *child[2];
};

static struct node pool[40000];
static size_t pool_used;

static void insert(struct node **at, uint32_t key)
{
	while (*at) {
		if ((*at)->key == key) {
			(*at)->count++;
			return;
		}
		at = &(*at)->child[(*at)->key < key];
	}
	if (pool_used < sizeof(pool) / sizeof(pool[0])) {
		*at = &pool[pool_used++];
		**at = (struct node){ .key = key, .count = 1 };
	}
}

static uint64_t sum_of(const struct node *node, unsigned depth)
{
	return node ? node->key * depth + sum_of(node->child[0], depth + 1) +
			       sum_of(node->child[1], depth + 1)
		    : 0;
}

static uint64_t trees(int numbers)
{
	struct node *root = NULL;

	pool_used = 0;
	for (int i = 0; i < numbers; i++)
		insert(&root, draw(60000));
	return sum_of(root, 1);
}

/* --- text: tokens, then a search -------------------------------------------------------------- */

static size_t tokens(const char *text, size_t length, unsigned kinds[5])
{
	size_t count = 0;

	for (size_t i = 0; i < length;) {
		char c = text[i];

		if (c == ' ' || c == '\n') {
			i++;
			continue;
		}
		count++;
		if ((c >= 'a' && c <= 'z') || c == '_') {
			while (i < length && ((text[i] >= 'a' && text[i] <= 'z') || text[i] == '_'))
				i++;
			kinds[0]++;
		} else if (c >= '0' && c <= '9') {
			unsigned value = 0;

			while (i < length && text[i] >= '0' && text[i] <= '9')
				value = value * 10 + (unsigned)(text[i++] - '0');
			kinds[1] += value & 1;
		} else if (c == '"') {
			for (i++; i < length && text[i] != '"'; i++)
				if (text[i] == '\\')
					i++;
			i++;
			kinds[2]++;
		} else {
			kinds[c == '(' ? 3 : 4]++;
			i++;
		}
	}
	return count;
}

static size_t occurrences(const char *text, size_t length, const char *word, size_t size)
{
	size_t found = 0;

	for (size_t i = 0; i + size <= length; i++) {
		size_t k = 0;

		while (k < size && text[i + k] == word[k])
			k++;
		found += k == size;
	}
	return found;
}

static void write_text(char *text, size_t length)
{
	static const char letters[] = "abcdefgh_____    (;0123456789\"\n";

	for (size_t i = 0; i < length; i++)
		text[i] = letters[draw(sizeof(letters) - 1)];
}

/* --- numbers --------------------------------------------------------------------------------- */

static unsigned long collatz(unsigned limit)
{
	unsigned long steps = 0;

	for (unsigned i = 1; i < limit; i++)
		for (uint64_t n = i; n != 1; steps++)
			n = n & 1 ? 3 * n + 1 : n / 2;
	return steps;
}

static unsigned crc(const char *bytes, size_t length)
{
	unsigned sum = ~0u;

	for (size_t i = 0; i < length; i++) {
		sum ^= (unsigned char)bytes[i];
		for (int k = 0; k < 8; k++)
			sum = sum & 1 ? sum >> 1 ^ 0xedb88320u : sum >> 1;
	}
	return ~sum;
}

static unsigned primes(unsigned char *sieve, unsigned limit)
{
	unsigned found = 0;

	memset(sieve, 1, limit);
	for (unsigned i = 2; i < limit; i++) {
		if (!sieve[i])
			continue;
		found++;
		for (uint64_t k = (uint64_t)i * i; k < limit; k += i)
			sieve[k] = 0;
	}
	return found;
}

static double relax(double *grid, unsigned side, unsigned rounds)
{
	double change = 0;

	for (unsigned round = 0; round < rounds; round++) {
		change = 0;
		for (unsigned y = 1; y + 1 < side; y++) {
			for (unsigned x = 1; x + 1 < side; x++) {
				double *at = &grid[y * side + x];
				double next = (at[-1] + at[1] + *(at - side) + at[side]) / 4;

				if (next > *at + 0.01)
					change += next - *at;
				*at = next;
			}
		}
	}
	return change;
}

static void sift(uint32_t *heap, size_t at, size_t count)
{
	for (;;) {
		size_t child = 2 * at + 1;
		uint32_t other;

		if (child >= count)
			return;
		if (child + 1 < count && heap[child + 1] > heap[child])
			child++;
		if (heap[at] >= heap[child])
			return;
		other = heap[at];
		heap[at] = heap[child];
		heap[child] = other;
		at = child;
	}
}

static uint32_t heap_sort(uint32_t *numbers, size_t count)
{
	for (size_t i = count / 2; i-- > 0;)
		sift(numbers, i, count);
	for (size_t i = count; i-- > 1;) {
		uint32_t most = numbers[0];

		numbers[0] = numbers[i];
		numbers[i] = most;
		sift(numbers, 0, i);
	}
	return numbers[count / 2];
}

int main(void)
{
	enum { TEXT = 1 << 20, LIMIT = 8000000, SIDE = 300, NUMBERS = 1000000 };
	char *text = malloc(TEXT);
	unsigned char *sieve = malloc(LIMIT);
	double *grid = calloc(SIDE * SIDE, sizeof(*grid));
	uint32_t *numbers = malloc(NUMBERS * sizeof(*numbers));
	unsigned kinds[5] = { 0 };

	if (!text || !sieve || !grid || !numbers)
		return 1;
	write_text(text, TEXT);
	for (unsigned i = 0; i < SIDE; i++)
		grid[i] = i % 17;
	for (unsigned i = 0; i < NUMBERS; i++)
		numbers[i] = draw(1000000);
	printf("%lld", (long long)run_machine(2500000));
	printf(" %u", queens(11, 0, 0, 0, 0));
	printf(" %llu", (unsigned long long)trees(600000));
	for (int i = 0; i < 20; i++)
		printf(" %zu", tokens(text, TEXT, kinds));
	printf(" %zu", occurrences(text, TEXT, "ab_cd", 5));
	printf(" %lu", collatz(500000));
	printf(" %u", crc(text, TEXT));
	printf(" %u", primes(sieve, LIMIT));
	printf(" %g", relax(grid, SIDE, 300));
	printf(" %u\n", heap_sort(numbers, NUMBERS));
	free(text);
	free(sieve);
	free(grid);
	free(numbers);
	return 0;
}
