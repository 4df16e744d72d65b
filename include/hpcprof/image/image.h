/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An image opened for reading by name: procedures, lines, inlined frames, instruction bytes.
 *
 * Lookup is by link-time address; hp_image_link_address converts a profile's offset. An image is
 * used by one thread. Pointers handed out live as long as the image.
 */
#ifndef HPCPROF_IMAGE_IMAGE_H
#define HPCPROF_IMAGE_IMAGE_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/model/excerpt.h>
#include <hpcprof/model/profile.h>

struct hp_image;

struct hp_image_options {
	const char *symfs;     /* prefix of every file looked up; NULL for none */
	bool no_debuginfo;     /* symbols and lines from the file itself only */
	bool no_server;	       /* no debuginfod server is asked: nothing waits for a network */
	bool in_little_memory; /* only the most recently read pages of a large file stay in memory */
	const char *bytes_path; /* a kept copy of the image (vdso), read instead of its path */
	const struct hp_symbol *symbols; /* names kept in the epoch (JIT, kernel, vdso), or NULL */
	size_t symbol_count;
	bool kept_only; /* use no file, as for an image without one */
	/* The stored excerpt of the file in that case. It must be valid and outlive the image; NULL
	 * or empty: only the symbols are known. */
	const struct hp_excerpt *excerpt;
};

/*
 * Opens the image that `id` names. A file whose identity differs from `id`'s is refused with
 * DAMAGED ("changed since the recording …", advice --symfs); a missing file is NOT_FOUND. Images
 * without a file (JIT, kernel, anon, unknown) always open, with the kept symbols only; their
 * link-time addresses are the offsets.
 */
struct hp_error *hp_image_open(const struct hp_image_id *id, const struct hp_image_options *options,
			       struct hp_image **image);
void hp_image_close(struct hp_image *image);
HP_DEFINE_CLEANUP(struct hp_image, hp_image_close);

/* File offset to link-time address through the program headers; identity for other kinds. False
 * when no executable segment holds the offset. */
bool hp_image_link_address(const struct hp_image *image, hp_image_offset offset,
			   hp_link_address *address);
/* The inverse, for code in the file; excerpts do not know it. */
bool hp_image_file_offset(const struct hp_image *image, hp_link_address address,
			  hp_image_offset *offset);

enum hp_procedure_source {
	HP_PROCEDURE_SYMBOL,   /* .symtab, .dynsym, .gnu_debugdata, separate debug file, kept */
	HP_PROCEDURE_PLT,      /* an entry of a PLT section: name is foo@plt */
	HP_PROCEDURE_EH_FRAME, /* an FDE without a symbol: name is image+0xADDRESS */
	HP_PROCEDURE_CODE,     /* undescribed text that is one procedure by its code: the same */
	/* undescribed text: name is image+0xADDRESS of its start, or that of the image if nothing
	 * in it has a name ("[anon node]") */
	HP_PROCEDURE_GAP,
};

struct hp_procedure {
	const char *name; /* demangled (C++, Rust); .cold parts carry their procedure's name */
	/* as in the symbol table, without .cold; same as name if not mangled */
	const char *linkage;
	hp_link_address address; /* of this part */
	uint64_t size;		 /* bytes of this part, > 0 */
	/* The first part of the procedure: for a .cold part, its procedure; for the rest of a
	 * procedure that another symbol divides, its beginning; otherwise the part itself. */
	const struct hp_procedure *owner;
	enum hp_procedure_source source;
	bool never_returns; /* known without its code, which was not stored */
};

/* The procedure part that contains the address; never NULL (GAP if nothing else). */
const struct hp_procedure *hp_image_procedure_at(struct hp_image *image, hp_link_address address);
/* All parts with names or extents of their own (no CODE, no GAPs), sorted by address, not overlapping. Makes
 * all their names; hp_image_procedure_at makes one at a time. */
void hp_image_procedures(struct hp_image *image, const struct hp_procedure *const **procedures,
			 size_t *count);
/* The same without making names, which take more memory than all the rest: `name` is NULL in those
 * that nobody looked up, and `linkage`, too, where no symbol has it. */
void hp_image_parts(struct hp_image *image, const struct hp_procedure *const **parts,
		    size_t *count);

/* Whether another procedure of the image has the same linkage name, as static functions in several
 * sources may. Does not make names. */
bool hp_image_has_namesake(struct hp_image *image, const struct hp_procedure *procedure);

/* The sections with code and the segments, by address, for an excerpt. False without a file, or
 * when memory is short. */
bool hp_image_map(const struct hp_image *image, struct hp_excerpt *excerpt);

/* Makes each `part`, which owned itself, a part of its `owner`'s owner, with the owner's name. All
 * belong to this image, and no owner is a part in another joint. For callers that know more than
 * symbols and unwind data. */
struct hp_joint {
	const struct hp_procedure *part;
	const struct hp_procedure *owner;
};
void hp_image_join(struct hp_image *image, const struct hp_joint *joints, size_t count);

/* A source position, innermost first: frame 0 is the code itself, the last frame the procedure's
 * own body, and those between are inlined functions. */
struct hp_frame {
	/* demangled; NULL if not in DWARF. The last frame has the name of its procedure if
	 * a symbol gives one */
	const char *function;
	const char *file; /* full path as compiled; NULL without line information */
	/* 0 unknown: in frame 0 the line of the address, in outer frames the line of the call */
	uint32_t line;
	/* The compiler's discriminator of code on one line; 0 none. This and the next two fields
	 * are not in excerpts. */
	uint32_t discriminator;
	uint32_t declared;   /* line that `function` begins at; 0 unknown */
	const char *linkage; /* as DWARF has it, or its plain name; NULL unknown */
};
struct hp_frames {
	const struct hp_frame *frames; /* at least one when the address has line information */
	size_t count;
};

/* Frames of many addresses in one pass: `addresses` sorted ascending; `frames` has room for
 * `count`. Without `inlines` only the position of frame 0 is given (cheaper); its function is
 * NULL. */
struct hp_error *hp_image_frames(struct hp_image *image, const hp_link_address *addresses,
				 size_t count, bool inlines, struct hp_frames *frames);

/* Instruction bytes at a link-time address, as much of `size` as one segment holds; 0 if none. */
size_t hp_image_text(struct hp_image *image, hp_link_address address, size_t size,
		     const uint8_t **bytes);

/* ELF e_machine, 0 for images without a file. */
uint16_t hp_image_machine(const struct hp_image *image);
/* Whether the linker left the relocations of code in the file (-Wl,--emit-relocs). */
bool hp_image_has_relocations(const struct hp_image *image);
/* Whether clang marked the blocks of code (-fpseudo-probe-for-profiling). */
bool hp_image_has_pseudo_probes(const struct hp_image *image);
/* Whether both images name their compilers (section .comment), and the names differ. */
bool hp_image_other_compiler(const struct hp_image *image, const struct hp_image *other);
/* The origin of names and lines ("/usr/lib/debug/…", "symbol table", …), for the report's header
 * and for advice; never NULL. */
const char *hp_image_symbol_origin(struct hp_image *image);
bool hp_image_has_lines(struct hp_image *image);
/* Whether its debugging information is in this system's file for the build-id, which stays when a program is
 * built again. Nothing is unpacked to tell. */
bool hp_image_has_build_id_file(const struct hp_image *image);
/* Which names and lines were omitted because the file asks for too much, as a static sentence; NULL
 * if none. It is also part of hp_image_symbol_origin. */
const char *hp_image_left_out(const struct hp_image *image);

#endif
