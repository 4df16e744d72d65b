/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workshop.h"

#include <elf.h>
#include <endian.h>
#include <string.h>
#include <xxhash.h>

static void write_file(const char *name, const void *bytes, size_t size)
{
	FILE *stream = fopen(workshop_path(name), "wb");

	ck_assert(stream != NULL);
	ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
	fclose(stream);
}

static void build(const char *name, const char *flags)
{
	workshop_run("printf 'int data = 5; int main(void) { return data - 5; }' >t.c && "
		     "cc %s -o %s t.c",
		     flags, name);
}

TEST(a_build_id_is_what_readelf_prints)
{
	char text[2 * HP_IDENTITY_MAX_BYTES + 1];
	char expected[64] = "";
	struct hp_identity identity;
	FILE *stream;

	build("program", "-Wl,--build-id=sha1");
	identity = workshop_identity("program");
	ck_assert_int_eq(identity.kind, HP_IDENTITY_BUILD_ID);
	hp_identity_format(&identity, text);
	stream = workshop_read("readelf -n program | sed -n 's/.*Build ID: //p'");
	ck_assert(fscanf(stream, "%63s", expected) == 1);
	pclose(stream);
	ck_assert_str_eq(text, expected);
}

TEST(a_build_id_of_any_length_up_to_twenty_bytes_is_taken)
{
	struct hp_identity identity;

	build("program", "-Wl,--build-id=0x0102abcdef");
	identity = workshop_identity("program");
	ck_assert_int_eq(identity.kind, HP_IDENTITY_BUILD_ID);
	ck_assert_uint_eq(identity.size, 5);
	ck_assert_mem_eq(identity.bytes, "\x01\x02\xab\xcd\xef", 5);
	build("program", "-Wl,--build-id=0x0102030405060708090a0b0c0d0e0f101112131415");
	ck_assert_int_eq(workshop_identity("program").kind, HP_IDENTITY_CONTENT);
}

TEST(a_build_id_survives_the_loss_of_all_section_headers)
{
	struct hp_identity before;
	struct hp_identity after;
	Elf64_Ehdr header;
	uint8_t *bytes;
	size_t size;

	build("program", "");
	before = workshop_identity("program");
	bytes = workshop_bytes("program", &size);
	memcpy(&header, bytes, sizeof(header));
	header.e_shoff = 0;
	header.e_shnum = 0;
	header.e_shstrndx = 0;
	memcpy(bytes, &header, sizeof(header));
	write_file("program", bytes, size);
	free(bytes);
	after = workshop_identity("program");
	ck_assert(hp_identity_equal(&before, &after));
}

TEST(without_a_build_id_the_executable_segments_are_hashed)
{
	struct hp_identity identity;
	XXH3_state_t *state = XXH3_createState();
	XXH128_canonical_t expected;
	unsigned long offset;
	unsigned long length;
	uint8_t *bytes;
	size_t size;
	FILE *stream;

	build("program", "-Wl,--build-id=none");
	bytes = workshop_bytes("program", &size);
	XXH3_128bits_reset(state);
	stream = workshop_read("readelf -lW program | awk '$1 == \"LOAD\" && / R?W? *E /"
			       " { print $2, $5 }'");
	while (fscanf(stream, "%lx %lx", &offset, &length) == 2)
		XXH3_128bits_update(state, bytes + offset, length);
	pclose(stream);
	XXH128_canonicalFromHash(&expected, XXH3_128bits_digest(state));
	XXH3_freeState(state);
	free(bytes);
	identity = workshop_identity("program");
	ck_assert_int_eq(identity.kind, HP_IDENTITY_CONTENT);
	ck_assert_uint_eq(identity.size, sizeof(expected.digest));
	ck_assert_mem_eq(identity.bytes, expected.digest, sizeof(expected.digest));
}

