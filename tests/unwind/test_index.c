/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows that are made when they are asked for are those that are made at once. */
#include "../support.h"

#include "../../src/unwind/table.h"

#include <hpcprof/base/elf_section.h>
#include <hpcprof/base/number.h>

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP = 3, DAMAGES = 60, DAMAGED_BYTES = 16, LOOKUPS = 500 };

static int take_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	*(const char **)path = info->dlpi_name;
	return 1;
}

/* A copy of the library in memory, which may be changed. */
static int copy_of_libc(size_t *size)
{
	const char *path = NULL;
	_cleanup_close_ int fd = -1;
	struct stat status;
	int copy = memfd_create("libc", MFD_CLOEXEC);
	void *bytes;

	dl_iterate_phdr(take_libc, &path);
	ck_assert_ptr_nonnull(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(fstat(fd, &status), 0);
	*size = (size_t)status.st_size;
	bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(bytes, MAP_FAILED);
	ck_assert_int_eq(write(copy, bytes, *size), status.st_size);
	munmap(bytes, *size);
	return copy;
}

static struct hp_unwind_table *index_of(int fd)
{
	struct hp_unwind_table *table = NULL;

	hp_assert_ok(hp_unwind_table_of_index(fd, 0, &table));
	return table;
}

static bool are_same(struct rule a, struct rule b)
{
	return a.kind == b.kind && a.value == b.value;
}

/* Expressions are numbered in another order. */
static bool is_same(const struct hp_unwind_recipe *a, const struct hp_unwind_recipe *b)
{
	return a->cfa_register == b->cfa_register &&
	       (a->cfa == b->cfa || a->cfa_register == CFA_BY_EXPRESSION) &&
	       a->is_signal == b->is_signal && are_same(a->rip, b->rip) &&
	       are_same(a->rbp, b->rbp) && are_same(a->rbx, b->rbx);
}

TEST(rows_are_those_that_are_made_at_once)
{
	size_t size;
	_cleanup_close_ int fd = copy_of_libc(&size);
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *indexed = index_of(fd);
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *whole = NULL;
	size_t found = 0;

	hp_assert_ok(hp_unwind_table_of_fd(fd, &whole));
	for (uint64_t offset = 0; offset < size; offset += STEP) {
		const struct hp_unwind_recipe *made = hp_unwind_recipe_at(whole, offset);
		const struct hp_unwind_recipe *one = hp_unwind_recipe_at(indexed, offset);

		found += one != NULL;
		ck_assert_msg(made && one ? is_same(made, one) : made == one, "at %#lx",
			      (unsigned long)offset);
		ck_assert_uint_eq(hp_unwind_procedure_at(indexed, offset),
				  hp_unwind_procedure_at(whole, offset));
	}
	ck_assert_uint_gt(found, 0);
	ck_assert_uint_eq(hp_unwind_table_facts(indexed).recipes,
			  hp_unwind_table_facts(whole).recipes);
}

TEST(few_rows_are_made_and_they_stay_where_they_are)
{
	size_t size;
	_cleanup_close_ int fd = copy_of_libc(&size);
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table = index_of(fd);
	uint64_t place = 0;
	const struct hp_unwind_recipe *first = NULL;
	struct hp_unwind_recipe copy;
	size_t bytes = hp_unwind_table_facts(table).bytes;

	ck_assert_uint_eq(hp_unwind_table_facts(table).rows, 0);
	while (!first && place < size)
		first = hp_unwind_recipe_at(table, place++);
	ck_assert_ptr_nonnull(first);
	copy = *first;
	ck_assert_uint_lt(hp_unwind_table_facts(table).rows, 100);
	for (uint64_t offset = 0; offset < size; offset += 64)
		hp_unwind_recipe_at(table, offset);
	ck_assert_uint_gt(hp_unwind_table_facts(table).bytes, bytes);
	ck_assert_ptr_eq(hp_unwind_recipe_at(table, place - 1), first);
	ck_assert_mem_eq(first, &copy, sizeof(copy));
}

TEST(a_file_that_has_changed_is_not_read_again)
{
	size_t size;
	_cleanup_close_ int fd = copy_of_libc(&size);
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table = index_of(fd);
	uint64_t place = 0;

	while (place < size && !hp_unwind_recipe_at(table, place))
		place++;
	ck_assert_int_eq(ftruncate(fd, 100), 0);
	ck_assert_ptr_nonnull(hp_unwind_recipe_at(table, place));
	for (uint64_t offset = place + (1 << 16); offset < size; offset += 256)
		ck_assert_ptr_null(hp_unwind_recipe_at(table, offset));
}

TEST(a_small_or_foreign_file_has_no_index)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table = NULL;
	size_t size;
	_cleanup_close_ int fd = copy_of_libc(&size);

	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_unwind_table_of_index(fd, size, &table));
	ck_assert_int_eq(ftruncate(fd, 64), 0);
	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_unwind_table_of_index(fd, 0, &table));
	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_unwind_table_of_index(-1, 0, &table));
}

/* Overwrites bytes at some places of a section. */
static void damage(int fd, struct hp_random *random, const char *name, unsigned times)
{
	uint8_t bytes[DAMAGED_BYTES];
	GElf_Shdr header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_ptr_nonnull(hp_elf_section(elf, name, &header));
	elf_end(elf);
	for (unsigned i = 0; i < times; i++) {
		uint64_t at = header.sh_offset +
			      hp_random_between(random, 0, header.sh_size - sizeof(bytes));

		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)hp_random_between(random, 0, 255);
		ck_assert_int_eq(pwrite(fd, bytes, sizeof(bytes), (off_t)at), sizeof(bytes));
	}
}

TEST(damaged_sections_are_survived)
{
	struct hp_random random = hp_random_seeded(25);
	size_t size;
	size_t indexes = 0;

	for (unsigned i = 0; i < DAMAGES; i++) {
		_cleanup_close_ int fd = copy_of_libc(&size);
		struct hp_unwind_table *table = NULL;

		damage(fd, &random, i % 2 ? ".eh_frame" : ".eh_frame_hdr", i % 2 ? 1000 : 1);
		hp_error_destroy(hp_unwind_table_of_index(fd, 0, &table));
		for (unsigned k = 0; table && k < LOOKUPS; k++)
			hp_unwind_recipe_at(table, hp_random_between(&random, 0, size));
		indexes += table != NULL;
		hp_unwind_table_destroy(table);
	}
	/* A damaged index is not relied on, mostly; a damaged section is not seen by it. */
	ck_assert_uint_ge(indexes, DAMAGES / 2);
}

HP_TEST_MAIN("unwind/index")
