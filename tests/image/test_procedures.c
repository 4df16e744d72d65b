/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Against nm, readelf and objdump, on programs built here and on the system's own. */
#include "workshop.h"

#include <hpcprof/base/cleanup.h>

#include <inttypes.h>
#include <limits.h>
#include <string.h>

enum { PROBES = 3000 };

static const char shapes_flags[] = "-O2 -ffunction-sections";

static bool is_cold_name(const char *name)
{
	return strstr(name, ".cold") != NULL;
}

/* Among nm's symbols that hold the address and begin nearest before it, one has our name. */
static void check_against_nm(struct hp_image *image, const char *file, const char *arguments)
{
	struct hp_random random = hp_random_seeded(20261120);
	_cleanup_free_ struct nm_symbol *symbols;
	size_t count = workshop_nm(arguments, &symbols);
	size_t checked = 0;

	ck_assert_uint_gt(count, 10);
	for (size_t probe = 0; probe < PROBES; probe++) {
		const struct nm_symbol *chosen = &symbols[hp_random_between(&random, 0, count - 1)];
		const struct hp_procedure *procedure;
		uint64_t nearest = 0;
		uint64_t address;
		bool agrees = false;
		bool any_cold = false;

		if (chosen->size == 0)
			continue;
		address = chosen->address + hp_random_between(&random, 0, chosen->size - 1);
		for (size_t i = 0; i < count; i++)
			if (address - symbols[i].address < symbols[i].size &&
			    symbols[i].address > nearest)
				nearest = symbols[i].address;
		procedure = procedure_at(image, address);
		for (size_t i = 0; i < count; i++) {
			size_t length = strcspn(symbols[i].name, "@");

			if (symbols[i].address != nearest)
				continue;
			any_cold = any_cold || is_cold_name(symbols[i].name);
			if (strlen(procedure->linkage) == length &&
			    memcmp(procedure->linkage, symbols[i].name, length) == 0)
				agrees = true;
		}
		checked++;
		ck_assert_msg(agrees || any_cold, "%s: 0x%lx is %s here, %s for nm", file, address,
			      procedure->linkage, chosen->name);
	}
	ck_assert_uint_gt(checked, PROBES / 2);
}

static void build_shapes(const char *compiler, const char *flags, const char *name)
{
	workshop_run("%s %s %s -o %s \"$src\"/shapes.cc", compiler, shapes_flags, flags, name);
}

TEST(every_symbol_of_a_program_is_found_where_nm_has_it)
{
	static const char *const compilers[] = { "c++", "clang++" };
	static const char *const flags[] = { "-fPIE -pie", "-fno-pie -no-pie", "-O0 -g",
					     "-static" };

	for (size_t c = 0; c < HP_ARRAY_COUNT(compilers); c++) {
		if (!workshop_has(compilers[c])) {
			workshop_skip(compilers[c], "not installed");
			continue;
		}
		for (size_t f = 0; f < HP_ARRAY_COUNT(flags); f++) {
			struct hp_image *image;

			build_shapes(compilers[c], flags[f], "shapes");
			image = workshop_open("shapes", NULL);
			check_cover(image);
			check_against_nm(image, flags[f], "shapes");
		}
	}
}

TEST(names_read_as_nm_demangles_them)
{
	_cleanup_free_ struct nm_symbol *mangled;
	struct hp_image *image;
	size_t count;
	size_t checked = 0;

	build_shapes("c++", "", "shapes");
	image = workshop_open("shapes", NULL);
	count = workshop_nm("shapes", &mangled);
	for (size_t i = 0; i < count; i++) {
		const struct hp_procedure *procedure;
		char line[2048] = "";
		FILE *stream;

		if (strncmp(mangled[i].name, "_Z", 2) != 0 || is_cold_name(mangled[i].name))
			continue;
		procedure = procedure_at(image, mangled[i].address);
		if (strcmp(procedure->linkage, mangled[i].name) != 0)
			continue; /* an alias: the constructors C1 and C2 */
		stream = workshop_read("c++filt '%s'", mangled[i].name);
		ck_assert(fgets(line, sizeof(line), stream) != NULL);
		pclose(stream);
		line[strcspn(line, "\n")] = '\0';
		ck_assert_str_eq(procedure->name, line);
		checked++;
	}
	ck_assert_uint_gt(checked, 5);
}