TEST(the_content_hash_follows_code_and_ignores_data)
{
	struct hp_identity plain;
	struct hp_identity stripped;
	struct hp_identity changed;

	build("plain", "-Wl,--build-id=none");
	workshop_run("strip -o stripped plain");
	workshop_run("printf 'int data = 5; int main(void) { return data - 6; }' >t.c && "
		     "cc -Wl,--build-id=none -o changed t.c");
	plain = workshop_identity("plain");
	stripped = workshop_identity("stripped");
	changed = workshop_identity("changed");
	ck_assert(hp_identity_equal(&plain, &stripped));
	ck_assert(!hp_identity_equal(&plain, &changed));
}

TEST(bytes_in_memory_are_identified_like_the_file)
{
	static const char *const flags[] = { "", "-Wl,--build-id=none" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(flags); i++) {
		struct hp_identity of_file;
		struct hp_identity of_bytes;
		uint8_t *bytes;
		size_t size;

		build("program", flags[i]);
		of_file = workshop_identity("program");
		bytes = workshop_bytes("program", &size);
		hp_assert_ok(hp_identity_of_bytes(bytes, size, &of_bytes));
		free(bytes);
		ck_assert(hp_identity_equal(&of_file, &of_bytes));
	}
}

TEST(a_file_that_is_no_elf_is_hashed_whole_and_an_empty_one_is_nobody)
{
	static const char text[] = "#!/bin/sh\necho this is a script\n";
	XXH128_canonical_t expected;
	struct hp_identity identity;

	write_file("script", text, sizeof(text));
	XXH128_canonicalFromHash(&expected, XXH3_128bits(text, sizeof(text)));
	identity = workshop_identity("script");
	ck_assert_int_eq(identity.kind, HP_IDENTITY_CONTENT);
	ck_assert_mem_eq(identity.bytes, expected.digest, sizeof(expected.digest));
	write_file("empty", "", 0);
	ck_assert_int_eq(workshop_identity("empty").kind, HP_IDENTITY_NONE);
	ck_assert_int_eq(workshop_identity("/dev/null").kind, HP_IDENTITY_NONE);
}

/* A 32-bit big-endian file by hand: its header, one note segment, the note. */
struct big_file {
	Elf32_Ehdr header;
	Elf32_Phdr program;
	uint32_t note[3];
	char name[4];
	uint8_t id[8];
};

static struct big_file big_file(void)
{
	struct big_file file = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2MSB, EV_CURRENT },
			    .e_type = htobe16(ET_EXEC),
			    .e_machine = htobe16(EM_PPC),
			    .e_phoff = htobe32(offsetof(struct big_file, program)),
			    .e_phentsize = htobe16(sizeof(Elf32_Phdr)),
			    .e_phnum = htobe16(1) },
		.program = { .p_type = htobe32(PT_NOTE),
			     .p_offset = htobe32(offsetof(struct big_file, note)),
			     .p_filesz = htobe32(24),
			     .p_align = htobe32(4) },
		.note = { htobe32(4), htobe32(8), htobe32(NT_GNU_BUILD_ID) },
		.name = { 'G', 'N', 'U', '\0' },
		.id = { 1, 2, 3, 4, 5, 6, 7, 8 },
	};

	return file;
}

TEST(a_big_endian_32_bit_file_is_read_in_its_own_terms)
{
	struct big_file file = big_file();
	struct hp_identity identity;

	hp_assert_ok(hp_identity_of_bytes(&file, sizeof(file), &identity));
	ck_assert_int_eq(identity.kind, HP_IDENTITY_BUILD_ID);
	ck_assert_uint_eq(identity.size, 8);
	ck_assert_mem_eq(identity.bytes, file.id, 8);
}

