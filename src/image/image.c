/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens images by identity, and passes each question to the part that answers it. */
#include <hpcprof/image/image.h>

#include "code.h"
#include "debug_file.h"
#include "elf_file.h"
#include "excerpted.h"
#include "lines.h"
#include "our_file.h"
#include "procedures.h"

#include <hpcprof/base/elf_section.h>
#include <hpcprof/image/identity.h>

#include <stdio.h>
#include <string.h>

/* The largest section .comment that is read; it has a sentence per compiler. */
enum { MOST_COMMENT_BYTES = 1 << 16 };
/* The amount of code that is read before the pages of a file are released, as finding them all
 * takes a millisecond in a file of 100 MB. */
enum { MOST_READ_BYTES = 1 << 22 };

struct hp_image {
	struct hp_image_id id;
	char *symfs;
	char *name; /* of unnamed code: the last component of the path */
	char *origin;
	struct hp_arena *arena;
	struct elf_file *file;		  /* NULL when the image has none, or it is no ELF */
	const struct hp_excerpt *excerpt; /* of a file that is not available; or NULL */
	symbols kept;
	struct procedures *procedures; /* made when first asked for */
	struct lines *lines;	       /* likewise */
	struct code *code;	       /* likewise */
	size_t read_bytes;	       /* bytes read since the pages were last released */
	bool unverified;	       /* no identity was recorded to compare with */
	struct hp_procedure nothing;   /* returned when memory is short */
};

/* --- opening ---------------------------------------------------------------------------------- */

static struct hp_error *check_identity(struct hp_image *image, int fd, const char *path)
{
	const struct hp_identity *recorded = &image->id.identity;
	char recorded_text[2 * HP_IDENTITY_MAX_BYTES + 1];
	char found_text[2 * HP_IDENTITY_MAX_BYTES + 1];
	struct hp_identity found;
	struct hp_error *error;

	if (recorded->kind == HP_IDENTITY_NONE) {
		image->unverified = true;
		return NULL;
	}
	error = hp_identity_of_fd(fd, &found);
	if (error)
		return hp_error_wrap(error, "%s", path);
	if (hp_identity_equal(recorded, &found))
		return NULL;
	hp_identity_format(recorded, recorded_text);
	hp_identity_format(&found, found_text);
	/* Enough digits to tell builds apart in one line. */
	return hp_error_advise(
		hp_error_create(HP_ERROR_DAMAGED,
				"%s has changed since the recording (%s %.12s, now %s%.12s)", path,
				recorded->kind == HP_IDENTITY_BUILD_ID ? "build-id" : "content",
				recorded_text,
				found.kind == recorded->kind	     ? ""
				: found.kind == HP_IDENTITY_BUILD_ID ? "build-id "
								     : "content ",
				found.kind == HP_IDENTITY_NONE ? "unknown" : found_text),
		"record again, or point --symfs at a directory that has the file as it was");
}

static enum debug_files debug_files_of(const struct hp_image_options *options)
{
	if (options->no_debuginfo)
		return DEBUG_FILES_NONE;
	return options->no_server ? DEBUG_FILES_HERE : DEBUG_FILES_SERVED;
}

static struct hp_error *open_file(struct hp_image *image, const struct hp_image_options *options)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	struct hp_error *error;
	int result = options->bytes_path ? asprintf(&path, "%s", options->bytes_path)
					 : asprintf(&path, "%s%s", image->symfs ? image->symfs : "",
						    image->id.path);

	if (result < 0) {
		path = NULL;
		return hp_error_create_no_memory();
	}
	error = our_file_open(path, &fd);
	if (!error)
		error = check_identity(image, fd, path);
	if (error)
		return error;
	error = elf_file_open(path, hp_steal_fd(&fd), image->symfs, debug_files_of(options),
			      &image->file);
	if (image->file)
		image->file->in_little_memory = options->in_little_memory;
	return error;
}