/* For each FDE that readelf lists: its own procedure, or one that symbols or the PLT gave. */
static void check_unwind_extents(struct hp_image *image, const char *file, bool stripped)
{
	FILE *stream = workshop_read("readelf --debug-dump=frames %s", file);
	const char *slash = strrchr(file, '/');
	char expected[PATH_MAX];
	char line[512];
	size_t exact = 0;

	while (fgets(line, sizeof(line), stream)) {
		const char *at = strstr(line, "pc=");
		const struct hp_procedure *procedure;
		uint64_t low;
		uint64_t high;

		if (!at || sscanf(at, "pc=%lx..%lx", &low, &high) != 2 || low == high)
			continue;
		procedure = procedure_at(image, low);
		ck_assert_msg(procedure->source != HP_PROCEDURE_GAP, "%s: FDE at 0x%lx", file, low);
		if (procedure->source != HP_PROCEDURE_EH_FRAME)
			continue;
		snprintf(expected, sizeof(expected), "%s+0x%lx", slash ? slash + 1 : file, low);
		ck_assert_str_eq(procedure->name, expected);
		ck_assert_uint_eq(procedure->address.value, low);
		ck_assert_uint_le(procedure->size, high - low);
		if (procedure->size == high - low)
			exact++;
	}
	ck_assert_int_eq(pclose(stream), 0);
	if (stripped)
		ck_assert_uint_gt(exact, 5);
}

TEST(a_stripped_program_still_has_its_unwind_extents)
{
	struct hp_image *image;
	_cleanup_free_ struct nm_symbol *symbols;
	size_t count;

	build_shapes("c++", "-fno-pie -no-pie", "shapes");
	workshop_run("strip -o stripped shapes");
	image = workshop_open("stripped", NULL);
	check_cover(image);
	check_unwind_extents(image, "stripped", true);
	/* The same function has the same extent as its symbol had. */
	count = workshop_nm("shapes", &symbols);
	for (size_t i = 0; i < count; i++) {
		if (strstr(symbols[i].name, "locals") == NULL || is_cold_name(symbols[i].name))
			continue;
		ck_assert_uint_eq(procedure_at(image, symbols[i].address)->address.value,
				  symbols[i].address);
		ck_assert_uint_eq(procedure_at(image, symbols[i].address)->size, symbols[i].size);
	}
}

TEST(unwind_data_is_found_without_section_headers)
{
	struct hp_image *image;
	uint8_t *bytes;
	size_t size;
	FILE *stream;

	build_shapes("c++", "", "shapes");
	workshop_run("readelf --debug-dump=frames shapes >frames.txt");
	bytes = workshop_bytes("shapes", &size);
	memset(bytes + 40, 0, 8); /* e_shoff */
	memset(bytes + 60, 0, 4); /* e_shnum, e_shstrndx */
	stream = fopen(workshop_path("headless"), "wb");
	ck_assert(stream != NULL);
	ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
	fclose(stream);
	free(bytes);
	image = workshop_open("headless", NULL);
	check_cover(image);
	stream = fopen(workshop_path("frames.txt"), "r");
	ck_assert(stream != NULL);
	for (char line[512]; fgets(line, sizeof(line), stream);) {
		const char *at = strstr(line, "pc=");
		uint64_t low;
		uint64_t high;

		if (at && sscanf(at, "pc=%lx..%lx", &low, &high) == 2 && low < high)
			ck_assert_int_eq(procedure_at(image, low)->source, HP_PROCEDURE_EH_FRAME);
	}
	fclose(stream);
}

/* objdump labels PLT entries; ours must agree wherever it names a symbol. */
static size_t check_plt(struct hp_image *image, const char *file)
{
	FILE *stream = workshop_read("objdump -d -C %s | grep '^[0-9a-f]* <.*@plt>:$'", file);
	size_t checked = 0;
	char line[1024];

	while (fgets(line, sizeof(line), stream)) {
		char *name = strchr(line, '<') + 1;
		const struct hp_procedure *procedure;
		uint64_t address = strtoul(line, NULL, 16);

		*strstr(name, ">:") = '\0';
		if (name[0] == '*' || strncmp(name, "0x", 2) == 0)
			continue; /* an address, not a symbol */
		procedure = procedure_at(image, address);
		ck_assert_int_eq(procedure->source, HP_PROCEDURE_PLT);
		ck_assert_uint_eq(procedure->address.value, address);
		ck_assert_str_eq(procedure->name, name);
		checked++;
	}
	pclose(stream);
	return checked;
}

