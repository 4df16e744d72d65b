/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"
#include "../scratch.h"

#include "../../src/collect/images/file_identity.h"
#include "../../src/collect/images/images.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/image/identity.h>

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { PAGES = 4096 };

/* A file without a build-id, told apart by its contents. */
static char *make_file(const char *name, const char *contents)
{
	char *path = scratch_path(name);

	scratch_write(path, contents, strlen(contents));
	return path;
}

static struct hp_identity identity_of_contents(const char *contents)
{
	_cleanup_free_ char *path = make_file("reference", contents);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct hp_identity identity = { 0 };

	ck_assert_int_ge(fd, 0);
	hp_assert_ok(hp_identity_of_fd(fd, &identity));
	ck_assert_int_eq(identity.kind, HP_IDENTITY_CONTENT);
	ck_assert_int_eq(unlink(path), 0);
	return identity;
}

/* The file as the kernel would announce it, at an address where nothing is mapped: so that only
 * its path and its descriptors lead to it. */
static struct hp_record_mmap announce(const char *path)
{
	struct hp_record_mmap mapping = { .start = 0x1000, .size = PAGES, .path = path };
	struct stat status;

	ck_assert_int_eq(stat(path, &status), 0);
	mapping.inode = status.st_ino;
	mapping.major = major(status.st_dev);
	mapping.minor = minor(status.st_dev);
	return mapping;
}

static struct hp_identity identify(const struct hp_record_mmap *mapping, bool deleted)
{
	struct hp_identity identity = { 0 };

	file_identity(getpid(), mapping, deleted, mapping->path, &identity);
	return identity;
}

static void assert_contents(const struct hp_record_mmap *mapping, bool deleted,
			    const char *contents)
{
	struct hp_identity expected = identity_of_contents(contents);
	struct hp_identity found = identify(mapping, deleted);

	ck_assert(hp_identity_equal(&found, &expected));
}

static void assert_none(const struct hp_record_mmap *mapping, bool deleted)
{
	ck_assert_int_eq(identify(mapping, deleted).kind, HP_IDENTITY_NONE);
}

TEST(a_file_is_identified_at_its_path)
{
	_cleanup_free_ char *path = make_file("program", "one");
	struct hp_record_mmap mapping = announce(path);

	assert_contents(&mapping, false, "one");
}

TEST(another_file_that_has_come_to_the_path_is_never_taken_for_it)
{
	_cleanup_free_ char *path = make_file("program", "one");
	_cleanup_free_ char *other = make_file("other", "two");
	struct hp_record_mmap mapping = announce(path);

	/* The old inode lives on under another name: its number cannot be given out again. */
	_cleanup_free_ char *kept = scratch_path("kept");

	ck_assert_int_eq(link(path, kept), 0);
	ck_assert_int_eq(rename(other, path), 0);
	assert_none(&mapping, false);
}

TEST(a_file_that_is_gone_has_no_identity)
{
	_cleanup_free_ char *path = make_file("program", "one");
	struct hp_record_mmap mapping = announce(path);

	ck_assert_int_eq(unlink(path), 0);
	assert_none(&mapping, false);
	assert_none(&mapping, true);
}

TEST(what_is_no_file_any_more_neither_stops_nor_misleads)
{
	enum { FIFO, DIRECTORY, SYMLINK, KINDS };

	for (int kind = 0; kind < KINDS; kind++) {
		_cleanup_free_ char *path = make_file("program", "one");
		_cleanup_free_ char *other = make_file("other", "two");
		struct hp_record_mmap mapping = announce(path);

		ck_assert_int_eq(unlink(path), 0);
		if (kind == FIFO)
			ck_assert_int_eq(mkfifo(path, 0600), 0);
		else if (kind == DIRECTORY)
			ck_assert_int_eq(mkdir(path, 0700), 0);
		else
			ck_assert_int_eq(symlink(other, path), 0);
		if (kind != SYMLINK) {
			struct stat status;

			/* Even with the very inode number. */
			ck_assert_int_eq(stat(path, &status), 0);
			mapping.inode = status.st_ino;
		}
		assert_none(&mapping, false);
		ck_assert_int_eq(remove(path), 0);
	}
}