static bool needs_file(const struct hp_image *image, const struct hp_image_options *options)
{
	switch (image->id.kind) {
	case HP_IMAGE_FILE:
		return true;
	case HP_IMAGE_VDSO:
		return options->bytes_path != NULL;
	case HP_IMAGE_KERNEL:
	case HP_IMAGE_MODULE:
	case HP_IMAGE_JIT:
	case HP_IMAGE_ANON:
	case HP_IMAGE_UNKNOWN:
		break;
	}
	return false;
}

static struct hp_error *keep_symbols(struct hp_image *image, const struct hp_image_options *options)
{
	for (size_t i = 0; i < options->symbol_count; i++) {
		const struct hp_symbol *from = &options->symbols[i];
		hp_link_address address;
		struct symbol symbol = {
			.size = from->size,
			.name = hp_arena_strdup(image->arena, from->name),
			.rank = RANK_GLOBAL,
		};

		if (!hp_image_link_address(image, from->offset, &address) || !*from->name)
			continue;
		symbol.address = address.value;
		symbol.limit = UINT64_MAX;
		if (symbol.size > UINT64_MAX - symbol.address)
			symbol.size = UINT64_MAX - symbol.address;
		if (!symbol.name || !hp_vector_push(&image->kept, symbol))
			return hp_error_create_no_memory();
	}
	return NULL;
}

static struct hp_error *fill(struct hp_image *image, const struct hp_image_id *id,
			     const struct hp_image_options *options)
{
	const char *slash = strrchr(id->path, '/');
	struct hp_error *error = hp_image_id_copy(id, &image->id);

	if (error)
		return error;
	image->arena = hp_arena_create();
	image->name = strdup(slash && slash[1] ? slash + 1 : id->path);
	if (!image->arena || !image->name)
		return hp_error_create_no_memory();
	if (options->symfs && *options->symfs) {
		image->symfs = strdup(options->symfs);
		if (!image->symfs)
			return hp_error_create_no_memory();
	}
	if (options->kept_only && options->excerpt && !hp_excerpt_is_empty(options->excerpt))
		image->excerpt = options->excerpt;
	if (!options->kept_only && needs_file(image, options)) {
		error = open_file(image, options);
		if (error)
			return error;
	}
	return keep_symbols(image, options);
}

struct hp_error *hp_image_open(const struct hp_image_id *id, const struct hp_image_options *options,
			       struct hp_image **opened)
{
	static const struct hp_image_options defaults = { 0 };
	_cleanup_(hp_image_close_scope) struct hp_image *image = calloc(1, sizeof(*image));
	struct hp_error *error;

	*opened = NULL;
	if (!image)
		return hp_error_create_no_memory();
	error = fill(image, id, options ? options : &defaults);
	if (!error)
		*opened = hp_steal(image);
	return error;
}

void hp_image_close(struct hp_image *image)
{
	if (!image)
		return;
	lines_destroy(image->lines);
	procedures_destroy(image->procedures);
	code_destroy(image->code);
	elf_file_close(image->file);
	hp_vector_free(&image->kept);
	hp_arena_destroy(image->arena);
	hp_image_id_clear(&image->id);
	free(image->origin);
	free(image->name);
	free(image->symfs);
	free(image);
}

/* --- addresses and bytes ---------------------------------------------------------------------- */

bool hp_image_link_address(const struct hp_image *image, hp_image_offset offset,
			   hp_link_address *address)
{
	if (image->excerpt)
		return excerpted_link_address(image->excerpt, offset.value, &address->value);
	if (!image->file) {
		address->value = offset.value;
		return true;
	}
	for (size_t i = 0; i < image->file->segment_count; i++) {
		const struct elf_segment *segment = &image->file->segments[i];

		if (segment->executable && offset.value >= segment->offset &&
		    offset.value - segment->offset < segment->file_bytes) {
			address->value = segment->address + (offset.value - segment->offset);
			return true;
		}
	}
	return false;
}

