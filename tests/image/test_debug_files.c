/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files beside a program that somebody has laid there: compressed symbols and debugging information
 * that grow to much, pipes where a debug file should be. Nothing waits, nothing grows.
 */
#include "workshop.h"

#include <hpcprof/base/cleanup.h>

#include <dlfcn.h>
#include <elf.h>
#include <endian.h>
#include <string.h>
#include <sys/resource.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURES_MEMORY 0
#else
#define MEASURES_MEMORY 1
#endif

/* What the bombs below grow to, and far less. */
static const char bomb_bytes[] = "48M";
enum { ALLOWED_BYTES = 32 << 20 };

static uint64_t peak_bytes(void)
{
	struct rusage usage;

	ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
	return (uint64_t)usage.ru_maxrss * 1024;
}

static void build(const char *flags)
{
	workshop_run("rm -rf .debug *.debug *.dwo && cc -O2 %s -c -o cold.o -DENTRY=first "
		     "\"$src\"/cold.c && cc -O2 %s -c -o main.o \"$src\"/main.c && "
		     "cc %s -o program main.o cold.o -Wl,--defsym=second=first",
		     flags, flags, flags);
}

static bool is_refused(struct hp_image *image)
{
	static const char sentence[] = "are too large, and were left out";
	bool refused = strstr(hp_image_symbol_origin(image), sentence) != NULL;

	ck_assert_int_eq(refused, hp_image_left_out(image) &&
					  strstr(hp_image_left_out(image), sentence) != NULL);
	return refused;
}

/* Asks for names and lines of the program. */
static void ask(bool refused, bool lines)
{
	struct hp_image *image = workshop_open("program", NULL);

	hp_image_symbol_origin(image);
	ck_assert_int_eq(hp_image_has_lines(image), lines);
	ck_assert_msg(is_refused(image) == refused, "%s", hp_image_symbol_origin(image));
	if (MEASURES_MEMORY)
		ck_assert_uint_lt(peak_bytes(), ALLOWED_BYTES);
}

TEST(symbols_that_unpack_to_much_are_left_out)
{
	if (!workshop_has("xz")) {
		workshop_skip("bombs of xz", "no xz");
		return;
	}
	build("");
	workshop_run("strip program && head -c %s /dev/zero | xz -1 >bomb && "
		     "objcopy --add-section .gnu_debugdata=bomb program",
		     bomb_bytes);
	ask(true, false);
	/* The symbols themselves compressed, in what is unpacked. */
	build("");
	workshop_run(
		"rm -f bomb && truncate -s %s zeros && cp program within && "
		"objcopy --add-section .debug_info=zeros within && "
		"objcopy --compress-debug-sections=zlib within && "
		"xz -1 -c within >bomb && rm zeros && strip program && "
		"objcopy --add-section .gnu_debugdata=bomb program",
		bomb_bytes);
	ask(true, false);
	build("");
	workshop_run("cp program mini && strip program && "
		     "xz -1 -f mini && objcopy --add-section .gnu_debugdata=mini.xz program");
	ask(false, false);
}

static void add_zeros(const char *file, const char *kind)
{
	workshop_run("truncate -s %s zeros && "
		     "objcopy -R .debug_info --add-section .debug_info=zeros %s && "
		     "objcopy --compress-debug-sections=%s %s && rm zeros",
		     bomb_bytes, file, kind, file);
}

TEST(debugging_information_that_unpacks_to_much_is_left_out)
{
	static const char *const kinds[] = { "zlib-gabi", "zlib-gnu" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(kinds); i++) {
		build("-g");
		add_zeros("program", kinds[i]);
		ask(true, false);
	}
	build("-g");
	workshop_run("objcopy --only-keep-debug program program.debug && strip program && "
		     "objcopy --add-gnu-debuglink=program.debug program");
	ask(false, true);
	add_zeros("program.debug", "zlib-gabi");
	ask(true, false);
	build("-g -gz");
	ask(false, true);
}

