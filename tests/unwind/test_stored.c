/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables as bytes: of this program, and damaged ones. */
#include "../support.h"

#include "../../src/unwind/stored.h"
#include "../../src/unwind/table.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DAMAGES = 20000, STACK_BYTES = 512, ROOM = 32, LOOKUPS = 8 };

static struct hp_unwind_table *own_table(void)
{
	struct hp_unwind_table *table = NULL;
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	hp_assert_ok(hp_unwind_table_of_fd(fd, &table));
	ck_assert_uint_gt(table->rows.count, 0);
	return table;
}

static uint64_t end_of(const struct hp_unwind_table *table)
{
	return table->first + table->blocks.at[table->blocks.count - 1].place + 4096;
}

static void assert_same(const struct hp_unwind_table *a, const struct hp_unwind_table *b)
{
	struct hp_unwind_facts facts = hp_unwind_table_facts(a);
	struct hp_unwind_facts others = hp_unwind_table_facts(b);

	ck_assert_mem_eq(&facts, &others, sizeof(facts));
	for (uint64_t offset = 0; offset < end_of(a); offset++) {
		const struct hp_unwind_recipe *one = hp_unwind_recipe_at(a, offset);
		const struct hp_unwind_recipe *other = hp_unwind_recipe_at(b, offset);

		ck_assert_int_eq(!one, !other);
		if (one)
			ck_assert_mem_eq(one, other, sizeof(*one));
	}
}

TEST(a_table_is_the_same_again)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table = own_table();
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *again = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;

	hp_assert_ok(hp_unwind_table_encode(table, &bytes, &size));
	hp_assert_ok(hp_unwind_table_decode(bytes, size, &again));
	assert_same(table, again);
}

TEST(an_empty_table_is_one)
{
	struct hp_unwind_table none = { 0 };
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *again = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;

	hp_assert_ok(hp_unwind_table_encode(&none, &bytes, &size));
	hp_assert_ok(hp_unwind_table_decode(bytes, size, &again));
	ck_assert_ptr_null(hp_unwind_recipe_at(again, 0));
}

TEST(changed_and_cut_bytes_are_no_table)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table = own_table();
	struct hp_unwind_table *again = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;

	hp_assert_ok(hp_unwind_table_encode(table, &bytes, &size));
	for (size_t i = 0; i < size; i += i < 128 ? 1 : 997) {
		hp_assert_fails(HP_ERROR_DAMAGED, hp_unwind_table_decode(bytes, i, &again));
		bytes[i] ^= 0x10;
		hp_assert_fails(HP_ERROR_DAMAGED, hp_unwind_table_decode(bytes, size, &again));
		bytes[i] ^= 0x10;
	}
	ck_assert_ptr_null(again);
}

static bool find(void *context, uint64_t address, struct hp_unwind_place *place)
{
	place->table = context;
	place->recipe = hp_unwind_recipe_at(context, address);
	return true;
}

/* Whatever a table says, following it reads nothing that is not there. */
static void follow(struct hp_unwind_table *table, struct hp_random *random)
{
	uint8_t bytes[STACK_BYTES];
	struct hp_unwind_registers registers = { .known = (1u << HP_UNWIND_REGISTERS) - 1 };
	struct hp_unwind_stack stack = { 0x10000, bytes, sizeof(bytes) };
	struct hp_unwind_frame frames[ROOM];
	enum hp_unwind_end end;
	uint64_t last = table->blocks.count ? end_of(table) : 1;

	for (int i = 0; i < LOOKUPS; i++) {
		for (size_t at = 0; at < sizeof(bytes); at += 8) {
			uint64_t word = hp_random_between(random, 0, last);

			memcpy(bytes + at, &word, sizeof(word));
		}
		for (size_t at = 0; at < HP_UNWIND_REGISTERS; at++)
			registers.at[at] = stack.address + 8 * hp_random_between(random, 0, 20);
		registers.at[HP_UNWIND_RSP] = stack.address;
		registers.at[HP_UNWIND_RIP] = hp_random_between(random, 0, last);
		ck_assert_uint_ge(hp_unwind(&registers, &stack, find, table, frames, ROOM, &end),
				  1);
	}
}

TEST(damage_that_has_the_right_checksum_leads_nowhere)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table = own_table();
	struct hp_random random = hp_random_seeded(25);
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t sound = 0;
	size_t size;

	hp_assert_ok(hp_unwind_table_encode(table, &bytes, &size));
	for (int i = 0; i < DAMAGES; i++) {
		struct hp_unwind_table *again = NULL;
		size_t at = hp_random_between(&random, 0, i % 2 ? 2000 : size - 1);
		uint8_t was = bytes[at];

		bytes[at] = (uint8_t)hp_random_between(&random, 0, UINT8_MAX);
		stored_seal(bytes, size);
		hp_error_destroy(hp_unwind_table_decode(bytes, size, &again));
		sound += again != NULL;
		if (again)
			follow(again, &random);
		hp_unwind_table_destroy(again);
		bytes[at] = was;
	}
	/* Some say something else, and some say nothing that can be followed. */
	ck_assert_uint_gt(sound, 0);
	ck_assert_uint_lt(sound, DAMAGES);
}

HP_TEST_MAIN("unwind/stored")
