/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Landing pads and pointers to code, in files whose labels nm names. */
#include "workshop.h"

#include <hpcprof/image/code.h>

#include <inttypes.h>
#include <string.h>

static bool is_x86_64(void)
{
#ifdef __x86_64__
	return true;
#else
	workshop_skip("exception tables", "the program is x86-64 assembler");
	return false;
#endif
}

static uint64_t label(const char *file, const char *name)
{
	FILE *stream = workshop_read(NM " %s", file);
	uint64_t found = 0;
	uint64_t address;
	char type;
	char word[256];

	while (fscanf(stream, "%lx %c %255s", &address, &type, word) == 3)
		if (strcmp(word, name) == 0)
			found = address;
	pclose(stream);
	ck_assert_msg(found != 0, "%s has no %s", file, name);
	return found;
}

TEST(a_call_lands_where_its_table_says)
{
	struct hp_arena *arena = hp_arena_create();
	const struct hp_landing *landings;
	struct hp_image *image;
	size_t count;

	if (!is_x86_64())
		return;
	workshop_run("cc -nostdlib -shared -o landing.so \"$src\"/landing.s");
	image = workshop_open("landing.so", NULL);
	hp_image_landings(image, (hp_link_address){ label("landing.so", "catches") }, 20, arena,
			  &landings, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(landings[0].start, label("landing.so", "first_call"));
	ck_assert_uint_eq(landings[0].end, label("landing.so", "after_first"));
	ck_assert_uint_eq(landings[0].landing, label("landing.so", "first_pad"));
	ck_assert_uint_eq(landings[1].start, label("landing.so", "third_call"));
	ck_assert_uint_eq(landings[1].end, label("landing.so", "after_third"));
	ck_assert_uint_eq(landings[1].landing, label("landing.so", "third_pad"));
	hp_image_landings(image, (hp_link_address){ label("landing.so", "plain") }, 1, arena,
			  &landings, &count);
	ck_assert_uint_eq(count, 0);
	hp_arena_destroy(arena);
}

/* Those of the program's three pointers to code, by their targets. */
static void check_pointers(const char *file)
{
	const uint64_t places = label(file, "pointers");
	struct hp_image *image = workshop_open(file, NULL);
	const struct hp_code_pointer *pointers;
	size_t count;

	hp_image_code_pointers(image, label(file, "first_pad"), label(file, "plain") + 1, &pointers,
			       &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(pointers[0].target, label(file, "first_pad"));
	ck_assert_uint_eq(pointers[0].where, places + 8);
	ck_assert_uint_eq(pointers[1].target, label(file, "third_pad"));
	ck_assert_uint_eq(pointers[1].where, places + 24);
	ck_assert_uint_eq(pointers[2].target, label(file, "plain"));
	ck_assert_uint_eq(pointers[2].where, places);
	hp_image_code_pointers(image, label(file, "third_pad") + 1, label(file, "plain"), &pointers,
			       &count);
	ck_assert_uint_eq(count, 0);
}

TEST(relocations_say_which_words_point_to_code)
{
	if (!is_x86_64())
		return;
	workshop_run("cc -nostdlib -shared -Wl,-Bsymbolic -o relocated.so \"$src\"/landing.s");
	check_pointers("relocated.so");
}

TEST(packed_relocations_say_the_same)
{
	if (!is_x86_64())
		return;
	if (!workshop_try("cc -nostdlib -shared -Wl,-Bsymbolic,-z,pack-relative-relocs "
			  "-o packed.so \"$src\"/landing.s") ||
	    !workshop_try("readelf -SW packed.so | grep -q RELR")) {
		workshop_skip("packed relocations", "the linker does not make them");
		return;
	}
	check_pointers("packed.so");
}

TEST(a_program_at_a_fixed_address_needs_no_relocations)
{
	if (!is_x86_64())
		return;
	workshop_run("cc -nostdlib -static -no-pie -Wl,-e,plain -o fixed \"$src\"/landing.s");
	check_pointers("fixed");
}

/* MiB of files that are in this process' memory while the file is open whose pointers were looked for. */
static uint64_t megabytes_of_files(bool in_little_memory)
{
	const struct hp_image_options options = { .in_little_memory = in_little_memory };
	struct hp_image *image = workshop_open("large", &options);
	const struct hp_code_pointer *pointers;
	char line[256];
	uint64_t kib = 0;
	size_t count;
	FILE *status;

	hp_image_code_pointers(image, 0, UINT64_MAX, &pointers, &count);
	status = fopen("/proc/self/status", "r");
	ck_assert_ptr_nonnull(status);
	while (fgets(line, sizeof(line), status))
		sscanf(line, "RssFile: %" SCNu64, &kib);
	fclose(status);
	return kib >> 10;
}

TEST(data_that_was_looked_through_does_not_stay_in_memory)
{
	uint64_t little;

	if (!is_x86_64())
		return;
	workshop_run("{ cat \"$src\"/landing.s; echo '.section .rodata'; echo '.fill 6291456, 8, "
		     "1'; } > large.s");
	workshop_run("cc -nostdlib -static -no-pie -Wl,-e,plain -o large large.s");
	little = megabytes_of_files(true);
	ck_assert_uint_ge(megabytes_of_files(false), little + 40);
}

TEST(code_is_told_from_data)
{
	struct hp_image *image;

	if (!is_x86_64())
		return;
	workshop_run("cc -nostdlib -shared -o landing.so \"$src\"/landing.s");
	image = workshop_open("landing.so", NULL);
	ck_assert(hp_image_is_code(image, label("landing.so", "plain")));
	ck_assert(!hp_image_is_code(image, label("landing.so", "pointers")));
	ck_assert(!hp_image_is_code(image, UINT64_MAX));
}

HP_TEST_MAIN("image/code")
