/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of straight-line code, and branches, as text for two programs that make sample profiles
 * for compilers: the number of ranges, each as "FROM-TO:COUNT", and the number of branches, each as
 * "FROM->TO:COUNT".
 *
 * The unsymbolized profile of llvm-profgen has link-time addresses and needs --use-offset=0. The
 * text profile of AutoFDO has offsets in the file, and a list of samples between ranges and
 * branches, which is empty here. If addresses are wrong, both programs write an empty profile
 * without a message.
 */
#include "counted_code.h"
#include "export.h"

#include <inttypes.h>

/* Converts a place to the form of the reader. False: that is impossible. */
static bool convert(const struct counted_code *code, bool as_offset, uint64_t *place)
{
	hp_image_offset offset;

	if (!as_offset)
		return true;
	if (!hp_image_file_offset(code->part->file, (hp_link_address){ *place }, &offset))
		return false;
	*place = offset.value;
	return true;
}

static bool write_items(const struct counted_code *code, const counted_items *items,
			const char *between, bool as_offset, FILE *out)
{
	struct hp_buffer text = { 0 };
	size_t count = 0;
	bool is_fine;

	for (size_t i = 0; i < items->count; i++) {
		struct counted_item item = items->at[i];

		if (!item.count || !convert(code, as_offset, &item.from) ||
		    !convert(code, as_offset, &item.to))
			continue;
		hp_buffer_printf(&text, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n", item.from,
				 between, item.to, item.count);
		count++;
	}
	fprintf(out, "%zu\n%s", count, hp_buffer_text(&text));
	is_fine = !text.failed;
	hp_buffer_free(&text);
	return is_fine;
}

static struct hp_error *write_code(struct report *report, bool is_autofdo, FILE *out)
{
	struct counted_code code;
	struct hp_error *error = counted_code_find(report, false, &code);

	if (!error && !write_items(&code, &code.ranges, "-", is_autofdo, out))
		error = hp_error_create_no_memory();
	if (!error && is_autofdo)
		fputs("0\n", out);
	if (!error && !write_items(&code, &code.branches, "->", is_autofdo, out))
		error = hp_error_create_no_memory();
	counted_code_clear(&code);
	return error;
}

struct hp_error *export_llvm_profgen(struct report *report, FILE *out)
{
	return write_code(report, false, out);
}

struct hp_error *export_autofdo(struct report *report, FILE *out)
{
	return write_code(report, true, out);
}
