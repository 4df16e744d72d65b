/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workshop.h"

#include <hpcprof/base/cleanup.h>

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

static void build(const char *flags)
{
	workshop_run("cc -O2 %s -o program \"$src\"/main.c -DENTRY=first \"$src\"/cold.c "
		     "-Wl,--defsym=second=first",
		     flags);
}

static struct hp_image_id id_of(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s", workshop_path(name));
	return (struct hp_image_id){ .kind = HP_IMAGE_FILE,
				     .identity = workshop_identity(name),
				     .path = path };
}

TEST(a_program_built_anew_since_the_recording_is_refused_by_name)
{
	static const char *const flags[][2] = {
		{ "-Wl,--build-id=0x1111111111111111", "-Wl,--build-id=0x2222222222222222" },
		{ "-Wl,--build-id=none", "-Wl,--build-id=none -O1" },
		{ "-Wl,--build-id=none", "-Wl,--build-id=sha1" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(flags); i++) {
		struct hp_image *image;
		struct hp_image_id id;
		struct hp_error *error;

		build(flags[i][0]);
		id = id_of("program");
		build(flags[i][1]);
		error = hp_image_open(&id, NULL, &image);
		ck_assert(error != NULL);
		ck_assert_int_eq(error->class, HP_ERROR_DAMAGED);
		hp_assert_contains(error->message, id.path, "changed since the recording");
		ck_assert(error->advice && strstr(error->advice, "--symfs"));
		hp_error_destroy(error);
	}
}

TEST(a_missing_file_is_not_found)
{
	struct hp_image_id id = { .kind = HP_IMAGE_FILE };
	struct hp_image *image;

	id.path = strdup(workshop_path("no-such-program"));
	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_image_open(&id, NULL, &image));
	ck_assert(image == NULL);
	free(id.path);
}

TEST(a_fifo_or_directory_in_its_place_is_refused_without_waiting)
{
	struct hp_image_id id = { .kind = HP_IMAGE_FILE };
	struct hp_image *image;

	id.path = strdup(workshop_path("fifo"));
	ck_assert_int_eq(mkfifo(id.path, 0600), 0);
	hp_assert_fails(HP_ERROR_DAMAGED, hp_image_open(&id, NULL, &image));
	free(id.path);
	id.path = strdup(workshop_directory());
	hp_assert_fails(HP_ERROR_DAMAGED, hp_image_open(&id, NULL, &image));
	free(id.path);
}

/* Who may write a file may cut it short while it is mapped: of such we have a copy. */
TEST(a_file_that_others_may_write_can_be_cut_short_meanwhile)
{
	const struct hp_procedure *const *procedures;
	_cleanup_(hp_image_close_scope) struct hp_image *image;
	struct hp_image_id id;
	const uint8_t *code;
	unsigned sum = 0;
	size_t count;
	size_t bytes;

	build("");
	id = id_of("program");
	ck_assert_int_eq(chmod(id.path, 0777), 0);
	hp_assert_ok(hp_image_open(&id, NULL, &image));
	ck_assert_int_eq(truncate(id.path, 0), 0);
	hp_image_procedures(image, &procedures, &count);
	ck_assert_uint_gt(count, 0);
	bytes = hp_image_text(image, procedures[0]->address, 16, &code);
	ck_assert_uint_gt(bytes, 0);
	for (size_t i = 0; i < bytes; i++)
		sum += code[i];
	ck_assert_uint_gt(sum, 0);
}

TEST(symfs_stands_in_front_of_the_path)
{
	struct hp_image_options options = { .symfs = workshop_path("root") };
	struct hp_image_id id = { .kind = HP_IMAGE_FILE, .path = (char[]){ "/opt/program" } };
	_cleanup_(hp_image_close_scope) struct hp_image *image;

	build("");
	workshop_run("mkdir -p root/opt && mv program root/opt/program");
	id.identity = workshop_identity("root/opt/program");
	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_image_open(&id, NULL, &image));
	hp_assert_ok(hp_image_open(&id, &options, &image));
	ck_assert_int_ne(hp_image_machine(image), EM_NONE);
}

