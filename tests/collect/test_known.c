/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/collect/paths/known.h"

static struct known known;
static struct tables tables;
static struct space first, second;

static struct known_place *slot(const struct space *space, uint64_t address)
{
	return known_slot(&known, &tables, space, address);
}

static void enter(const struct space *space, uint64_t address)
{
	*slot(space, address) = (struct known_place){ .space = space, .address = address };
}

TEST(an_address_is_known_in_its_own_space)
{
	ck_assert(!known_is(slot(&first, 0x1000), &first, 0x1000));
	enter(&first, 0x1000);
	ck_assert(known_is(slot(&first, 0x1000), &first, 0x1000));
	ck_assert(!known_is(slot(&first, 0x1001), &first, 0x1001));
	ck_assert(!known_is(slot(&second, 0x1000), &second, 0x1000));
}

/* What it points to is gone: a space, a table. */
TEST(what_may_be_gone_is_forgotten)
{
	enter(&first, 0x1000);
	known_forget(&known);
	ck_assert(!known_is(slot(&first, 0x1000), &first, 0x1000));
	enter(&first, 0x1000);
	tables.changes++;
	ck_assert(!known_is(slot(&first, 0x1000), &first, 0x1000));
	enter(&first, 0x1000);
	tables_forget_numbers(&tables);
	ck_assert(!known_is(slot(&first, 0x1000), &first, 0x1000));
}

HP_TEST_MAIN("collect/known")