TEST(the_c_library_and_the_shell_agree_with_nm_readelf_and_objdump)
{
	static const char *const files[] = { "/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6",
					     "/lib/aarch64-linux-gnu/libc.so.6",
					     "/lib64/libc.so.6" };
	/* Only their own symbols, so that nm sees the same ones. */
	struct hp_image_options options = { .no_debuginfo = true };
	size_t found = 0;

	for (size_t i = 0; i < HP_ARRAY_COUNT(files); i++) {
		char arguments[PATH_MAX];
		struct hp_image *image;

		if (access(files[i], R_OK) != 0)
			continue;
		image = workshop_open(files[i], &options);
		check_cover(image);
		snprintf(arguments, sizeof(arguments), "-D %s", files[i]);
		check_against_nm(image, files[i], arguments);
		if (strcmp(files[i], "/bin/bash") == 0) {
			/* Holes between dynamic symbols are filled from unwind data. */
			check_unwind_extents(image, files[i], true);
			ck_assert_uint_gt(check_plt(image, files[i]), 50);
		}
		found++;
	}
	if (found == 0)
		workshop_skip("system files", "none at the usual places");
}

TEST(plt_entries_are_called_after_what_they_call)
{
	static const char *const flags[] = {
		"-Wl,-z,lazy -fcf-protection=none -fno-pie -no-pie",
		"-Wl,-z,lazy -fcf-protection=none",
		"-Wl,-z,now",
		"-Wl,-z,lazy -fcf-protection=full -Wl,-z,ibtplt",
		"-Wl,-z,now -fcf-protection=full -Wl,-z,ibtplt",
		"-fuse-ld=lld",
		"-fuse-ld=gold",
	};
	size_t tried = 0;

	for (size_t i = 0; i < HP_ARRAY_COUNT(flags); i++) {
		struct hp_image *image;

		if (!workshop_try("c++ -O2 %s -o program \"$src\"/shapes.cc", flags[i])) {
			workshop_skip(flags[i], "cannot be built here");
			continue;
		}
		image = workshop_open("program", NULL);
		check_cover(image);
		ck_assert_msg(check_plt(image, "program") >= 2, "%s", flags[i]);
		tried++;
	}
	ck_assert_uint_gt(tried, 0);
}

/* Names of a large library take more memory than the rest: nobody gets them who did not ask. */
TEST(parts_have_names_when_somebody_asks)
{
	const struct hp_procedure *const *parts;
	const struct hp_procedure *const *list;
	struct hp_image *image;
	size_t count;
	size_t listed;

	if (!workshop_try("g++ -O2 -o shapes \"$src\"/shapes.cc")) {
		workshop_skip("names", "needs g++");
		return;
	}
	image = workshop_open("shapes", NULL);
	hp_image_parts(image, &parts, &count);
	ck_assert_uint_gt(count, 3);
	for (size_t i = 0; i < count; i++) {
		ck_assert_ptr_null(parts[i]->name);
		ck_assert_int_eq(parts[i]->linkage != NULL,
				 parts[i]->source != HP_PROCEDURE_EH_FRAME);
	}
	ck_assert_ptr_eq(hp_image_procedure_at(image, parts[1]->address), parts[1]);
	ck_assert_ptr_nonnull(parts[1]->name);
	hp_image_procedures(image, &list, &listed);
	ck_assert_uint_eq(listed, count);
	for (size_t i = 0; i < count; i++) {
		ck_assert_ptr_eq(list[i], parts[i]);
		ck_assert_ptr_nonnull(list[i]->name);
		ck_assert_ptr_nonnull(list[i]->linkage);
	}
}

TEST(plt_entries_of_aarch64_have_names_on_any_machine)
{
	static const char *const flags[] = { "", "-mbranch-protection=bti -Wl,-z,force-bti",
					     "-mbranch-protection=standard -Wl,-z,pac-plt" };
	static const char *const names[] = { "first_import@plt", "second_import@plt" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(flags); i++) {
		const struct hp_procedure *const *list;
		struct hp_image *image;
		size_t count;
		size_t found = 0;

		if (!workshop_try("clang --target=aarch64-linux-gnu -O2 -fPIC -shared -nostdlib "
				  "-fuse-ld=lld %s -o calls.so \"$src\"/calls.c",
				  flags[i])) {
			workshop_skip("AArch64", "needs clang and lld");
			continue;
		}
		image = workshop_open("calls.so", NULL);
		check_cover(image);
		hp_image_procedures(image, &list, &count);
		for (size_t k = 0; k < count; k++)
			for (size_t n = 0; n < HP_ARRAY_COUNT(names); n++)
				found += list[k]->source == HP_PROCEDURE_PLT &&
					 strcmp(list[k]->name, names[n]) == 0;
		ck_assert_uint_eq(found, 2);
	}
}

