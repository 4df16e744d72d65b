/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of earlier recordings are found by their file, and by nothing else. */
#include "../support.h"

#include "../../src/collect/paths/stored.h"

#include <hpcprof/base/cleanup.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct hp_identity identity = { HP_IDENTITY_BUILD_ID, 4, "abcd" };

/* Each test is a process of its own. */
static void use_place(void)
{
	char path[] = "/var/tmp/hpcprof-stored-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(path));
	setenv("XDG_CACHE_HOME", path, 1);
	ck_assert_int_eq(chdir(path), 0);
}

static void leave_place(void)
{
	_cleanup_free_ char *command = NULL;

	ck_assert_int_gt(asprintf(&command, "rm -rf '%s'", getenv("XDG_CACHE_HOME")), 0);
	ck_assert_int_eq(system(command), 0);
}

static struct stored_key own_key(struct hp_unwind_table **table)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stored_key key;

	ck_assert_int_ge(fd, 0);
	hp_assert_ok(hp_unwind_table_of_fd(fd, table));
	ck_assert(stored_key_of(fd, &identity, &key));
	return key;
}

TEST(a_table_is_found_by_its_file)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table = NULL;
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *again = NULL;
	struct stored_key key;

	use_place();
	key = own_key(&table);
	ck_assert_ptr_null(stored_load(&key));
	stored_save(&key, table);
	again = stored_load(&key);
	ck_assert_ptr_nonnull(again);
	ck_assert_uint_eq(hp_unwind_table_facts(again).rows, hp_unwind_table_facts(table).rows);
	leave_place();
}

/* It may claim the same identity. */
TEST(another_file_is_another)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table = NULL;
	struct stored_key key;
	struct stored_key other;

	use_place();
	key = own_key(&table);
	stored_save(&key, table);
#define ASSERT_OTHER(field, value)                                                                 \
	do {                                                                                       \
		other = key;                                                                       \
		other.field = (value);                                                             \
		ck_assert_ptr_null(stored_load(&other));                                           \
	} while (0)
	ASSERT_OTHER(identity.bytes[0], 'b');
	ASSERT_OTHER(device, key.device + 1);
	ASSERT_OTHER(inode, key.inode + 1);
	ASSERT_OTHER(size, key.size + 1);
	ASSERT_OTHER(modified[1], key.modified[1] + 1);
	ASSERT_OTHER(changed[0], key.changed[0] + 1);
	leave_place();
}

TEST(without_an_identity_nothing_is_kept)
{
	const struct hp_identity none = { 0 };
	struct stored_key key;

	ck_assert(!stored_key_of(STDIN_FILENO, &none, &key));
	ck_assert(!stored_key_of(-1, &identity, &key));
}

TEST(what_is_damaged_or_cannot_be_kept_is_none)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table = NULL;
	struct stored_key key;

	use_place();
	key = own_key(&table);
	stored_save(&key, table);
	ck_assert_int_eq(system("for f in hpcprof/unwind-*; do printf x | "
				"dd of=$f bs=1 seek=500 conv=notrunc 2>/dev/null; done"),
			 0);
	ck_assert_ptr_null(stored_load(&key));
	leave_place();
	setenv("XDG_CACHE_HOME", "/proc/nonexistent", 1);
	stored_save(&key, table);
	ck_assert_ptr_null(stored_load(&key));
}

HP_TEST_MAIN("collect/stored")
