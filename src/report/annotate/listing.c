/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "listing.h"
#include "../common/state.h"
#include "../tuning.h"

#include <hpcprof/infer/inference.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A procedure longer than this is taken for what it is: a lie in a symbol table. */
enum { LONGEST_PROCEDURE_BYTES = 16 << 20, LONGEST_INSTRUCTION_BYTES = 16, TEXT_BYTES = 256 };

void listing_clear(struct listing *listing)
{
	hp_vector_free(&listing->rows);
	hp_vector_free(&listing->caveats);
	if (listing->arena)
		hp_arena_destroy(listing->arena);
	listing->arena = NULL;
}

struct lister {
	struct report *report;
	const struct hp_row *row;
	struct hp_loaded_part *part;
	struct listing *listing;
	const struct hp_procedure *procedure; /* the procedure whose parts are listed */
	enum listing_choice choice;
	/* NULL: all instructions are listed; otherwise it tells which are costly */
	const struct hp_analysis *analysis;
	/* position in the analysis after the previous instruction; NULL: there is none */
	const struct hp_analysed_insn *next;
};

static struct hp_error *push(struct lister *lister, const struct hp_row *added)
{
	struct hp_row row = *added;

	row.image = lister->row->image;
	row.name = lister->row->name;
	if (!row.text || !row.tallies || !hp_vector_push(&lister->listing->rows, row))
		return hp_error_create_no_memory();
	return NULL;
}

/* Adds up the samples of all offsets at one address. */
static struct hp_tally *tallies_at(struct lister *lister, size_t *located, uint64_t address)
{
	size_t events = lister->report->profiles->events.count;
	struct hp_tally *sum = hp_arena_array(lister->listing->arena, events, sizeof(*sum));

	while (sum && *located < lister->part->located_count &&
	       lister->part->located[*located].address == address) {
		const struct hp_tally *from =
			&lister->part->tallies[lister->part->located[*located].index * events];

		for (size_t i = 0; i < events; i++)
			hp_tally_add(&sum[i], &from[i]);
		++*located;
	}
	return sum;
}

/* Adds rows for samples in [start + 1, end), where no instruction begins. */
static struct hp_error *push_inside(struct lister *lister, size_t *located, uint64_t start,
				    uint64_t end)
{
	while (*located < lister->part->located_count &&
	       lister->part->located[*located].address < end) {
		uint64_t address = lister->part->located[*located].address;
		char text[64];
		struct hp_row row = { .has_address = true, .address = address };
		struct hp_error *error;

		snprintf(text, sizeof(text), "(inside the instruction at 0x%" PRIx64 ")", start);
		row.text = hp_arena_strdup(lister->listing->arena, text);
		row.tallies = tallies_at(lister, located, address);
		error = push(lister, &row);
		if (error)
			return error;
	}
	return NULL;
}

static size_t decode_length(const struct hp_image *file, const uint8_t *bytes, size_t size)
{
	uint16_t machine = hp_image_machine(file);
	size_t length = hp_isa_length(machine, bytes, size);
	size_t step = hp_isa_step(machine);

	return length ? length : step < size ? step : size;
}

/* In text, the called procedure's name is added; other formats get the instruction alone. */
static const char *name_target(struct lister *lister, const uint8_t *bytes, size_t length,
			       uint64_t address, const char *text)
{
	struct hp_image *file = lister->part->file;
	const struct hp_procedure *to;
	_cleanup_free_ char *named = NULL;
	uint64_t target;
	uint64_t into;
	int printed;

	if (lister->report->options->format != HP_FORMAT_TEXT ||
	    !hp_isa_target(hp_image_machine(file), bytes, length, address, &target))
		return hp_arena_strdup(lister->listing->arena, text);
	to = hp_image_procedure_at(file, (hp_link_address){ target });
	into = target - to->address.value;
	if (to->source == HP_PROCEDURE_GAP || to->owner == lister->procedure)
		return hp_arena_strdup(lister->listing->arena, text);
	printed = into ? asprintf(&named, "%s <%s+0x%" PRIx64 ">", text, to->name, into)
		       : asprintf(&named, "%s <%s>", text, to->name);
	if (printed < 0) {
		named = NULL;
		return NULL;
	}
	return hp_arena_strdup(lister->listing->arena, named);
}

