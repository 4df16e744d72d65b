/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf-PID.map files lie where compilers put them, under pids that no kernel gives out (it stops at
 * 4194304). */
#include "../support.h"
#include "../scratch.h"

#include "../../src/collect/images/jit.h"

#include <hpcprof/base/cleanup.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NO_PID = 10000000 };

struct bench {
	struct images *images;
	struct kept kept;
	struct jit jit;
	uint32_t pids[2];
	char paths[2][64];
};

/* For atexit: whatever becomes of the test, its maps go. */
static char leftovers[2][64];

static void remove_maps(void)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(leftovers); i++)
		(void)remove(leftovers[i]);
}

static struct bench bench;

static void bench_destroy(void *nothing)
{
	(void)nothing;
	jit_forget(&bench.jit);
	kept_clear(&bench.kept);
	images_sweep(bench.images);
	ck_assert_uint_eq(images_count(bench.images), 0);
	images_destroy(bench.images);
}

SETUP
{
	bench.images = images_create();
	ck_assert_ptr_nonnull(bench.images);
	bench.jit = (struct jit){ .images = bench.images, .kept = &bench.kept };
	for (uint32_t i = 0; i < 2; i++) {
		bench.pids[i] = NO_PID + 2 * (uint32_t)getpid() + i;
		snprintf(bench.paths[i], sizeof(bench.paths[i]), "/tmp/perf-%u.map", bench.pids[i]);
		memcpy(leftovers[i], bench.paths[i], sizeof(leftovers[i]));
	}
	atexit(remove_maps);
	at_end(bench_destroy, NULL);
}

static void write_map(size_t number, const char *text)
{
	_cleanup_close_ int fd =
		open(bench.paths[number], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void assert_unnamed(uint32_t pid, uint64_t address)
{
	struct image *image;
	uint64_t offset;

	ck_assert(!jit_resolve(&bench.jit, pid, "node", address, &image, &offset));
}

static void assert_named(uint32_t pid, uint64_t address, uint64_t *offset)
{
	struct image *image;

	ck_assert(jit_resolve(&bench.jit, pid, "node", address, &image, offset));
	ck_assert_int_eq(image->id.kind, HP_IMAGE_JIT);
	ck_assert_str_eq(image->id.path, "[jit node]");
	image_release(image);
}

/* The one symbol that is kept. */
static struct hp_error *copy_symbol(struct image *image, const struct hp_symbol *symbols,
				    size_t count, void *context)
{
	struct hp_symbol *only = context;

	(void)image;
	ck_assert_uint_eq(count, 1);
	*only = symbols[0];
	return NULL;
}

TEST(named_code_falls_into_the_extent_of_its_name)
{
	struct hp_symbol symbol;
	uint64_t offset;

	write_map(0, "7f0000001000 200 hot\n");
	assert_named(bench.pids[0], 0x7f0000001123, &offset);
	hp_assert_ok(kept_save(&bench.kept, copy_symbol, &symbol));
	ck_assert_str_eq(symbol.name, "hot");
	ck_assert_uint_eq(symbol.size, 0x200);
	ck_assert_uint_eq(offset - symbol.offset.value, 0x123);
	/* Not to be mistaken for a kernel address. */
	ck_assert_uint_eq(offset >> 63, 0);
}

TEST(one_name_is_one_place_in_all_processes)
{
	uint64_t one;
	uint64_t other;
	uint64_t another_name;

	write_map(0, "7f0000001000 200 hot\n7f0000002000 200 cold\n");
	write_map(1, "55000000 100 hot\n");
	assert_named(bench.pids[0], 0x7f0000001010, &one);
	assert_named(bench.pids[1], 0x55000010, &other);
	assert_named(bench.pids[0], 0x7f0000002010, &another_name);
	ck_assert_uint_eq(one, other);
	ck_assert_uint_ne(one, another_name);
}

TEST(code_outside_of_every_line_has_no_name)
{
	write_map(0, "1000 10 f\n");
	assert_unnamed(bench.pids[0], 0xfff);
	assert_unnamed(bench.pids[0], 0x1010);
	assert_unnamed(bench.pids[1], 0x1000);
}

TEST(a_map_is_read_again_after_it_was_forgotten)
{
	uint64_t offset;

	write_map(0, "1000 10 f\n");
	assert_named(bench.pids[0], 0x1000, &offset);
	ck_assert_int_eq(unlink(bench.paths[0]), 0);
	write_map(0, "2000 10 g\n");
	assert_named(bench.pids[0], 0x1000, &offset);
	jit_forget(&bench.jit);
	assert_unnamed(bench.pids[0], 0x1000);
	assert_named(bench.pids[0], 0x2000, &offset);
}

TEST(a_symlink_is_not_followed)
{
	_cleanup_free_ char *target = scratch_path("map");

	scratch_write(target, "1000 10 f\n", 10);
	ck_assert_int_eq(symlink(target, bench.paths[0]), 0);
	assert_unnamed(bench.pids[0], 0x1000);
}

TEST(a_map_of_somebody_else_is_not_trusted)
{
	const uid_t somebody = 65534;
	uint64_t offset;

	write_map(0, "1000 10 f\n");
	/* Only root can give a file away; to anybody else the map is his own. */
	if (chown(bench.paths[0], somebody, (gid_t)-1) == 0 && geteuid() != somebody)
		assert_unnamed(bench.pids[0], 0x1000);
	else
		assert_named(bench.pids[0], 0x1000, &offset);
}

TEST(what_is_no_regular_file_is_not_waited_for)
{
	ck_assert_int_eq(mkfifo(bench.paths[0], 0600), 0);
	ck_assert_int_eq(mkdir(bench.paths[1], 0700), 0);
	assert_unnamed(bench.pids[0], 0x1000);
	assert_unnamed(bench.pids[1], 0x1000);
}

TEST(a_map_too_long_to_be_one_is_not_read)
{
	write_map(0, "1000 10 f\n");
	ck_assert_int_eq(truncate(bench.paths[0], (64 << 20) + 1), 0);
	assert_unnamed(bench.pids[0], 0x1000);
	ck_assert_uint_eq(bench.jit.beyond_pid, bench.pids[0]);
}

TEST(our_own_map_is_found_while_we_run)
{
	uint64_t offset;

	bench.pids[0] = (uint32_t)getpid();
	snprintf(bench.paths[0], sizeof(bench.paths[0]), "/tmp/perf-%u.map", bench.pids[0]);
	memcpy(leftovers[0], bench.paths[0], sizeof(leftovers[0]));
	(void)remove(bench.paths[0]);
	write_map(0, "1000 10 f\n");
	assert_named(bench.pids[0], 0x1008, &offset);
}

TEST(code_without_a_name_is_anonymous_under_its_command)
{
	struct image *image;

	image = jit_anonymous(&bench.jit, "node");
	ck_assert_int_eq(image->id.kind, HP_IMAGE_ANON);
	ck_assert_str_eq(image->id.path, "[anon node]");
	image_release(image);
}

HP_TEST_MAIN("collect/jit")