TEST(cold_parts_belong_to_the_procedure_of_their_own_file)
{
	_cleanup_free_ struct nm_symbol *symbols;
	struct hp_image *image;
	size_t count;
	size_t workers = 0;
	uint64_t owners[2];

	ck_assert(build_cold("-ffunction-sections -fno-ipa-icf"));
	count = workshop_nm("-p program", &symbols);
	image = workshop_open("program", NULL);
	check_cover(image);
	/* nm -p keeps the table's order: a file's symbols stay together. */
	for (size_t i = 0; i < count; i++) {
		const struct hp_procedure *cold;

		if (strcmp(symbols[i].name, "worker.cold") != 0)
			continue;
		cold = procedure_at(image, symbols[i].address);
		ck_assert_str_eq(cold->name, "worker");
		ck_assert_str_eq(cold->linkage, "worker");
		ck_assert_uint_eq(cold->address.value, symbols[i].address);
		ck_assert(cold->owner != cold);
		ck_assert_uint_lt(workers, 2);
		owners[workers++] = cold->owner->address.value;
	}
	if (workers == 0) {
		workshop_skip("cold parts", "this compiler makes none");
	} else {
		ck_assert_uint_eq(workers, 2);
		ck_assert_uint_ne(owners[0], owners[1]);
		/* Each file's worker lies before its own caller's next one: first's before
		 * second's, in cold parts as in hot ones. */
		ck_assert((owners[0] < owners[1]) == (nm_find(symbols, count, "first")->address <
						      nm_find(symbols, count, "second")->address));
	}
}

TEST(names_lose_cold_suffixes_and_mangling_and_those_that_only_look_like_it_stay)
{
	static const struct {
		const char *symbol, *name;
		size_t owner; /* index */
	} table[] = {
		{ "f", "f", 0 },
		{ "f.cold", "f", 0 },
		{ "f.cold.12", "f", 0 },
		{ "g.part.0", "g.part.0", 3 },
		{ "g.part.0.cold", "g.part.0", 3 },
		{ "h", "h", 5 },
		{ "h.part.3.cold", "h", 5 },
		{ "gone.cold", "gone", 7 },
		{ "f.colder", "f.colder", 8 },
		{ ".cold", ".cold", 9 },
		{ "f.cold.x", "f.cold.x", 10 },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad",
		  11 },
		{ "_RNvCskwGfYPst2Cb_3foo3bar", "foo::bar", 12 },
		{ "_ZN5mylib3addEii", "mylib::add(int, int)", 13 },
		{ "_Zoink", "_Zoink", 14 },
	};
	struct hp_symbol kept[HP_ARRAY_COUNT(table)];
	struct hp_image_id id = { .kind = HP_IMAGE_MODULE, .path = (char[]){ "[module]" } };
	struct hp_image_options options = { .symbols = kept, .symbol_count = HP_ARRAY_COUNT(kept) };
	_cleanup_(hp_image_close_scope) struct hp_image *image;

	for (size_t i = 0; i < HP_ARRAY_COUNT(table); i++)
		kept[i] = (struct hp_symbol){ { 16 * i }, 16, strdup(table[i].symbol), NULL };
	hp_assert_ok(hp_image_open(&id, &options, &image));
	for (size_t i = 0; i < HP_ARRAY_COUNT(table); i++) {
		const struct hp_procedure *procedure = procedure_at(image, 16 * i + 3);

		ck_assert_str_eq(procedure->name, table[i].name);
		ck_assert_uint_eq(procedure->owner->address.value, 16 * table[i].owner);
		/* Mangled as it was. */
		if (table[i].symbol[0] == '_' || !strchr(table[i].symbol, '.'))
			ck_assert_str_eq(procedure->linkage, table[i].symbol);
		free(kept[i].name);
	}
}