static struct hp_error *push_instruction(struct lister *lister, size_t *located, uint64_t address,
					 const uint8_t *bytes, size_t length)
{
	struct hp_row row = {
		.has_address = true, .address = address, .bytes = bytes, .length = length
	};
	char text[TEXT_BYTES];

	hp_isa_text(hp_image_machine(lister->part->file), lister->report->options->syntax, bytes,
		    length, address, text, sizeof(text));
	row.text = name_target(lister, bytes, length, address, text);
	row.tallies = tallies_at(lister, located, address);
	return push(lister, &row);
}

/* If no procedure tells where instructions begin, each sample has a row of its own. */
static struct hp_error *list_sampled(struct lister *lister, uint64_t start, uint64_t size)
{
	size_t located = hp_first_located(lister->part, start);

	while (located < lister->part->located_count &&
	       lister->part->located[located].address - start < size) {
		uint64_t address = lister->part->located[located].address;
		struct hp_row row = { .has_address = true, .address = address };
		const uint8_t *bytes = NULL;
		size_t held = hp_image_text(lister->part->file, (hp_link_address){ address },
					    LONGEST_INSTRUCTION_BYTES, &bytes);
		struct hp_error *error;

		if (held) {
			error = push_instruction(lister, &located, address, bytes,
						 decode_length(lister->part->file, bytes, held));
		} else {
			row.text = "(no instruction bytes)";
			row.tallies = tallies_at(lister, &located, address);
			error = push(lister, &row);
		}
		if (error)
			return error;
	}
	return NULL;
}

/* NULL if the analysis has no such instruction. Both are in order of address, except for
 * padding. */
static const struct hp_analysed_insn *analysed_at(struct lister *lister, uint64_t address)
{
	const struct hp_analysis *analysis = lister->analysis;
	const struct hp_analysed_insn *insn = lister->next;

	if (!analysis)
		return NULL;
	if (!insn || insn == analysis->insns + analysis->insn_count ||
	    insn->insn->address != address)
		insn = hp_analysis_insn(analysis, address);
	lister->next = insn ? insn + 1 : NULL;
	return insn;
}

/* A jump that is fused with the comparison before it takes no time of its own. */
static bool is_costly(const struct hp_analysed_insn *insn)
{
	return insn->cycles > 0 ||
	       (insn->happened && insn->happened->mean[HP_EVENT_MISPREDICTED] > 0);
}

static bool is_chosen(const struct lister *lister, const struct hp_analysed_insn *insn)
{
	return lister->choice == LISTING_ALL || (insn && is_costly(insn));
}

/* Decodes linearly from `start`; padding and tables between instructions may be decoded wrongly. */
static struct hp_error *list_range(struct lister *lister, uint64_t start, uint64_t size)
{
	size_t located = hp_first_located(lister->part, start);
	uint64_t done = 0;

	while (done < size) {
		uint64_t address = start + done;
		const uint8_t *bytes = NULL;
		size_t wanted = size - done < LONGEST_INSTRUCTION_BYTES ? (size_t)(size - done)
									: LONGEST_INSTRUCTION_BYTES;
		size_t held = hp_image_text(lister->part->file, (hp_link_address){ address },
					    wanted, &bytes);
		bool sampled = located < lister->part->located_count &&
			       lister->part->located[located].address == address;
		const struct hp_analysed_insn *insn;
		struct hp_error *error = NULL;
		size_t length;

		if (!held)
			break;
		insn = analysed_at(lister, address);
		length = insn ? insn->insn->length : decode_length(lister->part->file, bytes, held);
		if (sampled || is_chosen(lister, insn))
			error = push_instruction(lister, &located, address, bytes, length);
		if (!error)
			error = push_inside(lister, &located, address, address + length);
		if (error)
			return error;
		done += length;
	}
	return done < size ? list_sampled(lister, start + done, size - done) : NULL;
}

/* Finds source positions for one part of a procedure, whose rows are in order of address. */
static struct hp_error *add_lines(struct lister *lister, size_t first)
{
	size_t count = lister->listing->rows.count - first;
	struct hp_row *rows = lister->listing->rows.at + first;
	_cleanup_free_ hp_link_address *addresses = calloc(count + 1, sizeof(*addresses));
	_cleanup_free_ struct hp_frames *frames = calloc(count + 1, sizeof(*frames));
	struct hp_error *error;

