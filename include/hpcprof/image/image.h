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
	const char *symfs;	/* prefix of every file looked up; NULL for none */
	bool no_debuginfo;	/* symbols and lines from the file itself only */
	const char *bytes_path; /* a kept copy of the image (vdso), read instead of its path */
	const struct hp_symbol *symbols; /* names kept in the epoch (JIT, kernel, vdso), or NULL */
	size_t symbol_count;
	bool kept_only; /* no file is looked for: as an image without one */
	/* Then what was kept of the file, which must be in order and outlive the image; NULL or empty:
	 * the symbols are all there is. */
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

enum hp_procedure_source {
	HP_PROCEDURE_SYMBOL,   /* .symtab, .dynsym, .gnu_debugdata, separate debug file, kept */
	HP_PROCEDURE_PLT,      /* an entry of a PLT section: name is foo@plt */
	HP_PROCEDURE_EH_FRAME, /* an FDE without a symbol: name is image+0xADDRESS */
	HP_PROCEDURE_GAP, /* text that nothing describes: name is image+0xADDRESS of its start, or
			     the image's alone when nothing in it has a name ("[anon node]") */
};

struct hp_procedure {
	const char *name; /* demangled (C++, Rust); .cold parts carry their procedure's name */
	const char
		*linkage; /* as in the symbol table, without .cold; same as name if not mangled */
	hp_link_address address; /* of this part */
	uint64_t size;		 /* bytes of this part, > 0 */
	/* The first part of the procedure: of a .cold part its procedure; of the rest of one that
	 * another symbol cuts in two, its beginning; else itself. */
	const struct hp_procedure *owner;
	enum hp_procedure_source source;
	bool never_returns; /* known without its code, which was not kept */
};

/* The procedure part that holds the address; never NULL (a GAP at worst). */
const struct hp_procedure *hp_image_procedure_at(struct hp_image *image, hp_link_address address);
/* All parts with names or extents of their own (no GAPs), sorted by address, not overlapping. Makes
 * all their names, which procedure_at does one by one. */
void hp_image_procedures(struct hp_image *image, const struct hp_procedure *const **procedures,
			 size_t *count);

/* Whether another procedure of the image has the same linkage name, as static functions of several
 * sources may. Not asked for the names, which stay unmade. */
bool hp_image_has_namesake(struct hp_image *image, const struct hp_procedure *procedure);

/* The sections with code, by address, and the segments: for those who make an excerpt. False where
 * there is no file, or memory is short. */
bool hp_image_map(const struct hp_image *image, struct hp_excerpt *excerpt);

/* From now on each `part`, which owned itself, is a part of its `owner`'s owner and has its name.
 * All are this image's, and no owner is a part of another joint. For those who know more than
 * symbols and unwind data say. */
struct hp_joint {
	const struct hp_procedure *part;
	const struct hp_procedure *owner;
};
void hp_image_join(struct hp_image *image, const struct hp_joint *joints, size_t count);

/* A source position, innermost first: frame 0 is the code itself, the last one the procedure's own
 * body, those between are inlined functions. */
struct hp_frame {
	const char *function; /* demangled; NULL when DWARF does not say. The last frame has the
				 name of its procedure where a symbol gives one */
	const char *file;     /* full path as compiled; NULL without line information */
	uint32_t line; /* 0 unknown: within frame 0 the line of the address, above it the call's */
};
struct hp_frames {
	const struct hp_frame *frames; /* at least one when the address has line information */
	size_t count;
};

/* Frames of many addresses in one pass: `addresses` sorted ascending; `frames` has room for
 * `count`. With inlines false only frame 0's place is given (cheaper): which function that is,
 * inlined or not, is then not looked up and NULL. */
struct hp_error *hp_image_frames(struct hp_image *image, const hp_link_address *addresses,
				 size_t count, bool inlines, struct hp_frames *frames);

/* Instruction bytes at a link-time address, as much of `size` as one segment holds; 0 if none. */
size_t hp_image_text(struct hp_image *image, hp_link_address address, size_t size,
		     const uint8_t **bytes);

/* ELF e_machine, 0 for images without a file. */
uint16_t hp_image_machine(const struct hp_image *image);
/* Whether both say which compilers made them (section .comment), and say otherwise. */
bool hp_image_other_compiler(const struct hp_image *image, const struct hp_image *other);
/* Where names and lines came from ("/usr/lib/debug/…", "symbol table", …), for the report's header
 * and for advice; never NULL. */
const char *hp_image_symbol_origin(struct hp_image *image);
bool hp_image_has_lines(struct hp_image *image);
/* What of its names and lines was left out because its file asks for too much, as a sentence of static
 * storage; NULL when nothing was. It is part of hp_image_symbol_origin, too. */
const char *hp_image_left_out(const struct hp_image *image);

#endif
