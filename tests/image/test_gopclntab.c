/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of stripped Go programs: tables of each layout, and what a real compiler makes. */
#include "workshop.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

static const char compiler[] = "${CC:-cc} -nostdlib -static -no-pie -Wl,--build-id=none -s";

static void check_two(const char *options)
{
	struct hp_image *image;
	const struct hp_procedure *const *list;
	size_t count;

	workshop_run("%s %s -o two \"$src/gopclntab.S\"", compiler, options);
	image = workshop_open("two", NULL);
	hp_image_procedures(image, &list, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(list[0]->name, "main.one");
	ck_assert_uint_eq(list[0]->size, 16);
	ck_assert_str_eq(list[1]->name, "main.(*T).two");
	ck_assert_uint_eq(list[1]->size, 32);
	ck_assert_uint_eq(list[1]->address.value, list[0]->address.value + 16);
	ck_assert_int_eq(list[1]->source, HP_PROCEDURE_SYMBOL);
	ck_assert_str_eq(hp_image_symbol_origin(image), "Go's function table (.gopclntab)");
}

TEST(each_layout_gives_names)
{
	check_two("-DMAGIC=0xfffffffa");
	check_two("-DMAGIC=0xfffffff0 -DHAS_START");
	check_two("-DMAGIC=0xfffffff1 -DHAS_START");
}

TEST(a_layout_that_nobody_knows_gives_none)
{
	struct hp_image *image;
	const struct hp_procedure *const *list;
	size_t count;

	workshop_run("%s -DMAGIC=0xffffffe0 -DHAS_START -o two \"$src/gopclntab.S\"", compiler);
	image = workshop_open("two", NULL);
	hp_image_procedures(image, &list, &count);
	ck_assert_uint_eq(count, 0);
}

/* Every byte of the table in turn is another: whatever comes of it, nothing is read beyond it. */
TEST(damage_is_survived)
{
	size_t size;
	_cleanup_free_ uint8_t *bytes;
	size_t table = 0;
	FILE *stream;

	workshop_run("%s -DMAGIC=0xfffffff1 -DHAS_START -o two \"$src/gopclntab.S\"", compiler);
	bytes = workshop_bytes("two", &size);
	while (table + 8 < size && memcmp(bytes + table, "\xf1\xff\xff\xff\0\0\1\10", 8) != 0)
		table++;
	ck_assert_uint_lt(table + 8, size);
	stream = fopen(workshop_path("damaged"), "w");
	ck_assert_ptr_nonnull(stream);
	for (size_t at = table; at < table + 180 && at < size; at++) {
		static const uint8_t values[] = { 0, 0x7f, 0x80, 0xff };
		uint8_t before = bytes[at];

		for (size_t i = 0; i < sizeof(values); i++) {
			struct hp_image *image;
			const struct hp_procedure *const *list;
			size_t count;

			bytes[at] = values[i];
			/* In place: some file systems wait for the disk when a file is cut. */
			rewind(stream);
			ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
			ck_assert_int_eq(fflush(stream), 0);
			image = workshop_open("damaged", NULL);
			hp_image_procedures(image, &list, &count);
			for (size_t k = 0; k < count; k++)
				ck_assert_uint_gt(strlen(list[k]->name), 0);
		}
		bytes[at] = before;
	}
	ck_assert_int_eq(fclose(stream), 0);
}

/* The assembler's functions have a suffix in the symbol table that the runtime does not know. */
static bool is_same_name(const char *table, const char *symbol)
{
	size_t length = strlen(table);

	return strncmp(table, symbol, length) == 0 &&
	       (!symbol[length] || strcmp(symbol + length, ".abi0") == 0 ||
		strcmp(symbol + length, ".abiinternal") == 0);
}

static void check_build(const char *mode)
{
	_cleanup_free_ struct nm_symbol *symbols;
	struct hp_image *image;
	size_t functions = 0;
	size_t same = 0;
	size_t count;

	workshop_run("GO111MODULE=off GOCACHE=\"$PWD/cache\" go build -buildmode=%s -o full go.go",
		     mode);
	workshop_run("${STRIP:-strip} -o bare full");
	count = workshop_nm("full", &symbols);
	image = workshop_open("bare", NULL);
	ck_assert_str_eq(hp_image_symbol_origin(image), "Go's function table (.gopclntab)");
	for (size_t i = 0; i < count; i++) {
		const struct hp_procedure *procedure;

		if (!symbols[i].size)
			continue;
		procedure = hp_image_procedure_at(image, (hp_link_address){ symbols[i].address });
		functions++;
		same += procedure->address.value == symbols[i].address &&
			is_same_name(procedure->name, symbols[i].name);
	}
	/* Some have several names, and the linker adds some of its own. */
	ck_assert_uint_gt(functions, 500);
	ck_assert_msg(same * 100 >= functions * 98, "%s: %zu of %zu have their names", mode, same,
		      functions);
}

TEST(a_stripped_program_of_the_real_compiler_has_the_names_of_its_symbols)
{
	FILE *source;

	if (!workshop_has("go")) {
		workshop_skip("a stripped Go program", "there is no Go compiler");
		return;
	}
	source = fopen(workshop_path("go.go"), "w");
	ck_assert_ptr_nonnull(source);
	fputs("package main\ntype T struct{ n int }\n"
	      "func (t *T) two() int { return t.n }\n"
	      "func main() { println((&T{1}).two()) }\n",
	      source);
	ck_assert_int_eq(fclose(source), 0);
	check_build("exe");
	check_build("pie");
}

HP_TEST_MAIN("image/gopclntab")
