/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of /proc/PID/maps and fdinfo, as kernels write them and as they do not. */
#include "../../src/shadow/copy/areas.h"
#include "../../src/shadow/syscalls/descriptors.h"
#include "../support.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool parse(struct areas *areas, const char *text, char *copy, size_t size)
{
	ck_assert_uint_lt(strlen(text), size);
	strcpy(copy, text);
	return areas_parse(areas, copy);
}

TEST(a_line_says_where_what_and_how)
{
	struct areas areas = { 0 };
	char text[512];

	ck_assert(parse(&areas,
			"00400000-00401000 r-xp 00002000 fd:01 1234   /usr/bin/a b\\012c\n"
			"7f0000000000-7f0000021000 rw-s 00000000 00:01 77\n",
			text, sizeof(text)));
	ck_assert_uint_eq(areas.count, 2);
	ck_assert_uint_eq(areas.at[0].start, 0x400000);
	ck_assert_uint_eq(areas.at[0].end, 0x401000);
	ck_assert_uint_eq(areas.at[0].file_offset, 0x2000);
	ck_assert_uint_eq(areas.at[0].inode, 1234);
	ck_assert_int_eq(areas.at[0].protection, PROT_READ | PROT_EXEC);
	ck_assert(!areas.at[0].is_shared);
	ck_assert_str_eq(areas.at[0].path, "/usr/bin/a b\nc");
	ck_assert(areas.at[1].is_shared);
	ck_assert_int_eq(areas.at[1].kind, AREA_UNNAMED);
	areas_clear(&areas);
}

TEST(kinds_are_told_by_name)
{
	static const struct {
		const char *rest;
		enum area_kind kind;
	} cases[] = {
		{ "00:00 0", AREA_MEMORY },
		{ "00:00 0 [heap]", AREA_HEAP },
		{ "00:00 0 [stack]", AREA_STACK },
		{ "00:00 0 [anon:arena]", AREA_MEMORY },
		{ "00:00 0 [vdso]", AREA_VDSO },
		{ "00:00 0 [vvar]", AREA_VVAR },
		{ "00:00 0 [vvar_vclock]", AREA_VVAR },
		{ "00:00 0 [vsyscall]", AREA_VSYSCALL },
		{ "fd:01 9 /lib/libc.so.6", AREA_FILE },
		{ "fd:01 9 /lib/gone.so (deleted)", AREA_FILE },
		{ "00:01 9 /memfd:x (deleted)", AREA_UNNAMED },
		{ "00:01 9 /SYSV00000000 (deleted)", AREA_UNNAMED },
		{ "00:01 9 /dev/zero (deleted)", AREA_UNNAMED },
		{ "00:05 9 /dev/shm/segment", AREA_FILE },
		{ "00:05 9 /dev/dri/card0", AREA_DEVICE },
		{ "00:05 9 /dev/nvidia0", AREA_DEVICE },
		{ "00:0e 9 anon_inode:[io_uring]", AREA_DEVICE },
		{ "00:0e 9 anon_inode:[perf_event]", AREA_DEVICE },
		{ "00:0e 9 /[aio] (deleted)", AREA_DEVICE },
		{ "00:0e 9 socket:[123]", AREA_DEVICE },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct areas areas = { 0 };
		char line[256];
		char text[256];

		snprintf(line, sizeof(line), "1000-2000 rw-p 00000000 %s\n", cases[i].rest);
		ck_assert(parse(&areas, line, text, sizeof(text)));
		ck_assert_uint_eq(areas.count, 1);
		ck_assert_msg(areas.at[0].kind == cases[i].kind, "%s is of kind %d", cases[i].rest,
			      areas.at[0].kind);
		areas_clear(&areas);
	}
}

TEST(what_makes_no_sense_is_refused)
{
	static const char *const cases[] = {
		"2000-1000 rw-p 00000000 00:00 0\n",
		"1000-1000 rw-p 00000000 00:00 0\n",
		"1000-2000 rw-p\n",
		"1000-2000 rw-\n",
		"1000-2000 rw-p 00000000 00:00\n",
		"1000-2000 rw-p 00000000 00:00 x\n",
		"g000-2000 rw-p 00000000 00:00 0\n",
		"11111111111111111-2000 rw-p 00000000 00:00 0\n",
		"1000-3000 rw-p 00000000 00:00 0\n2000-4000 rw-p 00000000 00:00 0\n",
		"3000-4000 rw-p 00000000 00:00 0\n1000-2000 rw-p 00000000 00:00 0\n",
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct areas areas = { 0 };
		char text[256];

		ck_assert_msg(!parse(&areas, cases[i], text, sizeof(text)), "case %zu", i);
		areas_clear(&areas);
	}
}