TEST(a_pipe_in_place_of_a_debug_file_holds_nobody_up)
{
	static const char *const places[] = { "program.debug", ".debug/program.debug" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(places); i++) {
		build("-g");
		workshop_run(
			"mkdir -p .debug && objcopy --only-keep-debug program program.debug && "
			"strip program && objcopy --add-gnu-debuglink=program.debug program && "
			"rm program.debug && mkfifo %s",
			places[i]);
		ask(false, false);
	}
}

TEST(a_compressed_file_in_place_of_a_debug_file_is_not_unpacked)
{
	build("-g");
	workshop_run("objcopy --only-keep-debug program program.debug && strip program && "
		     "objcopy --add-gnu-debuglink=program.debug program && "
		     "head -c %s /dev/zero | gzip -1 >program.debug",
		     bomb_bytes);
	ask(false, false);
}

/* What is inlined at its start is told by the debugging information of its unit alone. */
static bool outermost_has_inlines(void)
{
	struct hp_image *image = workshop_open("program", NULL);
	hp_link_address address = { 0 };
	struct nm_symbol *symbols;
	struct hp_frames frames;
	size_t count = workshop_nm("program", &symbols);
	bool inlined;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(symbols[i].name, "outermost") == 0)
			address.value = symbols[i].address;
	}
	ck_assert_uint_ne(address.value, 0);
	hp_assert_ok(hp_image_frames(image, &address, 1, true, &frames));
	ck_assert_uint_gt(frames.count, 0);
	ck_assert_uint_gt(frames.frames[0].line, 0);
	inlined = frames.count > 1;
	free(symbols);
	return inlined;
}

TEST(split_debugging_information_is_found_and_a_pipe_in_its_place_is_not_opened)
{
	build("-g -gsplit-dwarf");
	ck_assert(outermost_has_inlines());
	workshop_run("for file in *.dwo; do rm $file && mkfifo $file; done");
	ck_assert(!outermost_has_inlines());
}

TEST(dwz_common_file_is_found_by_its_path_and_a_pipe_in_its_place_is_not_opened)
{
	if (!workshop_has("dwz")) {
		workshop_skip("dwz", "no dwz");
		return;
	}
	build("-g");
	workshop_run(
		"cp program twin && dwz -m common.debug -M \"$PWD/common.debug\" program twin");
	ask(false, true);
	workshop_run("rm common.debug && mkfifo common.debug");
	ask(false, false);
}

/* As many note segments as there can be, each of them 1 MiB of empty notes. Before it asks a server
 * libdwfl would read them all: for a minute. */
TEST(no_server_is_asked_for_a_file_whose_notes_have_no_end)
{
	enum { SEGMENTS = 65534, CODE = 4096, NOTES = 1 << 20 };
	const size_t size = sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr) + CODE + NOTES;
	Elf64_Ehdr *header = calloc(1, size);
	Elf64_Phdr *programs = (Elf64_Phdr *)(header + 1);
	const uint64_t code = sizeof(*header) + SEGMENTS * sizeof(*programs);
	struct hp_image *image;
	FILE *stream;

	ck_assert_ptr_nonnull(header);
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	header->e_type = htole16(ET_DYN);
	header->e_machine = htole16(EM_X86_64);
	header->e_version = htole32(EV_CURRENT);
	header->e_ehsize = htole16(sizeof(*header));
	header->e_phoff = htole64(sizeof(*header));
	header->e_phentsize = htole16(sizeof(*programs));
	header->e_phnum = htole16(SEGMENTS);
	for (size_t i = 0; i < SEGMENTS; i++)
		programs[i] = (Elf64_Phdr){ .p_type = htole32(PT_NOTE),
					    .p_offset = htole64(code + CODE),
					    .p_filesz = htole64(NOTES),
					    .p_align = htole64(4) };
	programs[0] = (Elf64_Phdr){ .p_type = htole32(PT_LOAD),
				    .p_flags = htole32(PF_R | PF_X),
				    .p_offset = htole64(code),
				    .p_vaddr = htole64(code),
				    .p_filesz = htole64(CODE),
				    .p_memsz = htole64(CODE),
				    .p_align = htole64(4096) };
	stream = fopen(workshop_path("notes.so"), "wb");
	ck_assert_ptr_nonnull(stream);
	ck_assert_uint_eq(fwrite(header, 1, size, stream), size);
	fclose(stream);
	free(header);
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1/", 1);
	image = workshop_open("notes.so", NULL);
	hp_assert_contains(hp_image_symbol_origin(image), "longer than 1 MiB");
	ck_assert_ptr_nonnull(hp_image_left_out(image));
}