TEST(file_offsets_become_addresses_through_executable_segments_only)
{
	static const char *const flags[] = { "-fPIE -pie", "-fno-pie -no-pie" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(flags); i++) {
		unsigned long offset;
		unsigned long address;
		unsigned long size;
		hp_link_address found;
		struct hp_image *image;
		FILE *stream;
		size_t executable = 0;
		char mode[8];

		build(flags[i]);
		image = workshop_open("program", NULL);
		stream = workshop_read("readelf -lW program | awk '$1 == \"LOAD\" "
				       "{ print $2, $3, $5, ($0 ~ /E +0x/) ? \"x\" : \"-\" }'");
		while (fscanf(stream, "%lx %lx %lx %7s", &offset, &address, &size, mode) == 4) {
			hp_image_offset first = { offset };
			hp_image_offset last = { offset + size - 1 };

			if (strcmp(mode, "x") != 0) {
				ck_assert(!hp_image_link_address(image, first, &found));
				continue;
			}
			executable++;
			ck_assert(hp_image_link_address(image, first, &found));
			ck_assert_uint_eq(found.value, address);
			ck_assert(hp_image_link_address(image, last, &found));
			ck_assert_uint_eq(found.value, address + size - 1);
			last.value++;
			ck_assert(!hp_image_link_address(image, last, &found));
		}
		pclose(stream);
		ck_assert_uint_eq(executable, 1);
	}
}

TEST(text_is_what_objcopy_takes_out_of_the_file)
{
	struct hp_image *image;
	const uint8_t *bytes;
	hp_link_address address;
	_cleanup_free_ uint8_t *expected;
	size_t size;
	FILE *stream;

	build("");
	workshop_run("objcopy -O binary --only-section=.text program text");
	expected = workshop_bytes("text", &size);
	stream = workshop_read("readelf -SW program | sed -n 's/.* \\.text  *PROGBITS  *//p'");
	ck_assert_int_eq(fscanf(stream, "%lx", &address.value), 1);
	pclose(stream);
	image = workshop_open("program", NULL);
	ck_assert_uint_eq(hp_image_text(image, address, size, &bytes), size);
	ck_assert_mem_eq(bytes, expected, size);
	ck_assert_uint_eq(hp_image_text(image, (hp_link_address){ UINT64_MAX }, 1, &bytes), 0);
}

TEST(a_mapped_file_that_is_no_elf_opens_without_names)
{
	struct hp_image *image;
	hp_link_address address;
	const struct hp_procedure *procedure;

	workshop_run("echo 'no program at all' >data.bin");
	image = workshop_open("data.bin", NULL);
	ck_assert(hp_image_link_address(image, (hp_image_offset){ 5 }, &address));
	ck_assert_uint_eq(address.value, 5);
	procedure = hp_image_procedure_at(image, address);
	ck_assert_int_eq(procedure->source, HP_PROCEDURE_GAP);
	ck_assert_str_eq(procedure->name, "data.bin");
	ck_assert_uint_eq(hp_image_machine(image), EM_NONE);
	ck_assert(!hp_image_has_lines(image));
}

TEST(generated_code_has_the_names_that_were_kept_word_for_word)
{
	struct hp_symbol kept[] = {
		{ { 0x40 }, 0x20, (char[]){ "_ZN3fooEv@plt.cold" }, NULL },
		{ { 0x80 }, 0x10, (char[]){ "py::f:<string>" }, NULL },
	};
	struct hp_image_id id = { .kind = HP_IMAGE_JIT, .path = (char[]){ "[jit node]" } };
	struct hp_image_options options = { .symbols = kept, .symbol_count = 2 };
	_cleanup_(hp_image_close_scope) struct hp_image *image;
	hp_link_address address;

	hp_assert_ok(hp_image_open(&id, &options, &image));
	kept[0].name[0] = '!'; /* the image has its own copy */
	ck_assert(hp_image_link_address(image, (hp_image_offset){ 0x5f }, &address));
	ck_assert_str_eq(hp_image_procedure_at(image, address)->name, "_ZN3fooEv@plt.cold");
	address.value = 0x8f;
	ck_assert_str_eq(hp_image_procedure_at(image, address)->linkage, "py::f:<string>");
	ck_assert_str_eq(hp_image_symbol_origin(image), "names stored with the profile");
}