bool hp_image_file_offset(const struct hp_image *image, hp_link_address address,
			  hp_image_offset *offset)
{
	const struct elf_segment *segment =
		image->file ? elf_file_segment_at(image->file, address.value) : NULL;

	if (!segment || !segment->executable)
		return false;
	offset->value = segment->offset + (address.value - segment->address);
	return true;
}

size_t hp_image_text(struct hp_image *image, hp_link_address address, size_t size,
		     const uint8_t **bytes)
{
	const struct elf_segment *segment =
		image->file ? elf_file_segment_at(image->file, address.value) : NULL;
	uint64_t skip;

	if (image->excerpt)
		return excerpted_text(image->excerpt, address.value, size, bytes);
	*bytes = NULL;
	if (!segment)
		return 0;
	skip = address.value - segment->address;
	if (size > segment->file_bytes - skip)
		size = (size_t)(segment->file_bytes - skip);
	*bytes = image->file->bytes + segment->offset + skip;
	image->read_bytes += size;
	if (image->read_bytes > MOST_READ_BYTES) {
		elf_file_forget_pages(image->file);
		image->read_bytes = 0;
	}
	return size;
}

uint16_t hp_image_machine(const struct hp_image *image)
{
	if (image->excerpt)
		return image->excerpt->machine;
	return image->file ? image->file->header.e_machine : 0;
}

/* --- who made it -------------------------------------------------------------------------------- */

bool hp_image_has_relocations(const struct hp_image *image)
{
	return image->file && elf_file_has_relocations(image->file);
}

bool hp_image_has_pseudo_probes(const struct hp_image *image)
{
	GElf_Shdr header;

	return image->file && hp_elf_section(image->file->elf, ".pseudo_probe", &header);
}

/* Returns section .comment, a string per compiler, in the image's bytes; NULL without it. */
static const void *compilers_of(const struct hp_image *image, size_t *size)
{
	GElf_Shdr header;
	Elf_Scn *section = image->file ? hp_elf_section(image->file->elf, ".comment", &header)
				       : NULL;
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	*size = image->excerpt ? image->excerpt->compilers_size : data ? data->d_size : 0;
	if (!*size)
		return NULL;
	return image->excerpt ? (const void *)image->excerpt->compilers : data->d_buf;
}

bool hp_image_other_compiler(const struct hp_image *image, const struct hp_image *other)
{
	size_t one_size;
	size_t two_size;
	const void *one = compilers_of(image, &one_size);
	const void *two = compilers_of(other, &two_size);

	return one && two && (one_size != two_size || memcmp(one, two, one_size) != 0);
}

bool hp_image_map(const struct hp_image *image, struct hp_excerpt *excerpt)
{
	const struct elf_file *file = image->file;
	bool fine = file && file->header.e_machine;
	const void *comment;
	size_t comment_bytes;

	if (!fine)
		return false;
	excerpt->machine = file->header.e_machine;
	for (size_t i = 0; i < file->segment_count && fine; i++)
		fine = !file->segments[i].file_bytes ||
		       hp_vector_push(&excerpt->segments,
				      (struct hp_excerpt_segment){
					      .address = file->segments[i].address,
					      .offset = file->segments[i].offset,
					      .bytes = file->segments[i].file_bytes,
					      .is_executable = file->segments[i].executable,
					      .is_writable = file->segments[i].writable,
				      });
	for (size_t i = 0; i < file->text_count && fine; i++)
		fine = hp_vector_push(
			&excerpt->texts,
			(struct hp_excerpt_text){ file->texts[i].address, file->texts[i].end });
	comment = compilers_of(image, &comment_bytes);
	if (fine && comment && comment_bytes <= MOST_COMMENT_BYTES) {
		excerpt->compilers = malloc(comment_bytes);
		fine = excerpt->compilers;
		if (fine)
			memcpy(excerpt->compilers, comment, comment_bytes);
		excerpt->compilers_size = fine ? comment_bytes : 0;
	}
	return fine;
}

/* --- what data says about code ---------------------------------------------------------------- */

static struct code *code_of(struct hp_image *image)
{
	if (!image->code && image->file)
		image->code = code_create(image->file);
	return image->code;
}

