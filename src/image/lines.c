/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lines.h"

#include "debug_file.h"
#include "die_name.h"
#include "inlines.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_LIMIT = 256 };
#ifndef DW_AT_GNU_discriminator
enum { DW_AT_GNU_discriminator = 0x2136 }; /* discriminator of an inlined call */
#endif

struct unit_range {
	uint64_t low; /* link-time */
	uint64_t high;
	uint64_t highest; /* the largest end of this and all ranges before */
	size_t unit;
};

struct unit {
	Dwarf_CU *cu;
	Dwarf_Die die;
};

/* The complete path of a source file's relative name. */
struct full_path {
	const char *name; /* as in DWARF; each unit has its own copy */
	const char *path;
	UT_hash_handle hh;
};

struct lines {
	struct elf_file *file;
	struct procedures *procedures;
	struct hp_arena *arena;
	Dwarf *dwarf;
	uint64_t bias;
	HP_VECTOR(struct unit) units;
	HP_VECTOR(struct unit_range) ranges; /* sorted by low */
	struct die_names *names;
	struct full_path *paths;
};

struct hit {
	size_t unit;
	size_t index; /* of the address */
};

/* The part of a question that one unit answers. */
struct question {
	struct lines *lines;
	const struct unit *unit;
	const char *directory; /* directory of the compilation, or NULL */
	const struct hit *hits;
	const uint64_t *addresses; /* of the hits, in the debugging information's terms */
	size_t count;
	struct hp_frames *frames; /* of all addresses, by hit.index */
};

/* --- the index -------------------------------------------------------------------------------- */

static bool add_unit(struct lines *lines, Dwarf_CU *cu, Dwarf_Die *die)
{
	size_t index = lines->units.count;
	Dwarf_Addr base;
	Dwarf_Addr start;
	Dwarf_Addr end;
	ptrdiff_t offset = 0;

	if (!hp_vector_push(&lines->units, (struct unit){ cu, *die }))
		return false;
	while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		uint64_t low = start + lines->bias;
		uint64_t high = end + lines->bias;

		/* Code that the linker discarded is described at address 0 or nearby. */
		if (low >= high || !elf_file_text_at(lines->file, low))
			continue;
		if (!hp_vector_push(&lines->ranges,
				    (struct unit_range){ .low = low, .high = high, .unit = index }))
			return false;
	}
	return true;
}

HP_ORDER_BY_TWO(compare_ranges, struct unit_range, low, high);

