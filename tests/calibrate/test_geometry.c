/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sysfs and cpuid say of caches and TLBs, also when they say odd things. */
#include "../support.h"

#include <hpcprof/base/number.h>
#include <hpcprof/calibrate/geometry.h>
#include <hpcprof/uarch/path.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* A file of one of the caches of CPU 0. */
struct cache_file {
	int index;
	const char *name; /* NULL ends a table */
	const char *text;
};

static void make_directory(const char *path)
{
	ck_assert_msg(mkdir(path, 0755) == 0 || errno == EEXIST, "making %s", path);
}

static void write_file(const char *root, const struct cache_file *wanted)
{
	static const char *const parts[] = { "sys", "devices", "system", "cpu", "cpu0", "cache" };
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s", root);
	FILE *file;

	for (size_t i = 0; i < HP_ARRAY_COUNT(parts); i++) {
		length += snprintf(path + length, sizeof(path) - (size_t)length, "/%s", parts[i]);
		make_directory(path);
	}
	length += snprintf(path + length, sizeof(path) - (size_t)length, "/index%d", wanted->index);
	make_directory(path);
	snprintf(path + length, sizeof(path) - (size_t)length, "/%s", wanted->name);
	file = fopen(path, "w");
	ck_assert_msg(file != NULL, "making %s", path);
	fputs(wanted->text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static struct hp_uarch_geometry of_files(const struct cache_file *files)
{
	struct hp_machine machine = { .root = temporary_directory() };

	for (; files->name; files++)
		write_file(machine.root, files);
	return hp_geometry_of_machine(&machine);
}

static void same(struct hp_uarch_sets sets, uint32_t expected_sets, uint32_t expected_ways)
{
	ck_assert_uint_eq(sets.sets, expected_sets);
	ck_assert_uint_eq(sets.ways, expected_ways);
}

static const struct cache_file three[] = {
	{ 0, "level", "1\n" },
	{ 0, "type", "Data\n" },
	{ 0, "number_of_sets", "64\n" },
	{ 0, "ways_of_associativity", "12\n" },
	{ 0, "coherency_line_size", "64\n" },
	{ 1, "level", "1\n" },
	{ 1, "type", "Instruction\n" },
	{ 1, "number_of_sets", "128\n" },
	{ 1, "ways_of_associativity", "4\n" },
	{ 1, "coherency_line_size", "64\n" },
	{ 2, "level", "2\n" },
	{ 2, "type", "Unified\n" },
	{ 2, "number_of_sets", "1280\n" },
	{ 2, "ways_of_associativity", "20\n" },
	{ 2, "coherency_line_size", "64\n" },
	{ 3, "level", "3\n" },
	{ 3, "type", "Unified\n" },
	{ 3, "number_of_sets", "32768\n" },
	{ 3, "ways_of_associativity", "16\n" },
	{ 3, "coherency_line_size", "64\n" },
	{ 0 },
};

TEST(caches_are_those_of_sysfs)
{
	struct hp_uarch_geometry geometry = of_files(three);

	same(geometry.l1d, 64, 12);
	same(geometry.l1i, 128, 4);
	same(geometry.l2, 1280, 20);
	ck_assert_uint_eq(geometry.l3.ways, 0);
}

static const struct cache_file odd[] = {
	{ 0, "level", "1\n" },
	{ 0, "type", "Data\n" },
	{ 0, "number_of_sets", "4294967296000000000000\n" },
	{ 0, "ways_of_associativity", "8\n" },
	{ 0, "coherency_line_size", "64\n" },
	{ 1, "level", "1\n" },
	{ 1, "type", "Instruction\n" },
	{ 1, "number_of_sets", "4294967295\n" },
	{ 1, "ways_of_associativity", "4294967295\n" },
	{ 1, "coherency_line_size", "64\n" },
	{ 2, "level", "2\n" },
	{ 2, "type", "Unified\n" },
	{ 2, "number_of_sets", "1024\n" },
	{ 2, "ways_of_associativity", "0\n" },
	{ 2, "coherency_line_size", "64\n" },
	{ 4, "level", "2\n" },
	{ 4, "type", "Unified\n" },
	{ 4, "number_of_sets", "1024\n" },
	{ 4, "ways_of_associativity", "8\n" },
	{ 4, "coherency_line_size", "65\n" },
	{ 5, "level", "-1\n" },
	{ 5, "type", "" },
	{ 6, "type", "Unified\n" },
	{ 7, "level", "2x\n" },
	{ 7, "type", "Unified\n" },
	{ 0 },
};

TEST(what_sysfs_says_that_cannot_be_is_passed_over)
{
	struct hp_uarch_geometry generic = hp_uarch_geometry_generic();
	struct hp_uarch_geometry geometry = of_files(odd);

	ck_assert(hp_uarch_geometry_is_valid(&geometry));
	same(geometry.l1d, generic.l1d.sets, generic.l1d.ways);
	same(geometry.l1i, generic.l1i.sets, generic.l1i.ways);
	same(geometry.l2, generic.l2.sets, generic.l2.ways);
	ck_assert_uint_eq(geometry.line_bytes, 64);
}

TEST(a_machine_without_sysfs_has_what_its_core_has)
{
	static const struct cache_file none[] = { { 0 } };
	struct hp_uarch_geometry generic = hp_uarch_geometry_generic();
	struct hp_uarch_geometry geometry = of_files(none);

	ck_assert_mem_eq(&geometry, &generic, sizeof(geometry));
}

/* As a Zen 4 in a virtual machine answers. */
TEST(tlbs_are_those_of_cpuid)
{
	const uint32_t first[4] = { 0xff48ff40, 0xff48ff40, 0x20080140, 0x20080140 };
	const uint32_t second[4] = { 0x5c002200, 0x6c004200, 0x04006140, 0x0a009140 };
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	hp_geometry_take_amd_tlbs(&geometry, first, second);
	same(geometry.dtlb, 1, 72);
	same(geometry.itlb, 1, 64);
	same(geometry.tlb2, 384, 8);
	same(geometry.tlb2_code, 128, 4);
}

TEST(where_the_table_has_as_many_entries_its_ways_stay)
{
	const uint32_t first[4] = { 0, 0xff48ff40, 0, 0 };
	const uint32_t second[4] = { 0, 0x6c004200, 0, 0 };
	struct hp_uarch_geometry geometry = hp_uarch_geometry_of(hp_core_named("zen-4"));

	hp_geometry_take_amd_tlbs(&geometry, first, second);
	same(geometry.tlb2, 256, 12);
}

/* Parts for code, loads and stores, small and huge pages, and the second level; those of stores and
 * of pages of 1 GiB alone are not modelled. */
TEST(tlbs_are_those_of_the_leaf_that_intel_has)
{
	static const uint32_t parts[][4] = {
		{ 8, 0, 0, 0 },
		{ 0, 0x00080001, 32, 0x22 },
		{ 0, 0x00080006, 4, 0x22 },
		{ 0, 0x00060001, 16, 0x24 },
		{ 0, 0x00040006, 8, 0x24 },
		{ 0, 0x00100001, 1, 0x25 },
		{ 0, 0x00080007, 128, 0x43 },
		{ 0, 0x00080008, 128, 0x43 },
	};
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	for (size_t i = 0; i < HP_ARRAY_COUNT(parts); i++)
		hp_geometry_take_intel_tlb(&geometry, parts[i]);
	same(geometry.itlb, 32, 8);
	same(geometry.dtlb, 16, 6);
	same(geometry.tlb2, 128, 8);
}

TEST(every_answer_of_cpuid_leaves_a_valid_geometry)
{
	struct hp_random random = hp_random_seeded(12);
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	for (unsigned i = 0; i < 100000; i++) {
		uint32_t first[4], second[4];

		for (unsigned j = 0; j < 4; j++) {
			first[j] = (uint32_t)hp_random_next(&random);
			second[j] = (uint32_t)hp_random_next(&random);
		}
		hp_geometry_take_amd_tlbs(&geometry, first, second);
		second[2] >>= hp_random_between(&random, 0, 31);
		hp_geometry_take_intel_tlb(&geometry, second);
		ck_assert(hp_uarch_geometry_is_valid(&geometry));
	}
}

TEST(models_of_this_machine_can_be_made)
{
	struct hp_machine *machine;
	struct hp_uarch_geometry geometry;
	struct hp_uarch *uarch;

	hp_assert_ok(hp_machine_create(&machine));
	geometry = hp_geometry_of_machine(machine);
	hp_machine_destroy(machine);
	uarch = hp_uarch_create(&geometry);
	ck_assert_ptr_nonnull(uarch);
	hp_uarch_destroy(uarch);
}

HP_TEST_MAIN("calibrate/geometry")
