/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds the lines of an annotation. */
#include "annotate.h"

#include <hpcprof/base/search.h>

#include <string.h>
#include <unistd.h>

struct hp_error *annotation_add(struct annotation *annotation, enum annotated_kind kind, size_t row,
				const struct hp_buffer *text)
{
	const struct hp_row *at = &annotation->listing->rows.at[row];
	struct annotated_line line = { .kind = (uint8_t)kind, .row = row };

	line.is_on_path = annotation->path.blocks && at->has_block &&
			  annotation->path.blocks[at->block];
	if (text) {
		line.text = text->failed ? NULL
					 : hp_arena_strdup(annotation->arena, hp_buffer_text(text));
		if (!line.text)
			return hp_error_create_no_memory();
	}
	return hp_vector_push(&annotation->lines, line) ? NULL : hp_error_create_no_memory();
}

size_t annotation_find(const struct annotation *annotation, uint64_t address)
{
	const struct hp_row *rows = annotation->listing->rows.at;
	size_t first = hp_bisect(i, annotation->addressed,
				 rows[annotation->by_address[i]].address < address);

	return first < annotation->addressed &&
			       rows[annotation->by_address[first]].address == address
		       ? annotation->by_address[first]
		       : SIZE_MAX;
}

double annotation_share(const struct annotation *annotation, size_t row)
{
	const struct hp_analysis *analysis = annotation->analysis;
	const struct hp_analysed_insn *insn = annotation->insns[row];

	if (!analysis)
		return annotation->listing->rows.at[row].local;
	return insn && annotation->cycles > 0 ? insn->cycles / annotation->cycles : 0;
}
