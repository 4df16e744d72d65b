/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A real program cut short and with flipped bits: anything may be answered, nothing may crash. */
#include "workshop.h"

#include "../fuzz/fuzz.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

enum { FLIPPED_FILES = 600, MAX_FLIPS = 24 };

static uint8_t *small_program(const char *flags, size_t *size)
{
	workshop_run("c++ %s -g -O2 -o program \"$src\"/shapes.cc", flags);
	return workshop_bytes("program", size);
}

TEST(a_program_cut_anywhere_does_no_harm)
{
	size_t size;
	_cleanup_free_ uint8_t *bytes = small_program("-gdwarf-5", &size);
	struct hp_random random = hp_random_seeded(1);

	for (size_t cut = 0; cut < 256; cut++)
		ck_assert_int_eq(LLVMFuzzerTestOneInput(bytes, cut), 0);
	for (size_t i = 0; i < 200; i++) {
		size_t cut = hp_random_between(&random, 0, size);
		/* At the end of its own allocation, where a sanitizer sees a step too far. */
		uint8_t *exact = malloc(cut + !cut);

		ck_assert(exact != NULL);
		memcpy(exact, bytes, cut);
		ck_assert_int_eq(LLVMFuzzerTestOneInput(exact, cut), 0);
		free(exact);
	}
}

static void flip_and_ask(const char *flags, uint64_t seed, uint64_t last_byte)
{
	size_t size;
	_cleanup_free_ uint8_t *bytes = small_program(flags, &size);
	_cleanup_free_ uint8_t *damaged = malloc(size);
	struct hp_random random = hp_random_seeded(seed);

	ck_assert(damaged != NULL);
	if (last_byte > size - 1)
		last_byte = size - 1;
	for (size_t i = 0; i < FLIPPED_FILES; i++) {
		uint64_t flips = hp_random_between(&random, 1, MAX_FLIPS);

		memcpy(damaged, bytes, size);
		while (flips-- > 0)
			damaged[hp_random_between(&random, 0, last_byte)] ^=
				(uint8_t)(1u << hp_random_between(&random, 0, 7));
		ck_assert_int_eq(LLVMFuzzerTestOneInput(damaged, size), 0);
	}
}

TEST(flipped_bits_anywhere_do_no_harm)
{
	flip_and_ask("-gdwarf-5", 2, UINT64_MAX);
	flip_and_ask("-gdwarf-4 -no-pie -fno-pie", 3, UINT64_MAX);
}

TEST(flipped_bits_in_the_headers_do_no_harm)
{
	flip_and_ask("-gdwarf-5", 4, 64 + 13 * 56);
}

/* The section headers are at the end; most of what can go wrong starts there. */
TEST(flipped_bits_in_the_section_headers_do_no_harm)
{
	size_t size;
	_cleanup_free_ uint8_t *bytes = small_program("", &size);
	_cleanup_free_ uint8_t *damaged = malloc(size);
	struct hp_random random = hp_random_seeded(5);

	ck_assert(damaged != NULL);
	for (size_t i = 0; i < FLIPPED_FILES; i++) {
		memcpy(damaged, bytes, size);
		for (size_t k = 0; k < 4; k++)
			damaged[hp_random_between(&random, size - 40 * 64, size - 1)] ^=
				(uint8_t)(1u << hp_random_between(&random, 0, 7));
		ck_assert_int_eq(LLVMFuzzerTestOneInput(damaged, size), 0);
	}
}

HP_TEST_MAIN("image/damaged")
