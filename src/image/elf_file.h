/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file opened through libdwfl, at its link-time addresses: segments, executable sections,
 * bytes, symbol tables and debugging information, in the file itself or in separate ones.
 *
 * Debugging information is opened only on request, because a complete .symtab makes it
 * unnecessary.
 */
#ifndef HPCPROF_IMAGE_ELF_FILE_H
#define HPCPROF_IMAGE_ELF_FILE_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_segment {
	uint64_t address;
	uint64_t offset;
	uint64_t file_bytes;
	bool executable;
	bool writable;
};

/* An executable section, or an executable segment of a file without section headers. */
struct elf_text {
	uint64_t address;
	uint64_t end;	  /* > address */
	const char *name; /* of the section, "" for a segment */
	uint64_t entry_bytes;
};

/* Where separate files with debugging information are looked for. */
enum debug_files {
	DEBUG_FILES_NONE,
	DEBUG_FILES_HERE,
	DEBUG_FILES_SERVED, /* and on debuginfod servers */
};

struct elf_file {
	Dwfl_Callbacks callbacks;
	const char *symfs;
	enum debug_files debug_files;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Elf *elf; /* belongs to the module */
	GElf_Ehdr header;
	const uint8_t *bytes; /* the whole file */
	size_t size;
	struct elf_segment *segments; /* PT_LOAD, sorted by address */
	size_t segment_count;
	struct elf_text *texts; /* sorted by address, not overlapping */
	size_t text_count;
	/* Compressed sections would exceed the limit (inflation.h), in the file or its debug file:
	 * they stay compressed. */
	bool unpacks_too_far;
	/* The notes are too long, so no debuginfod server was asked for the debug file. */
	bool notes_too_long;
	Dwarf *alternate; /* dwz's common file */
	int alternate_fd;
	bool in_little_memory;
};

/* Takes over `fd`, also on failure. `*file` is NULL without an error if the file is no linked ELF
 * program or library. `symfs` may be NULL and must outlive the file. */
struct hp_error *elf_file_open(const char *path, int fd, const char *symfs,
			       enum debug_files debug_files, struct elf_file **file);
void elf_file_close(struct elf_file *file);
HP_DEFINE_CLEANUP(struct elf_file, elf_file_close);

bool elf_file_is_elf(int fd);

/* Returns the executable part that contains the address, or NULL. */
const struct elf_text *elf_file_text_at(const struct elf_file *file, uint64_t address);

/* Returns the segment with code or data that contains the address in the file, or NULL. */
const struct elf_segment *elf_file_segment_at(const struct elf_file *file, uint64_t address);

/* Releases the mapped pages of the file, if the configuration asks for little memory. Called after
 * each step that reads much. */
void elf_file_forget_pages(const struct elf_file *file);

/* Returns the debugging information from the file or its debug file, or NULL. An address in it plus
 * `bias` is a link-time address. The first call is slow. */
Dwarf *elf_file_dwarf(struct elf_file *file, uint64_t *bias);

/* Whether the file has the linker's relocations for code (ld --emit-relocs). */
bool elf_file_has_relocations(const struct elf_file *file);

#endif