TEST(an_address_is_found_in_its_area_and_not_between)
{
	struct areas areas = { 0 };
	char text[256];

	ck_assert(parse(&areas,
			"1000-2000 rw-p 00000000 00:00 0\n2000-3000 r--p 00000000 00:00 0\n"
			"5000-6000 r--p 00000000 00:00 0\n",
			text, sizeof(text)));
	ck_assert_ptr_null(areas_find(&areas, 0xfff));
	ck_assert_ptr_eq(areas_find(&areas, 0x1000), &areas.at[0]);
	ck_assert_ptr_eq(areas_find(&areas, 0x1fff), &areas.at[0]);
	ck_assert_ptr_eq(areas_find(&areas, 0x2000), &areas.at[1]);
	ck_assert_ptr_null(areas_find(&areas, 0x3000));
	ck_assert_ptr_eq(areas_find(&areas, 0x5fff), &areas.at[2]);
	ck_assert_ptr_null(areas_find(&areas, 0x6000));
	areas_clear(&areas);
}

TEST(our_own_areas_can_be_read)
{
	struct areas areas = { 0 };
	int here = 0;
	const struct area *stack;

	hp_assert_ok(areas_read(&areas, getpid()));
	stack = areas_find(&areas, (uint64_t)(uintptr_t)&here);
	ck_assert_ptr_nonnull(stack);
	ck_assert_int_eq(stack->protection & (PROT_READ | PROT_WRITE), PROT_READ | PROT_WRITE);
	ck_assert_ptr_nonnull(areas_find(&areas, (uint64_t)(uintptr_t)&areas_read));
	areas_clear(&areas);
}

TEST(a_position_and_flags_are_read_from_fdinfo)
{
	uint64_t position = 0;
	uint64_t inode = 5;
	int flags = 0;

	ck_assert(descriptor_parse_info("pos:\t1234\nflags:\t0100002\nmnt_id:\t31\nino:\t99\n",
					&position, &flags, &inode));
	ck_assert_uint_eq(position, 1234);
	ck_assert_int_eq(flags, 0100002);
	ck_assert_uint_eq(inode, 99);
	/* Kernels before 5.14 do not say which file it is. */
	inode = 5;
	ck_assert(descriptor_parse_info("pos:\t0\nflags:\t00\n", &position, &flags, &inode));
	ck_assert_uint_eq(inode, 5);
	ck_assert(!descriptor_parse_info("", &position, &flags, &inode));
	ck_assert(!descriptor_parse_info("pos:\t1\n", &position, &flags, &inode));
	ck_assert(!descriptor_parse_info("flags:\t0\n", &position, &flags, &inode));
	ck_assert(!descriptor_parse_info("pos:\tx\nflags:\t0\n", &position, &flags, &inode));
	ck_assert(!descriptor_parse_info("pos:\t1\nflags:\t9z\n", &position, &flags, &inode));
}

TEST(a_new_descriptor_has_the_lowest_free_number)
{
	const struct descriptor opened = { .kind = DESCRIPTOR_REGULAR, .fd = -1 };
	struct descriptors descriptors = { 0 };
	struct descriptor *first;
	struct descriptor *second;

	hp_assert_ok(descriptors_list(&descriptors, getpid()));
	ck_assert_ptr_nonnull(descriptors_find(&descriptors, 1));
	first = descriptors_add(&descriptors, &opened);
	ck_assert_ptr_nonnull(first);
	/* Ours is taken while the list is made, or the directory of it was. */
	ck_assert_int_gt(first->number, 1);
	descriptors_remove(&descriptors, descriptors_find(&descriptors, 1));
	second = descriptors_add(&descriptors, &opened);
	ck_assert_ptr_nonnull(second);
	ck_assert_int_eq(second->number, 1);
	descriptors_clear(&descriptors);
}

/* One that would see it. */
TEST(no_file_is_opened_of_one_that_watches_files)
{
	struct descriptors descriptors = { 0 };
	struct descriptor *own;
	char path[] = "/tmp/hpcprof-areas.XXXXXX";
	int file = mkstemp(path);
	int watching;

	hp_assert_ok(descriptors_list(&descriptors, getpid()));
	own = descriptors_find(&descriptors, (uint64_t)file);
	ck_assert_ptr_nonnull(own);
	ck_assert_int_ge(own->fd, 0);
	descriptors_clear(&descriptors);
	watching = inotify_init();
	ck_assert_int_ge(watching, 0);
	hp_assert_ok(descriptors_list(&descriptors, getpid()));
	own = descriptors_find(&descriptors, (uint64_t)file);
	ck_assert_int_eq(own->fd, -1);
	ck_assert_int_eq(descriptors_open(&descriptors, own), -1);
	descriptors_clear(&descriptors);
	close(watching);
	close(file);
	unlink(path);
}