/* libdwfl loads it and what it needs, some 30 libraries, to find out that no server is named. */
TEST(without_servers_nothing_is_loaded_to_ask_them)
{
	unsetenv("DEBUGINFOD_URLS");
	build("");
	workshop_run("strip program");
	ask(false, false);
	ck_assert_ptr_null(dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_NOLOAD));
}

/* --- what a debug file gives ------------------------------------------------------------------ */

TEST(a_separate_debug_file_gives_names_by_debuglink)
{
	struct hp_image_options without = { .no_debuginfo = true };
	_cleanup_free_ struct nm_symbol *symbols;
	struct hp_image *image;
	size_t count;
	uint64_t address;

	ck_assert(build_cold("-g -Wl,--build-id=none"));
	workshop_run("mv program full && objcopy --only-keep-debug full program.debug && "
		     "strip -o program full && objcopy --add-gnu-debuglink=program.debug program");
	count = workshop_nm("full", &symbols);
	address = nm_find(symbols, count, "outermost")->address;
	image = workshop_open("program", NULL);
	ck_assert_str_eq(procedure_at(image, address)->name, "outermost");
	ck_assert_str_eq(hp_image_symbol_origin(image), workshop_path("program.debug"));
	ck_assert(hp_image_has_lines(image));
	image = workshop_open("program", &without);
	ck_assert_int_eq(procedure_at(image, address)->source, HP_PROCEDURE_EH_FRAME);
	ck_assert(!hp_image_has_lines(image));
	ck_assert_str_eq(hp_image_symbol_origin(image), "dynamic symbol table and unwind data");
}

TEST(a_debug_file_under_symfs_is_found_by_build_id)
{
	struct hp_image_options options = { .symfs = workshop_path("root") };
	struct hp_image_id id = { .kind = HP_IMAGE_FILE, .path = (char[]){ "/opt/app/program" } };
	struct nm_symbol *symbols;
	_cleanup_(hp_image_close_scope) struct hp_image *image;
	size_t count;

	workshop_run(
		"cc -O2 -g -Wl,--build-id=0xabcdef0123456789 -o full -DENTRY=first \"$src\"/main.c "
		"\"$src\"/cold.c -Wl,--defsym=second=first && mkdir -p root/opt/app "
		"root/usr/lib/debug/.build-id/ab && "
		"objcopy --only-keep-debug full "
		"root/usr/lib/debug/.build-id/ab/cdef0123456789.debug && "
		"strip -o root/opt/app/program full");
	count = workshop_nm("full", &symbols);
	hp_assert_ok(hp_image_open(&id, &options, &image));
	ck_assert_str_eq(procedure_at(image, nm_find(symbols, count, "outermost")->address)->name,
			 "outermost");
	ck_assert(hp_image_has_lines(image));
	free(symbols);
}

TEST(minidebuginfo_inside_the_file_gives_local_names)
{
	struct nm_symbol *symbols;
	struct hp_image *image;
	size_t count;

	if (!workshop_has("xz")) {
		workshop_skip(".gnu_debugdata", "no xz");
		return;
	}
	ck_assert(build_cold("-Wl,--build-id"));
	workshop_run("objcopy --strip-debug --only-keep-debug program mini && "
		     "objcopy -S --remove-section .gdb_index --remove-section .comment program "
		     "stripped && xz -k mini && "
		     "objcopy --add-section .gnu_debugdata=mini.xz stripped");
	count = workshop_nm("program", &symbols);
	image = workshop_open("stripped", NULL);
	check_cover(image);
	ck_assert_str_eq(procedure_at(image, nm_find(symbols, count, "outermost")->address)->name,
			 "outermost");
	ck_assert_str_eq(procedure_at(image, nm_find(symbols, count, "worker")->address)->name,
			 "worker");
	free(symbols);
}

HP_TEST_MAIN("image/debug_files")