void hp_image_landings(struct hp_image *image, hp_link_address address, uint64_t size,
		       struct hp_arena *arena, const struct hp_landing **landings, size_t *count)
{
	struct code *code = code_of(image);

	if (image->excerpt) {
		excerpted_landings(image->excerpt, address.value, size, arena, landings, count);
		return;
	}
	*landings = NULL;
	*count = 0;
	if (code)
		code_landings(code, address.value, size, arena, landings, count);
}

void hp_image_code_pointers(struct hp_image *image, uint64_t low, uint64_t high,
			    const struct hp_code_pointer **pointers, size_t *count)
{
	struct code *code = code_of(image);

	if (image->excerpt) {
		excerpted_pointers(image->excerpt, low, high, image->arena, pointers, count);
		return;
	}
	*pointers = NULL;
	*count = 0;
	if (code)
		code_pointers(code, low, high, pointers, count);
}

const char *hp_image_import(struct hp_image *image, uint64_t where)
{
	struct code *code = code_of(image);

	if (image->excerpt)
		return excerpted_import(image->excerpt, where);
	return code ? code_import(code, where) : NULL;
}

bool hp_image_is_code(const struct hp_image *image, uint64_t address)
{
	if (image->excerpt)
		return excerpted_is_code(image->excerpt, address);
	return image->file && elf_file_text_at(image->file, address);
}

bool hp_image_is_writable_code(const struct hp_image *image, uint64_t address)
{
	const struct elf_segment *segment = image->file ? elf_file_segment_at(image->file, address)
							: NULL;

	if (image->excerpt)
		return excerpted_is_writable_code(image->excerpt, address);
	return segment && segment->executable && segment->writable;
}

/* --- names ------------------------------------------------------------------------------------ */

static struct procedures *procedures_of(struct hp_image *image)
{
	struct procedures_input input = {
		.file = image->file,
		.excerpt = image->excerpt,
		.kept = &image->kept,
		.image_name = image->name,
		.plain_names = image->id.kind == HP_IMAGE_JIT,
	};

	if (!image->procedures)
		hp_error_destroy(procedures_create(&input, &image->procedures));
	return image->procedures;
}

const struct hp_procedure *hp_image_procedure_at(struct hp_image *image, hp_link_address address)
{
	struct procedures *procedures = procedures_of(image);

	if (procedures)
		return procedures_at(procedures, address.value);
	image->nothing = (struct hp_procedure){ .name = image->name,
						.linkage = image->name,
						.size = UINT64_MAX,
						.owner = &image->nothing,
						.source = HP_PROCEDURE_GAP };
	return &image->nothing;
}

static void list_parts(struct hp_image *image, bool with_names,
		       const struct hp_procedure *const **list, size_t *count)
{
	struct procedures *procedures = procedures_of(image);

	*list = NULL;
	*count = 0;
	if (procedures)
		procedures_list(procedures, with_names, list, count);
}

void hp_image_procedures(struct hp_image *image, const struct hp_procedure *const **list,
			 size_t *count)
{
	list_parts(image, true, list, count);
}

void hp_image_parts(struct hp_image *image, const struct hp_procedure *const **list, size_t *count)
{
	list_parts(image, false, list, count);
}

bool hp_image_has_namesake(struct hp_image *image, const struct hp_procedure *procedure)
{
	struct procedures *procedures = procedures_of(image);

	return procedures && procedures_have_namesake(procedures, procedure->address.value);
}

void hp_image_join(struct hp_image *image, const struct hp_joint *joints, size_t count)
{
	struct procedures *procedures = procedures_of(image);

	if (procedures)
		procedures_join(procedures, joints, count);
}