TEST(a_deleted_file_is_found_through_an_open_descriptor)
{
	_cleanup_free_ char *path = make_file("program", "one");
	_cleanup_free_ char *unrelated = make_file("unrelated", "three");
	_cleanup_close_ int before = open(unrelated, O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct hp_record_mmap mapping = announce(path);

	ck_assert_int_ge(before, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(unlink(path), 0);
	assert_contents(&mapping, true, "one");
}

TEST(a_memfd_is_found_through_its_descriptor)
{
	_cleanup_close_ int fd = memfd_create("code", MFD_CLOEXEC);
	struct hp_record_mmap mapping = { .start = 0x1000, .size = PAGES, .path = "/memfd:code" };
	struct stat status;

	ck_assert_int_eq(write(fd, "\177ELF", 4), 4);
	ck_assert_int_eq(fstat(fd, &status), 0);
	mapping.inode = status.st_ino;
	assert_contents(&mapping, true, "\177ELF");
}

TEST(code_that_a_compiler_fills_a_memfd_with_has_no_identity)
{
	_cleanup_close_ int fd = memfd_create("code", MFD_CLOEXEC);
	struct hp_record_mmap mapping = { .start = 0x1000, .size = PAGES, .path = "/memfd:code" };
	struct stat status;

	ck_assert_int_eq(write(fd, "\x55\x48\x89\xe5\xc3", 5), 5);
	ck_assert_int_eq(fstat(fd, &status), 0);
	mapping.inode = status.st_ino;
	assert_none(&mapping, true);
}

TEST(a_deleted_file_that_is_mapped_is_found_where_the_system_lets_us)
{
	_cleanup_free_ char *path = make_file("program", "one");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *memory = mmap(NULL, PAGES, PROT_READ, MAP_PRIVATE, fd, 0);
	struct hp_record_mmap mapping = announce(path);
	char link_path[96];

	ck_assert_ptr_ne(memory, MAP_FAILED);
	close(fd);
	ck_assert_int_eq(unlink(path), 0);
	mapping.start = (uint64_t)(uintptr_t)memory;
	snprintf(link_path, sizeof(link_path), "/proc/self/map_files/%lx-%lx",
		 (unsigned long)mapping.start, (unsigned long)(mapping.start + mapping.size));
	fd = open(link_path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		assert_contents(&mapping, true, "one");
	else
		assert_none(&mapping, true);
	if (fd >= 0)
		close(fd);
	munmap(memory, PAGES);
}

TEST(what_was_mapped_without_an_inode_was_no_file)
{
	static const char *const paths[] = { "[uprobes]", "[vsyscall]", "//anon" };
	_cleanup_free_ char *path = make_file("program", "one");
	_cleanup_free_ char *relative = make_file("[uprobes]", "decoy");
	struct hp_record_mmap mapping = announce(path);

	ck_assert_int_eq(access(relative, F_OK), 0);
	mapping.inode = 0;
	assert_none(&mapping, false);
	assert_none(&mapping, true);
	ck_assert_int_eq(chdir(scratch_directory()), 0);
	for (size_t i = 0; i < HP_ARRAY_COUNT(paths); i++) {
		mapping.path = paths[i];
		assert_none(&mapping, false);
	}
	ck_assert_int_eq(chdir(".."), 0);
}

/* The generation, 0 where the file system tells none. */
static uint32_t generation_of(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int generation = 0;

	return ioctl(fd, FS_IOC_GETVERSION, &generation) == 0 ? (uint32_t)generation : 0;
}

TEST(an_inode_number_given_out_again_is_another_file_where_that_can_be_told)
{
	_cleanup_free_ char *path = make_file("program", "one");
	struct hp_record_mmap mapping = announce(path);
	uint32_t generation = generation_of(path);

	mapping.generation = generation;
	assert_contents(&mapping, false, "one");
	mapping.generation = generation ^ 1;
	if (generation)
		assert_none(&mapping, false);
	/* As from /proc/PID/maps. */
	mapping.generation = 0;
	assert_contents(&mapping, false, "one");
}

TEST(a_process_that_is_gone_is_looked_for_by_path)
{
	_cleanup_free_ char *path = make_file("program", "one");
	struct hp_record_mmap mapping = announce(path);
	struct hp_identity expected = identity_of_contents("one");
	struct hp_identity found = { 0 };

	file_identity(10000000, &mapping, false, path, &found);
	ck_assert(hp_identity_equal(&found, &expected));
}

/* --- images ----------------------------------------------------------------------------------- */

/* A process in a root directory of its own, who names what is outside. */
TEST(names_of_a_process_lead_to_nothing_outside_of_its_root)
{
	_cleanup_free_ char *outside = make_file("outside", "secret");
	_cleanup_free_ char *jail = scratch_path("jail");
	_cleanup_free_ char *link = scratch_path("jail/link");
	_cleanup_free_ char *inside = NULL;
	struct hp_record_mmap mapping = announce(outside);
	struct hp_record_mmap own;
	int ready[2];
	char is_in_jail = 0;
	pid_t pid;

	ck_assert_int_eq(mkdir(jail, 0755), 0);
	ck_assert_int_eq(symlink(outside, link), 0);
	inside = make_file("jail/inside", "one");
	own = announce(inside);
	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		is_in_jail = chroot(jail) == 0 && chdir("/") == 0;
		if (write(ready[1], &is_in_jail, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ready[0], &is_in_jail, 1), 1);
	if (is_in_jail) {
		static const char *const ways[] = { "/link", "/../outside" };
		struct hp_identity expected = identity_of_contents("one");
		struct hp_identity found = { 0 };

		file_identity(pid, &own, false, "/inside", &found);
		ck_assert(hp_identity_equal(&found, &expected));
		for (size_t i = 0; i < HP_ARRAY_COUNT(ways); i++) {
			found = (struct hp_identity){ 0 };
			file_identity(pid, &mapping, false, ways[i], &found);
			ck_assert_int_eq(found.kind, HP_IDENTITY_NONE);
		}
		/* Nor is what it calls so what we call so. */
		found = (struct hp_identity){ 0 };
		file_identity(pid, &mapping, false, outside, &found);
		ck_assert_int_eq(found.kind, HP_IDENTITY_NONE);
	}
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
}

TEST(a_mapping_seen_before_is_the_same_image_without_a_look)
{
	_cleanup_free_ char *path = make_file("program", "one");
	struct hp_record_mmap mapping = announce(path);
	struct images *images = images_create();
	struct hp_identity expected = identity_of_contents("one");
	struct image *first = images_of_mapping(images, getpid(), &mapping);
	struct image *again;

	ck_assert_int_eq(unlink(path), 0);
	again = images_of_mapping(images, getpid(), &mapping);
	ck_assert_ptr_eq(first, again);
	ck_assert_uint_eq(first->references, 2);
	ck_assert(hp_identity_equal(&first->id.identity, &expected));
	ck_assert_str_eq(first->id.path, path);
	ck_assert_int_eq(first->id.kind, HP_IMAGE_FILE);
	images_destroy(images);
}

TEST(a_new_file_with_an_old_inode_number_is_another_image)
{
	_cleanup_free_ char *path = make_file("program", "one");
	struct hp_record_mmap mapping = announce(path);
	struct images *images = images_create();
	struct hp_identity old = identity_of_contents("one");
	struct image *first;
	struct image *second;

	mapping.generation = generation_of(path);
	first = images_of_mapping(images, getpid(), &mapping);
	ck_assert(hp_identity_equal(&first->id.identity, &old));
	scratch_write(path, "two", 3);
	mapping.generation = mapping.generation + 1;
	second = images_of_mapping(images, getpid(), &mapping);
	ck_assert_ptr_ne(first, second);
	ck_assert(!hp_identity_equal(&second->id.identity, &old));
	images_destroy(images);
}

TEST(a_file_written_to_in_place_is_another_image_when_it_is_mapped_again)
{
	static const char *const contents[] = { "one", "another one", "another two" };
	_cleanup_free_ char *path = make_file("program", "one");
	struct hp_record_mmap mapping = announce(path);
	struct images *images = images_create();
	struct image *last = NULL;

	for (size_t i = 0; i < HP_ARRAY_COUNT(contents); i++) {
		struct hp_identity expected = identity_of_contents(contents[i]);
		struct image *image;

		scratch_write(path, contents[i], strlen(contents[i]));
		image = images_of_mapping(images, getpid(), &mapping);
		ck_assert_ptr_ne(image, last);
		ck_assert(hp_identity_equal(&image->id.identity, &expected));
		ck_assert_ptr_eq(images_of_mapping(images, getpid(), &mapping), image);
		last = image;
		/* File systems have seen no time pass between two ticks of the kernel's clock. */
		usleep(20000);
	}
	ck_assert_uint_eq(images_count(images), HP_ARRAY_COUNT(contents));
	images_destroy(images);
}

TEST(a_file_only_touched_is_the_same_image)
{
	_cleanup_free_ char *path = make_file("program", "one");
	struct hp_record_mmap mapping = announce(path);
	struct images *images = images_create();
	struct image *first = images_of_mapping(images, getpid(), &mapping);

	usleep(20000);
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_ptr_eq(images_of_mapping(images, getpid(), &mapping), first);
	ck_assert_uint_eq(images_count(images), 1);
	images_destroy(images);
}

TEST(the_kernels_deleted_mark_is_no_part_of_the_path)
{
	static const struct {
		const char *announced;
		const char *path;
		bool deleted;
	} paths[] = {
		{ "/usr/bin/x (deleted)", "/usr/bin/x", true },
		{ "/memfd:code (deleted)", "/memfd:code", true },
		{ "/usr/bin/x", "/usr/bin/x", false },
		{ "/usr/bin/x (deleted)2", "/usr/bin/x (deleted)2", false },
		{ " (deleted)", " (deleted)", false },
	};
	struct images *images = images_create();

	for (size_t i = 0; i < HP_ARRAY_COUNT(paths); i++) {
		struct hp_record_mmap mapping = { .path = paths[i].announced };
		struct image *image;

		mapping.build_id.kind = HP_IDENTITY_BUILD_ID;
		mapping.build_id.size = 1;
		mapping.build_id.bytes[0] = (uint8_t)(i + 1);
		image = images_of_mapping(images, getpid(), &mapping);
		ck_assert_str_eq(image->id.path, paths[i].path);
		ck_assert(image->id.deleted == paths[i].deleted);
		ck_assert(hp_identity_equal(&image->id.identity, &mapping.build_id));
	}
	images_destroy(images);
}

TEST(images_nobody_holds_are_swept_and_others_stay)
{
	struct images *images = images_create();
	struct image *held = images_named(images, HP_IMAGE_ANON, "[anon a]", NULL);
	struct image *dropped = images_named(images, HP_IMAGE_ANON, "[anon b]", NULL);

	ck_assert_ptr_ne(held, dropped);
	ck_assert_ptr_eq(images_named(images, HP_IMAGE_ANON, "[anon a]", NULL), held);
	ck_assert_ptr_ne(images_named(images, HP_IMAGE_JIT, "[anon a]", NULL), held);
	ck_assert_uint_eq(images_count(images), 3);
	image_release(held);
	image_release(dropped);
	images_sweep(images);
	ck_assert_uint_eq(images_count(images), 2);
	ck_assert_str_eq(held->id.path, "[anon a]");
	images_destroy(images);
}

HP_TEST_MAIN("collect/file_identity")