static int file_at(int position)
{
	char path[] = "/tmp/hpcprof-areas.XXXXXX";
	int file = mkstemp(path);

	ck_assert_int_ge(file, 0);
	unlink(path);
	ck_assert_int_eq(write(file, "0123456789", 10), 10);
	ck_assert_int_eq(lseek(file, position, SEEK_SET), position);
	return file;
}

static void is_file_at(struct descriptors *descriptors, int file, uint64_t position)
{
	const struct descriptor *found = descriptors_find(descriptors, (uint64_t)file);
	struct stat status;

	ck_assert_int_eq(fstat(file, &status), 0);
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->inode, status.st_ino);
	ck_assert(found->is_known);
	ck_assert_uint_eq(found->position, position);
	/* It can be read, whatever becomes of the target's. */
	ck_assert_int_eq(fstat(found->fd, &status), 0);
	ck_assert_uint_eq(found->inode, status.st_ino);
}

TEST(what_was_opened_and_closed_since_is_noticed)
{
	struct descriptors descriptors = { 0 };
	int stays = file_at(1);
	int another_later = file_at(2);
	/* Taken while the list is made. */
	int lowest = file_at(0);
	int closed_later = file_at(3);
	int opened_later;

	hp_assert_ok(descriptors_list(&descriptors, getpid()));
	close(another_later);
	ck_assert_int_eq(file_at(5), another_later);
	opened_later = file_at(6);
	close(lowest);
	close(closed_later);
	descriptors_read_positions(&descriptors);
	is_file_at(&descriptors, stays, 1);
	is_file_at(&descriptors, another_later, 5);
	is_file_at(&descriptors, opened_later, 6);
	ck_assert_ptr_null(descriptors_find(&descriptors, (uint64_t)closed_later));
	descriptors_clear(&descriptors);
	close(stays);
	close(another_later);
	close(opened_later);
}

enum { PAGE = 4096, PAGES = 64 };
static const uint64_t first_page = 0x100000;

/* Every other page is of a file that is not to be written to. */
static void make_areas(struct areas *areas, int protections[PAGES])
{
	for (uint64_t i = 0; i < PAGES; i++) {
		struct area area = { .start = first_page + i * PAGE,
				     .end = first_page + (i + 1) * PAGE,
				     .path = "",
				     .kind = i % 2 ? AREA_FILE : AREA_MEMORY,
				     .protection = PROT_READ };

		protections[i] = PROT_READ;
		ck_assert(hp_vector_push(areas, area));
	}
}

/* Against one number per page. */
TEST(what_a_program_changes_is_known_page_by_page)
{
	struct hp_random random = hp_random_seeded(11);
	struct areas areas = { 0 };
	int protections[PAGES];

	make_areas(&areas, protections);
	ck_assert(!areas_are_made(&areas, first_page, first_page + PAGES * PAGE, 0));
	ck_assert(areas_are_made(&areas, first_page, first_page + PAGE, 0));
	ck_assert(areas_are_made(&areas, first_page, first_page + PAGES * PAGE, PROT_EXEC));
	for (int round = 0; round < 2000; round++) {
		uint64_t from = hp_random_between(&random, 0, PAGES - 1);
		uint64_t to = hp_random_between(&random, from + 1, PAGES);
		int protection = (int)hp_random_between(&random, 0, 7);

		ck_assert(areas_set(&areas, first_page + from * PAGE, first_page + to * PAGE,
				    protection));
		for (uint64_t i = from; i < to; i++)
			protections[i] = protection;
		for (uint64_t i = 0; i < PAGES; i++) {
			const struct area *area = areas_find(&areas, first_page + i * PAGE + 17);

			ck_assert_ptr_nonnull(area);
			ck_assert_int_eq(area->protection, protections[i]);
		}
		for (size_t i = 1; i < areas.count; i++)
			ck_assert_uint_le(areas.at[i - 1].end, areas.at[i].start);
	}
	ck_assert(!areas_set(&areas, first_page + PAGE, first_page + PAGE, 0));
	ck_assert(areas_are_made(&areas, first_page, first_page + PAGE, 0));
	areas_clear(&areas);
}

HP_TEST_MAIN("shadow/areas")