	if (!addresses || !frames)
		return hp_error_create_no_memory();
	if (!count)
		return NULL;
	for (size_t i = 0; i < count; i++)
		addresses[i].value = rows[i].address;
	error = hp_image_frames(lister->part->file, addresses, count, false, frames);
	if (error && error->errno_value == ENOMEM)
		return error;
	for (size_t i = 0; i < count && !error; i++) {
		if (!frames[i].count)
			continue;
		rows[i].file = frames[i].frames[0].file;
		rows[i].line = frames[i].frames[0].line;
	}
	if (error) {
		hp_profiles_warn(lister->report->profiles, error->advice, "%s", error->message);
		hp_error_destroy(error);
	}
	return NULL;
}

static struct hp_error *list_procedure_part(struct lister *lister,
					    const struct hp_procedure *procedure)
{
	size_t first = lister->listing->rows.count;
	uint64_t start = procedure->address.value;
	struct hp_error *error;
	const uint8_t *bytes;

	if (procedure->source == HP_PROCEDURE_GAP || procedure->size > LONGEST_PROCEDURE_BYTES ||
	    !hp_image_text(lister->part->file, procedure->address, 1, &bytes))
		error = list_sampled(lister, start, procedure->size);
	else
		error = list_range(lister, start, procedure->size);
	return error ? error : add_lines(lister, first);
}

/* Collected once per image, which may have tens of thousands of procedures, few of them in
 * parts. */
static struct hp_error *collect_cold(struct report *report, struct hp_loaded_part *part)
{
	const struct hp_procedure *const *procedures;
	size_t found = 0;
	size_t count;

	if (part->cold)
		return NULL;
	hp_image_parts(part->file, &procedures, &count);
	for (size_t i = 0; i < count; i++)
		found += procedures[i]->owner != procedures[i];
	part->cold = hp_arena_array(report->profiles->arena, found + 1,
				    sizeof(const struct hp_procedure *));
	if (!part->cold)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		if (procedures[i]->owner != procedures[i])
			part->cold[part->cold_count++] = procedures[i];
	return NULL;
}

static struct hp_error *list_procedure(struct lister *lister, const struct hp_procedure *owner)
{
	struct hp_error *error = collect_cold(lister->report, lister->part);

	lister->procedure = owner;
	if (!error)
		error = list_procedure_part(lister, owner);
	for (size_t i = 0; i < lister->part->cold_count && !error; i++)
		if (lister->part->cold[i]->owner == owner)
			error = list_procedure_part(lister, lister->part->cold[i]);
	return error;
}

/* A sample in an image that could not be read; the row's name contains the offset. */
static struct hp_error *list_offset(struct lister *lister)
{
	struct hp_row row = {
		.text = lister->row->image->problem ? "(the image could not be read)"
						    : "(no instruction bytes)",
		.tallies = lister->row->tallies,
	};

	return push(lister, &row);
}

static void set_local_shares(const struct report *report, const struct hp_row *row,
			     struct listing *listing)
{
	double whole = row->tallies[report->profiles->sort_event].weight;

	for (size_t i = 0; i < listing->rows.count && whole > 0; i++)
		listing->rows.at[i].local =
			listing->rows.at[i].tallies[report->profiles->sort_event].weight / whole;
}

bool listing_is_analysed(const struct report *report, const struct hp_row *row)
{
	return report->options->of.listed || row->counts ||
	       row->tallies[report->profiles->sort_event].samples >= SURVEY_FEWEST_SAMPLES;
}

struct hp_error *listing_make(struct report *report, const struct hp_row *row,
			      enum listing_choice choice, struct listing *listing)
{
	struct lister lister = {
		.report = report, .row = row, .listing = listing, .choice = choice
	};
	struct hp_error *error = NULL;

	*listing = (struct listing){ .arena = hp_arena_create() };
	if (!listing->arena)
		return hp_error_create_no_memory();
	if (choice == LISTING_COSTLY && listing_is_analysed(report, row))
		error = hp_inference_row(report->inference, row, &lister.analysis);
	if (error)
		return error;
	if (!row->code || !row->code->procedure) {
		error = list_offset(&lister);
		if (!error)
			set_local_shares(report, row, listing);
		return error;
	}
	for (const struct hp_row_code *code = row->code; code; code = code->next) {
		lister.part = code->part;
		error = list_procedure(&lister, code->procedure);
		if (error)
			return error;
	}
	set_local_shares(report, row, listing);
	return NULL;
}
