/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernels ROUNDS
 * kernels SECONDS s
 *
 * A CPU-bound program of one process: sorting, hashing, parsing, matrices and text, one after the
 * other, ROUNDS times (some 14 ms each on a machine of 2024), or for SECONDS of CPU time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	NUMBERS = 60000,
	SLOTS = 1 << 17,
	SIDE = 120,
	TEXT_BYTES = 400000,
};

struct state {
	uint64_t random;
	uint32_t numbers[NUMBERS];
	uint64_t slots[SLOTS];
	double left[SIDE][SIDE];
	double right[SIDE][SIDE];
	double product[SIDE][SIDE];
	char text[TEXT_BYTES + 32];
};

#define KERNEL __attribute__((noinline, noclone)) static

KERNEL uint64_t draw(struct state *state)
{
	state->random ^= state->random << 13;
	state->random ^= state->random >> 7;
	state->random ^= state->random << 17;
	return state->random;
}

KERNEL void sift(uint32_t *numbers, size_t at, size_t count)
{
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		uint32_t swapped = numbers[at];

		if (child + 1 < count && numbers[child + 1] > numbers[child])
			child++;
		if (numbers[child] <= numbers[at])
			return;
		numbers[at] = numbers[child];
		numbers[child] = swapped;
	}
}

KERNEL uint64_t sort(struct state *state)
{
	for (size_t i = 0; i < NUMBERS; i++)
		state->numbers[i] = (uint32_t)draw(state);
	for (size_t i = NUMBERS / 2; i-- > 0;)
		sift(state->numbers, i, NUMBERS);
	for (size_t count = NUMBERS; count-- > 1;) {
		uint32_t largest = state->numbers[0];

		state->numbers[0] = state->numbers[count];
		state->numbers[count] = largest;
		sift(state->numbers, 0, count);
	}
	return state->numbers[NUMBERS / 2];
}

KERNEL uint64_t hash(struct state *state)
{
	uint64_t found = 0;

	memset(state->slots, 0, sizeof(state->slots));
	for (size_t i = 0; i < NUMBERS; i++) {
		uint64_t key = draw(state) % NUMBERS + 1;
		size_t slot = key * 0x9e3779b97f4a7c15u >> 47;

		while (state->slots[slot] && state->slots[slot] != key)
			slot = (slot + 1) % SLOTS;
		found += state->slots[slot] == key;
		state->slots[slot] = key;
	}
	return found;
}

KERNEL uint64_t multiply(struct state *state)
{
	for (size_t i = 0; i < SIDE; i++) {
		for (size_t j = 0; j < SIDE; j++) {
			state->left[i][j] = (double)(draw(state) % 100);
			state->right[i][j] = (double)(i * j % 17);
		}
	}
	for (size_t i = 0; i < SIDE; i++) {
		for (size_t j = 0; j < SIDE; j++) {
			double sum = 0;

			for (size_t k = 0; k < SIDE; k++)
				sum += state->left[i][k] * state->right[k][j];
			state->product[i][j] = sum;
		}
	}
	return (uint64_t)state->product[SIDE / 2][SIDE / 2];
}

KERNEL size_t print(struct state *state)
{
	size_t used = 0;

	while (used < TEXT_BYTES)
		used += (size_t)sprintf(state->text + used, "%lu %x,",
					(unsigned long)(draw(state) % 1000000),
					(unsigned)draw(state) & 0xfff);
	return used;
}

KERNEL uint64_t parse(const struct state *state, size_t length)
{
	const char *at = state->text;
	uint64_t sum = 0;

	while (at < state->text + length) {
		char *end;

		sum += strtoul(at, &end, 10);
		sum ^= strtoul(end, &end, 16);
		at = end + 1;
	}
	return sum;
}

KERNEL uint64_t checksum(const struct state *state, size_t length)
{
	uint32_t sum = ~0u;

	for (size_t i = 0; i < length; i++) {
		sum ^= (unsigned char)state->text[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long limit = argc > 1 ? strtoul(argv[1], NULL, 10) : 20;
	int timed = argc > 2;
	struct state *state = calloc(1, sizeof(*state));
	struct timespec start;
	uint64_t result = 0;

	if (!state)
		return 1;
	state->random = 88172645463325252u;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	for (unsigned long round = 0; timed || round < limit; round++) {
		struct timespec now;
		size_t length;

		result += sort(state) + hash(state) + multiply(state);
		length = print(state);
		result += parse(state, length) + checksum(state, length);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		if (timed && now.tv_sec - start.tv_sec >= (time_t)limit)
			break;
	}
	printf("%lu\n", (unsigned long)result);
	free(state);
	return 0;
}