TEST(images_without_file_or_names_open_and_have_one_name)
{
	static const enum hp_image_kind kinds[] = { HP_IMAGE_ANON, HP_IMAGE_UNKNOWN,
						    HP_IMAGE_KERNEL, HP_IMAGE_VDSO };

	for (size_t i = 0; i < HP_ARRAY_COUNT(kinds); i++) {
		struct hp_image_id id = { .kind = kinds[i], .path = (char[]){ "[anon x]" } };
		hp_link_address address = { 0x7f0012345678 };
		const struct hp_procedure *const *list;
		struct hp_frames frames;
		struct hp_image *image;
		size_t count;

		hp_assert_ok(hp_image_open(&id, NULL, &image));
		ck_assert_str_eq(hp_image_procedure_at(image, address)->name, "[anon x]");
		hp_image_procedures(image, &list, &count);
		ck_assert_uint_eq(count, 0);
		hp_assert_ok(hp_image_frames(image, &address, 1, true, &frames));
		ck_assert_uint_eq(frames.count, 0);
		hp_image_close(image);
	}
}

TEST(the_vdso_is_read_from_its_kept_copy_and_completed_by_kept_names)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	struct hp_symbol kept = { { 0x10 }, 4, (char[]){ "kept_name" }, NULL };
	struct hp_image_id id = { .kind = HP_IMAGE_VDSO, .path = (char[]){ "[vdso]" } };
	struct hp_image_options options = { .symbols = &kept, .symbol_count = 1 };
	struct nm_symbol *symbols;
	struct hp_image *image;
	hp_link_address address;
	size_t size;
	size_t count;
	size_t checked = 0;
	FILE *stream;

	if (!vdso) {
		workshop_skip("vdso", "this process has none");
		return;
	}
	size = ((const Elf64_Ehdr *)vdso)->e_shoff +
	       (size_t)((const Elf64_Ehdr *)vdso)->e_shnum * sizeof(Elf64_Shdr);
	stream = fopen(workshop_path("vdso.so"), "wb");
	ck_assert(stream != NULL);
	ck_assert_uint_eq(fwrite(vdso, 1, size, stream), size);
	fclose(stream);
	hp_assert_ok(hp_identity_of_bytes(vdso, size, &id.identity));
	options.bytes_path = workshop_path("vdso.so");
	hp_assert_ok(hp_image_open(&id, &options, &image));
	count = workshop_nm("-D vdso.so", &symbols);
	for (size_t i = 0; i < count; i++) {
		const char *name = symbols[i].name;
		const struct hp_procedure *procedure;

		/* Where there is a plain alias it has fewer underscores. */
		if (strncmp(name, "__vdso_", 7) != 0 || symbols[i].size == 0)
			continue;
		address.value = symbols[i].address;
		procedure = hp_image_procedure_at(image, address);
		ck_assert(strncmp(procedure->name, name, strlen(procedure->name)) == 0 ||
			  strncmp(procedure->name, name + 7, strlen(procedure->name)) == 0);
		ck_assert_uint_eq(procedure->address.value, symbols[i].address);
		checked++;
	}
	if (checked == 0)
		workshop_skip("vdso", "no known names in it");
	free(symbols);
	ck_assert(hp_image_link_address(image, kept.offset, &address));
	ck_assert_str_eq(hp_image_procedure_at(image, address)->name, "kept_name");
	hp_image_close(image);
}

HP_TEST_MAIN("image/open")