static bool index_units(struct lines *lines)
{
	uint64_t highest = 0;
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die die;

	while (dwarf_get_units(lines->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
		if ((type == DW_UT_compile || type == DW_UT_skeleton) && !add_unit(lines, cu, &die))
			return false;
	if (lines->ranges.count > 1)
		qsort(lines->ranges.at, lines->ranges.count, sizeof(*lines->ranges.at),
		      compare_ranges);
	for (size_t i = 0; i < lines->ranges.count; i++) {
		if (lines->ranges.at[i].high > highest)
			highest = lines->ranges.at[i].high;
		lines->ranges.at[i].highest = highest;
	}
	return true;
}

struct hp_error *lines_create(struct elf_file *file, struct procedures *procedures,
			      struct hp_arena *arena, struct lines **created)
{
	_cleanup_(lines_destroy_scope) struct lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return hp_error_create_no_memory();
	lines->file = file;
	lines->procedures = procedures;
	lines->arena = arena;
	lines->names = die_names_create(arena);
	if (!lines->names)
		return hp_error_create_no_memory();
	lines->dwarf = elf_file_dwarf(file, &lines->bias);
	if (lines->dwarf && !index_units(lines))
		return hp_error_create_no_memory();
	*created = hp_steal(lines);
	return NULL;
}

void lines_destroy(struct lines *lines)
{
	if (!lines)
		return;
	die_names_destroy(lines->names);
	HASH_CLEAR(hh, lines->paths);
	hp_vector_free(&lines->units);
	hp_vector_free(&lines->ranges);
	free(lines);
}

bool lines_any(const struct lines *lines)
{
	return lines->ranges.count > 0;
}

/* Finds the unit whose range contains the address and begins nearest before it. */
static bool unit_at(const struct lines *lines, uint64_t address, size_t *unit)
{
	size_t at = hp_bisect(i, lines->ranges.count, lines->ranges.at[i].low <= address);

	while (at > 0 && lines->ranges.at[at - 1].highest > address) {
		at--;
		if (lines->ranges.at[at].high > address) {
			*unit = lines->ranges.at[at].unit;
			return true;
		}
	}
	return false;
}

/* --- answers of one unit ---------------------------------------------------------------------- */

/* Returns how many rows lie at or before the address; they are sorted. */
static size_t rows_until(Dwarf_Lines *table, size_t count, uint64_t address)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		Dwarf_Addr at;

		if (dwarf_lineaddr(dwarf_onesrcline(table, middle), &at) != 0)
			return 0;
		if (at <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool ends_sequence(Dwarf_Line *line)
{
	bool ends;

	return dwarf_lineendsequence(line, &ends) != 0 || ends;
}

static bool same_place(Dwarf_Line *a, Dwarf_Line *b)
{
	bool a_begins = false;
	bool b_begins = false;
	int a_number = 0;
	int b_number = 0;
	int a_column = 0;
	int b_column = 0;

	dwarf_lineno(a, &a_number);
	dwarf_lineno(b, &b_number);
	dwarf_linecol(a, &a_column);
	dwarf_linecol(b, &b_column);
	dwarf_linebeginstatement(a, &a_begins);
	dwarf_linebeginstatement(b, &b_begins);
	return a_number == b_number && a_column == b_column && a_begins == b_begins &&
	       dwarf_linesrc(a, NULL, NULL) == dwarf_linesrc(b, NULL, NULL);
}

/*
 * The last row at or before the address, if it is not the end of a sequence.
 *
 * libdw sorts the end of a sequence before other rows at its address, so that the next sequence may
 * begin there. But compilers also end sequences with an empty row, which then seems to begin
 * something and would claim all code up to the next sequence: it is told by the place that it has
 * in common with the end.
 */
static Dwarf_Line *line_at(Dwarf_Lines *table, size_t count, uint64_t address)
{
	size_t until = rows_until(table, count, address);
	size_t first = until;
	Dwarf_Addr last_at;
	Dwarf_Addr at;

	if (until == 0 || dwarf_lineaddr(dwarf_onesrcline(table, until - 1), &last_at) != 0)
		return NULL;
	while (first > 0 && dwarf_lineaddr(dwarf_onesrcline(table, first - 1), &at) == 0 &&
	       at == last_at)
		first--;
	for (size_t i = until; i > first; i--) {
		Dwarf_Line *line = dwarf_onesrcline(table, i - 1);
		bool is_empty = false;

		if (ends_sequence(line))
			return NULL;
		for (size_t k = first; k < i && !is_empty; k++) {
			Dwarf_Line *end = dwarf_onesrcline(table, k);

			if (!ends_sequence(end))
				break;
			is_empty = same_place(line, end);
		}
		if (!is_empty)
			return line;
	}
	return NULL;
}

static const char *join_path(struct hp_arena *arena, const char *directory, const char *name)
{
	size_t length = strlen(directory);
	char *path;

	/* Some compilers put a relative directory before the name already. */
	if (strncmp(name, directory, length) == 0 && name[length] == '/')
		return name;
	path = hp_arena_alloc(arena, length + strlen(name) + 2);
	if (!path)
		return name;
	stpcpy(stpcpy(stpcpy(path, directory), "/"), name);
	return path;
}

static const char *full_path(const struct question *question, const char *name)
{
	struct lines *lines = question->lines;
	struct full_path *known;

	if (!name || name[0] == '/' || !question->directory)
		return name;
	HASH_FIND(hh, lines->paths, &name, sizeof(name), known);
	if (known)
		return known->path;
	known = hp_arena_alloc(lines->arena, sizeof(*known));
	if (!known)
		return name;
	known->name = name;
	known->path = join_path(lines->arena, question->directory, name);
	HASH_ADD(hh, lines->paths, name, sizeof(known->name), known);
	return known->path;
}

static struct hp_frame frame_of_line(const struct question *question, Dwarf_Lines *table,
				     size_t count, uint64_t address)
{
	struct hp_frame frame = { 0 };
	Dwarf_Line *line = count ? line_at(table, count, address) : NULL;
	unsigned discriminator = 0;
	int number;

	if (line) {
		frame.file = full_path(question, dwarf_linesrc(line, NULL, NULL));
		if (dwarf_lineno(line, &number) == 0 && number > 0)
			frame.line = (uint32_t)number;
		if (dwarf_linediscriminator(line, &discriminator) == 0)
			frame.discriminator = discriminator;
	}
	return frame;
}

static uint32_t number_attribute(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 ||
	    value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

static struct hp_frame frame_of_call(const struct question *question, Dwarf_Die *inlined,
				     Dwarf_Files *files, size_t file_count)
{
	struct hp_frame frame = {
		.line = number_attribute(inlined, DW_AT_call_line),
		.discriminator = number_attribute(inlined, DW_AT_GNU_discriminator),
	};
	uint32_t index = number_attribute(inlined, DW_AT_call_file);

	if (files && index < file_count)
		frame.file = full_path(question, dwarf_filesrc(files, index, NULL, NULL));
	return frame;
}

static size_t chain_length(const struct inline_nodes *found, size_t node)
{
	size_t length = 1;

	while (node != INLINE_NONE && found->nodes.at[node].parent != INLINE_NONE &&
	       length < FRAME_LIMIT) {
		node = found->nodes.at[node].parent;
		length++;
	}
	return length;
}

/* Names the function at a place in a chain; the last one is the procedure itself. */
static void name_function(const struct question *question, size_t i, Dwarf_Die *die,
			  bool is_outermost, struct hp_frame *frame)
{
	struct lines *lines = question->lines;
	struct die_identity identity = die_identity(lines->names, die);
	const struct hp_procedure *procedure;

	frame->function = identity.name;
	frame->linkage = identity.linkage;
	frame->declared = identity.declared;
	if (!is_outermost)
		return;
	procedure = procedures_at(lines->procedures, question->addresses[i] + lines->bias);
	if (procedure->source == HP_PROCEDURE_SYMBOL)
		frame->function = procedure->name;
}

/* Frame 0 gets its position from the line table; each outer frame from the inlined call. */
static bool answer_address(const struct question *question, size_t i, struct hp_frame innermost,
			   const struct inline_nodes *found, Dwarf_Files *files, size_t file_count)
{
	struct lines *lines = question->lines;
	size_t node = found ? found->innermost[i] : INLINE_NONE;
	size_t length = chain_length(found, node);
	struct hp_frame *frames;

	if (!innermost.file && node == INLINE_NONE)
		return true;
	frames = hp_arena_array(lines->arena, length, sizeof(*frames));
	if (!frames)
		return false;
	frames[0] = innermost;
	for (size_t k = 0; k < length && node != INLINE_NONE; k++) {
		Dwarf_Die die = found->nodes.at[node].die;

		name_function(question, i, &die, k + 1 == length, &frames[k]);
		if (k + 1 < length)
			frames[k + 1] = frame_of_call(question, &die, files, file_count);
		node = found->nodes.at[node].parent;
	}
	question->frames[question->hits[i].index] = (struct hp_frames){ frames, length };
	return true;
}

/* Returns the unit with the functions: with split DWARF the file contains only a skeleton. */
static Dwarf_Die function_unit(const struct lines *lines, const struct unit *unit)
{
	uint8_t type = 0;
	Dwarf_Die die = unit->die;
	Dwarf_Die split = { 0 };

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) == 0 &&
	    type == DW_UT_skeleton && debug_file_may_open_split(lines->file, &die) &&
	    dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 && split.addr)
		return split;
	return unit->die;
}

static const char *unit_directory(const struct unit *unit)
{
	Dwarf_Die die = unit->die;
	Dwarf_Attribute attribute;
	const char *directory =
		dwarf_attr(&die, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute) : NULL;

	return directory && *directory ? directory : NULL;
}

static bool answer_unit(const struct question *question, bool inlines)
{
	Dwarf_Die die = question->unit->die;
	struct inline_nodes found = { 0 };
	Dwarf_Lines *table = NULL;
	Dwarf_Files *files = NULL;
	size_t line_count = 0;
	size_t file_count = 0;
	bool fine = true;

	if (dwarf_getsrclines(&die, &table, &line_count) != 0)
		line_count = 0;
	if (inlines) {
		Dwarf_Die functions = function_unit(question->lines, question->unit);

		fine = inlines_collect(&functions, question->addresses, question->count, &found);
		if (dwarf_getsrcfiles(&functions, &files, &file_count) != 0)
			files = NULL;
	}
	for (size_t i = 0; i < question->count && fine; i++)
		fine = answer_address(
			question, i,
			frame_of_line(question, table, line_count, question->addresses[i]),
			inlines ? &found : NULL, files, file_count);
	inlines_clear(&found);
	return fine;
}

/* --- the whole question ----------------------------------------------------------------------- */

HP_ORDER_BY_TWO(compare_hits, struct hit, unit, index);

static bool answer_hits(struct lines *lines, const hp_link_address *addresses,
			const struct hit *hits, size_t count, bool inlines,
			struct hp_frames *frames)
{
	_cleanup_free_ uint64_t *own = calloc(count + 1, sizeof(*own));

	if (!own)
		return false;
	for (size_t i = 0; i < count; i++)
		own[i] = addresses[hits[i].index].value - lines->bias;
	for (size_t i = 0; i < count;) {
		struct question question = {
			.lines = lines,
			.unit = &lines->units.at[hits[i].unit],
			.hits = hits + i,
			.addresses = own + i,
			.frames = frames,
		};

		question.directory = unit_directory(question.unit);
		while (i < count && hits[i].unit == question.hits->unit) {
			question.count++;
			i++;
		}
		if (!answer_unit(&question, inlines))
			return false;
	}
	return true;
}

struct hp_error *lines_frames(struct lines *lines, const hp_link_address *addresses, size_t count,
			      bool inlines, struct hp_frames *frames)
{
	HP_VECTOR(struct hit) hits = { 0 };
	bool fine = true;

	for (size_t i = 0; i < count && fine; i++) {
		size_t unit;

		if (unit_at(lines, addresses[i].value, &unit))
			fine = hp_vector_push(&hits, (struct hit){ unit, i });
	}
	if (hits.count > 1)
		qsort(hits.at, hits.count, sizeof(*hits.at), compare_hits);
	fine = fine && answer_hits(lines, addresses, hits.at, hits.count, inlines, frames);
	hp_vector_free(&hits);
	return fine ? NULL : hp_error_create_no_memory();
}