static void check_labels(const char *mode)
{
	static const struct {
		const char *symbol, *name;
		uint64_t offset, size, start;
	} table[] = {
		/* size and start: of the part that holds symbol + offset, from the source */
		{ "bare_first", "bare_first", 0, 3, 0 },
		{ "bare_first", "bare_first", 2, 3, 0 },
		{ "bare_second", "bare_second", 1, 3, 0 },
		{ "typed_without_size", "typed_without_size", 2, 4, 0 },
		{ "outer", "outer", 1, 2, 0 },
		{ "second_entry", "second_entry", 1, 2, 0 },
		{ "outer", "outer", 4, 2, 4 },
		{ "alias", "alias", 0, 1, 0 },
	};
	struct nm_symbol *symbols;
	struct hp_image *image;
	size_t count;

	if (!workshop_try("cc %s -shared -nostdlib -o labels.so \"$src\"/labels.S", mode)) {
		workshop_skip(mode, "cannot be built here");
		return;
	}
	count = workshop_nm("labels.so", &symbols);
	image = workshop_open("labels.so", NULL);
	check_cover(image);
	for (size_t i = 0; i < HP_ARRAY_COUNT(table); i++) {
		uint64_t base = nm_find(symbols, count, table[i].symbol)->address;
		const struct hp_procedure *procedure = procedure_at(image, base + table[i].offset);

		ck_assert_str_eq(procedure->name, table[i].name);
		ck_assert_uint_eq(procedure->address.value, base + table[i].start);
		ck_assert_uint_eq(procedure->size, table[i].size);
	}
	ck_assert_uint_eq(procedure_at(image, nm_find(symbols, count, "outer")->address + 4)
				  ->owner->address.value,
			  nm_find(symbols, count, "outer")->address);
	free(symbols);
}

TEST(assembly_without_types_or_sizes_has_procedures)
{
#if defined(__x86_64__) || defined(__i386__)
	check_labels("-m64");
	check_labels("-m32");
#else
	workshop_skip("instruction sizes", "known for x86 only");
	(void)check_labels;
#endif
}

TEST(text_that_nothing_describes_is_a_gap_up_to_its_neighbours)
{
	struct hp_symbol kept[] = { { { 0x1000 }, 0x100, (char[]){ "before" }, NULL },
				    { { 0x2000 }, 0x100, (char[]){ "after" }, NULL } };
	struct hp_image_id id = { .kind = HP_IMAGE_KERNEL, .path = (char[]){ "[kernel]" } };
	struct hp_image_options options = { .symbols = kept, .symbol_count = 2 };
	const struct hp_procedure *gap;
	_cleanup_(hp_image_close_scope) struct hp_image *image;

	hp_assert_ok(hp_image_open(&id, &options, &image));
	gap = procedure_at(image, 0x1fff);
	ck_assert_int_eq(gap->source, HP_PROCEDURE_GAP);
	ck_assert_str_eq(gap->name, "[kernel]+0x1100");
	ck_assert_uint_eq(gap->address.value, 0x1100);
	ck_assert_uint_eq(gap->size, 0xf00);
	ck_assert(gap->owner == gap);
	ck_assert(procedure_at(image, 0x1100) == gap);
	ck_assert_str_eq(procedure_at(image, 0)->name, "[kernel]+0x0");
	ck_assert_str_eq(procedure_at(image, UINT64_MAX)->name, "[kernel]+0x2100");
	ck_assert_str_eq(procedure_at(image, 0x10ff)->name, "before");
}

/* The end of a symbol without a size is not the next symbol: there may be procedures without symbols. */
TEST(assembly_of_a_stripped_library_is_divided_by_its_code)
{
	static const char *const names[] = { "visible", "hidden", "loops", "tail" };
	struct nm_symbol *symbols;
	struct hp_image *image;
	size_t count;

#ifndef __x86_64__
	workshop_skip("x86 code", "not for this machine");
	return;
#endif
	workshop_run("cc -shared -nostdlib -o unsized.so \"$src\"/unsized.S");
	count = workshop_nm("unsized.so", &symbols);
	workshop_run("strip unsized.so");
	image = workshop_open("unsized.so", NULL);
	check_cover(image);
	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		uint64_t start = nm_find(symbols, count, names[i])->address;
		const struct hp_procedure *procedure = procedure_at(image, start + 1);
		bool is_visible = i == 0;
		char name[64];

		snprintf(name, sizeof(name), "unsized.so+0x%" PRIx64, start);
		ck_assert_str_eq(procedure->name, is_visible ? names[i] : name);
		ck_assert_uint_eq(procedure->address.value, start);
		ck_assert_int_eq(procedure->source,
				 is_visible ? HP_PROCEDURE_SYMBOL : HP_PROCEDURE_CODE);
	}
	free(symbols);
}

HP_TEST_MAIN("image/procedures")