static const char *symbols_from(const struct hp_image *image, const struct procedures *procedures)
{
	const char *debug = debug_file_name(image->file);

	switch (procedures_origin(procedures)) {
	case ORIGIN_SYMTAB:
		return "symbol table";
	case ORIGIN_DYNSYM:
		return "dynamic symbol table";
	case ORIGIN_DEBUGDATA:
		return "dynamic symbol table and .gnu_debugdata";
	case ORIGIN_DEBUG_FILE:
		return debug ? debug : "separate debug file";
	case ORIGIN_GOPCLNTAB:
		return "Go's function table (.gopclntab)";
	case ORIGIN_NONE:
		break;
	}
	return NULL;
}

const char *hp_image_left_out(const struct hp_image *image)
{
	static const char unpacks[] = "compressed symbols or debugging information are too large, "
				      "and were left out";
	static const char notes[] =
		"its notes are longer than 1 MiB: no debuginfod server was asked";

	if (image->excerpt && image->excerpt->origin)
		return strstr(image->excerpt->origin, unpacks) ? unpacks : NULL;
	if (!image->file)
		return NULL;
	if (image->file->unpacks_too_far)
		return unpacks;
	return image->file->notes_too_long ? notes : NULL;
}

const char *hp_image_symbol_origin(struct hp_image *image)
{
	static const char nothing[] = "none";
	const struct procedures *procedures = procedures_of(image);
	const char *names = NULL;
	const char *unwind = "";
	const char *left_out;
	const char *debug;

	if (image->excerpt)
		return image->excerpt->origin && *image->excerpt->origin ? image->excerpt->origin
									 : nothing;
	if (!image->file || !procedures)
		return image->kept.count ? "names stored with the profile" : nothing;
	names = symbols_from(image, procedures);
	/* With a full symbol table, unwind data adds little more than the PLT. */
	if (procedures_from_unwind(procedures) && procedures_origin(procedures) != ORIGIN_SYMTAB &&
	    procedures_origin(procedures) != ORIGIN_DEBUG_FILE)
		unwind = names ? " and unwind data" : "unwind data";
	if (!names && !*unwind)
		names = image->kept.count ? "names stored with the profile" : nothing;
	debug = debug_file_name(image->file);
	if (debug && names && strcmp(debug, names) == 0)
		debug = NULL;
	left_out = hp_image_left_out(image);
	free(image->origin);
	if (asprintf(&image->origin, "%s%s%s%s%s%s%s%s", names ? names : "", unwind,
		     debug ? ", lines from " : "", debug ? debug : "", left_out ? " (" : "",
		     left_out ? left_out : "", left_out ? ")" : "",
		     image->unverified ? " (the file could not be identified when it ran)" : "") <
	    0)
		image->origin = NULL;
	return image->origin ? image->origin : nothing;
}

/* --- lines ------------------------------------------------------------------------------------ */

static struct hp_error *open_lines(struct hp_image *image)
{
	struct procedures *procedures = procedures_of(image);

	if (image->lines)
		return NULL;
	if (!procedures)
		return hp_error_create_no_memory();
	return lines_create(image->file, procedures, image->arena, &image->lines);
}

bool hp_image_has_build_id_file(const struct hp_image *image)
{
	return image->file && debug_file_is_of_system(image->file);
}

bool hp_image_has_lines(struct hp_image *image)
{
	if (image->excerpt)
		return image->excerpt->lines.count > 0;
	if (!image->file)
		return false;
	hp_error_destroy(open_lines(image));
	return image->lines && lines_any(image->lines);
}

struct hp_error *hp_image_frames(struct hp_image *image, const hp_link_address *addresses,
				 size_t count, bool inlines, struct hp_frames *frames)
{
	struct hp_error *error;

	for (size_t i = 0; i < count; i++)
		frames[i] = (struct hp_frames){ 0 };
	if (image->excerpt)
		return excerpted_frames(image->excerpt, addresses, count, inlines, image->arena,
					frames)
			       ? NULL
			       : hp_error_create_no_memory();
	if (!image->file || count == 0)
		return NULL;
	error = open_lines(image);
	if (!error)
		error = lines_frames(image->lines, addresses, count, inlines, frames);
	return hp_error_wrap(error, "lines of %s", image->id.path);
}