TEST(notes_that_lie_about_their_size_give_no_build_id)
{
	static const struct {
		uint32_t name_bytes, data_bytes, segment_bytes;
	} lies[] = {
		{ 4, 9, 24 },	       { 4, UINT32_MAX, 24 },
		{ UINT32_MAX, 8, 24 }, { 4, UINT32_MAX - 3, UINT32_MAX },
		{ 5, 8, 24 },	       { 4, 0, 24 },
		{ 4, 8, 23 },	       { 4, 8, 11 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(lies); i++) {
		struct big_file file = big_file();
		struct hp_identity identity;

		file.note[0] = htobe32(lies[i].name_bytes);
		file.note[1] = htobe32(lies[i].data_bytes);
		file.program.p_filesz = htobe32(lies[i].segment_bytes);
		hp_assert_ok(hp_identity_of_bytes(&file, sizeof(file), &identity));
		ck_assert_msg(identity.kind != HP_IDENTITY_BUILD_ID, "lie %zu", i);
	}
}

/* As many note segments as there can be, each of 1 MiB: read for each of them, that is half a
 * minute and more. The last one has a build-id, which shows whether it was read. */
TEST(notes_are_read_up_to_a_limit_however_many_segments_claim_them)
{
	enum { SEGMENTS = 65534, NOTES = 1 << 20, BYTES = 8 << 20 };
	static const uint32_t note[] = { 4, 8, NT_GNU_BUILD_ID };
	const uint64_t empty = sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr);
	struct hp_identity identity;
	Elf64_Ehdr *header = calloc(1, BYTES);
	Elf64_Phdr *programs = (Elf64_Phdr *)(header + 1);
	uint8_t *last = (uint8_t *)header + empty + NOTES;

	ck_assert_ptr_nonnull(header);
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	header->e_phoff = htole64(sizeof(*header));
	header->e_phentsize = htole16(sizeof(*programs));
	for (size_t i = 0; i < sizeof(note) / sizeof(note[0]); i++)
		memcpy(last + 4 * i, &(uint32_t){ htole32(note[i]) }, 4);
	memcpy(last + sizeof(note), "GNU\0build-id", 12);
	for (size_t i = 0; i < SEGMENTS; i++) {
		programs[i].p_type = htole32(PT_NOTE);
		programs[i].p_offset = htole64(i < SEGMENTS - 1 ? empty : empty + NOTES);
		programs[i].p_filesz = htole64(NOTES);
		programs[i].p_align = htole64(4);
	}
	header->e_phnum = htole16(SEGMENTS);
	hp_assert_ok(hp_identity_of_bytes(header, BYTES, &identity));
	ck_assert_int_eq(identity.kind, HP_IDENTITY_CONTENT);
	/* It is a good one. */
	programs[0] = programs[SEGMENTS - 1];
	hp_assert_ok(hp_identity_of_bytes(header, BYTES, &identity));
	ck_assert_int_eq(identity.kind, HP_IDENTITY_BUILD_ID);
	ck_assert_mem_eq(identity.bytes, "build-id", 8);
	free(header);
}

TEST(the_kernels_raw_notes_are_searched_for_a_build_id)
{
	/* Another note first, with a name and data that need padding. */
	const struct {
		uint32_t first[3];
		char first_name[8];
		uint8_t first_data[4];
		uint32_t second[3];
		char second_name[4];
		uint8_t id[20];
	} notes = {
		{ 6, 3, 0x100 }, "Linux",	    { 9, 9, 9 },
		{ 4, 20, 3 },	 { 'G', 'N', 'U' }, "0123456789abcdefghi",
	};
	struct hp_identity identity;

	hp_identity_of_notes(&notes, sizeof(notes), &identity);
	ck_assert_int_eq(identity.kind, HP_IDENTITY_BUILD_ID);
	ck_assert_uint_eq(identity.size, 20);
	ck_assert_mem_eq(identity.bytes, notes.id, 20);
	hp_identity_of_notes(&notes, sizeof(notes) - 1, &identity);
	ck_assert_int_eq(identity.kind, HP_IDENTITY_NONE);
	hp_identity_of_notes(&notes, 0, &identity);
	ck_assert_int_eq(identity.kind, HP_IDENTITY_NONE);
}

HP_TEST_MAIN("image/identity")
