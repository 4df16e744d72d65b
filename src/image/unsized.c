/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unsized.h"

#include <hpcprof/isa/insn.h>

/* An unconditional jump that leads farther is the call of another procedure at the end of this one. */
static const uint64_t farthest_jump_bytes = 4096; /* bytes [chosen] */
/* Larger code is not divided: files may say that they have any amount of it. */
static const uint64_t most_divided_bytes = 64 << 20; /* bytes: 64 MiB [bound] */

/* Code in the file. */
struct span {
	const struct hp_isa *isa;
	const uint8_t *bytes; /* at `start` */
	uint64_t start, end;
};

static bool find_span(const struct elf_file *file, uint64_t start, uint64_t end, struct span *span)
{
	const struct elf_segment *segment = elf_file_segment_at(file, start);

	*span = (struct span){ .isa = hp_isa_of(file->header.e_machine), .start = start };
	if (!span->isa || !segment)
		return false;
	span->bytes = file->bytes + segment->offset + (start - segment->address);
	span->end = segment->address + segment->file_bytes;
	if (end < span->end)
		span->end = end;
	return true;
}

static bool flow_at(const struct span *span, uint64_t at, struct hp_flow *flow)
{
	return span->isa->flow(span->bytes + (at - span->start), span->end - at, at, flow);
}

static bool continues(const struct hp_flow *flow)
{
	return flow->kind != HP_INSN_JUMP && flow->kind != HP_INSN_JUMP_INDIRECT &&
	       flow->kind != HP_INSN_RETURN && flow->kind != HP_INSN_TRAP &&
	       flow->kind != HP_INSN_HALT;
}

/* Where the procedure that begins at `at` ends. Nothing is known of what is behind bytes that are no
 * instruction. */
static uint64_t end_of(const struct span *span, uint64_t at)
{
	uint64_t farthest = at;
	struct hp_flow flow;

	while (at < span->end && flow_at(span, at, &flow)) {
		bool is_inside =
			flow.kind == HP_INSN_CONDITIONAL ||
			(flow.kind == HP_INSN_JUMP && flow.target - at < farthest_jump_bytes);

		if (is_inside && flow.target > farthest && flow.target < span->end)
			farthest = flow.target;
		at += flow.length;
		if (!continues(&flow) && at > farthest)
			return at;
	}
	return span->end;
}

static uint64_t behind_padding(const struct span *span, uint64_t at)
{
	struct hp_flow flow;

	while (at < span->end && flow_at(span, at, &flow) && flow.is_padding)
		at += flow.length;
	return at;
}

void unsized_limit(const struct elf_file *file, symbols *found)
{
	/* Symbols may begin anywhere, so all of them may be told to hold the same code. */
	uint64_t budget = most_divided_bytes;
	struct span span;

	for (size_t i = 0; i < found->count; i++) {
		struct symbol *symbol = &found->at[i];
		uint64_t end;

		if (symbol->size || !find_span(file, symbol->address, symbol->limit, &span))
			continue;
		end = end_of(&span, symbol->address);
		if (end - symbol->address > budget)
			return;
		budget -= end - symbol->address;
		symbol->limit = end;
	}
}

static bool add(extents *found, uint64_t start, uint64_t end)
{
	return start == end ||
	       hp_vector_push(found, ((struct extent){ .address = start, .size = end - start }));
}

bool unsized_divide(const struct elf_file *file, uint64_t start, uint64_t end, extents *found)
{
	struct span span;
	uint64_t at;
	bool fine;

	if (end - start > most_divided_bytes || !find_span(file, start, end, &span))
		return true;
	/* What is in front of the first procedure is no padding of another one. */
	at = elf_file_text_at(file, start)->address == start ? start : behind_padding(&span, start);
	fine = add(found, start, at);
	while (fine && at < span.end) {
		uint64_t next = behind_padding(&span, end_of(&span, at));

		fine = add(found, at, next);
		at = next;
	}
	/* What is not in the file. */
	return fine && add(found, at, end);
}
