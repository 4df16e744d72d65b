/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LLVM's sample profile as text, for clang -fprofile-sample-use (its format: comment at the head of
 * LLVM's SampleProfReader.cpp):
 *
 *	FUNCTION:TOTAL:ENTERED
 *	 LINE[.DISCRIMINATOR]: COUNT [CALLEE:COUNT]...
 *	 LINE[.DISCRIMINATOR]: INLINED:TOTAL
 *	  LINE[.DISCRIMINATOR]: COUNT
 *
 * Lines are relative to that of their function, and may lie before it. A place has the count of its most
 * executed instruction, times the copies that the compiler says it made of it; a function has the sum over
 * all its bytes, as other writers have it. What did not run in functions that ran has 0.
 *
 * Jumps count only at places that have no other instruction: where blocks end alike, compilers make one
 * end of them, whose jump has the line of one of the blocks. A jump of a loop that has the line of what
 * follows the loop would let that run as often.
 */
#include "counted_code.h"
#include "export.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/search.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct call {
	const char *callee;
	uint64_t count;
};

struct spot_key {
	const struct spot *within; /* NULL: it is a function's own code */
	const char *name;	   /* interned; NULL: it is a place, not a function */
	/* of the place, or of the call that was inlined; relative to the function's first line */
	uint32_t line;
	uint32_t discriminator;
};

/* A function with its own code, an inlined function, or a place in one of these. */
struct spot {
	struct spot_key key;
	uint64_t count;	  /* of a function: sum over all bytes in it */
	uint64_t jumped;  /* of a place: highest count of its jumps */
	bool has_others;  /* a place with instructions that are no jumps */
	uint64_t entered; /* of a function: number of entries */
	HP_VECTOR(struct call) calls;
	HP_VECTOR(struct spot *) inside;
	UT_hash_handle hh;
};

struct instruction {
	hp_link_address address;
	uint64_t count;
	uint8_t bytes;
	bool is_jump;
};

struct sample_profile {
	struct report *report;
	const struct counted_code *code;
	HP_VECTOR(struct instruction) instructions; /* sorted by address */
	HP_VECTOR(struct counted_item) calls;	    /* sorted by `from` */
	struct spot *index;
	struct spot root; /* contains all functions */
};

/* --- discriminators --------------------------------------------------------------------------- */

/*
 * LLVM packs three numbers into a discriminator: one that distinguishes code of a line, the number
 * of copies, and another. Each begins with a 1 bit if the number is 0. Otherwise five bits follow,
 * or twelve if the next bit is 1.
 */
static uint32_t first_number(uint32_t packed)
{
	if (packed & 1)
		return 0;
	packed >>= 1;
	return packed & 0x20 ? (packed >> 1 & 0xfe0) | (packed & 0x1f) : packed & 0x1f;
}

static uint32_t second_number(uint32_t packed)
{
	if (packed & 1)
		return first_number(packed >> 1);
	return first_number(packed >> (packed & 0x40 ? 14 : 7));
}

/* --- collecting ------------------------------------------------------------------------------- */

static bool add_instructions(struct sample_profile *profile, const struct counted_item *range)
{
	const struct hp_isa *isa = hp_isa_of(hp_image_machine(profile->code->part->file));
	uint64_t at = range->from;

	while (isa && at <= range->to) {
		struct instruction one = { { at }, range->count, 0, false };
		const uint8_t *bytes;
		size_t size =
			hp_image_text(profile->code->part->file, one.address, isa->longest, &bytes);
		struct hp_flow flow;

		if (!isa->flow(bytes, size, at, &flow) || !flow.length)
			break;
		one.bytes = flow.length;
		one.is_jump = flow.kind == HP_INSN_JUMP || flow.kind == HP_INSN_CONDITIONAL;
		if (!hp_vector_push(&profile->instructions, one))
			return false;
		at += flow.length;
	}
	return true;
}

static int compare_instructions(const void *left, const void *right)
{
	const struct instruction *a = left;
	const struct instruction *b = right;

	return (a->address.value > b->address.value) - (a->address.value < b->address.value);
}

static int compare_items(const void *left, const void *right)
{
	const struct counted_item *a = left;
	const struct counted_item *b = right;

	return (a->from > b->from) - (a->from < b->from);
}

static bool list_code(struct sample_profile *profile)
{
	const struct counted_code *code = profile->code;

	for (size_t i = 0; i < code->ranges.count; i++)
		if (!add_instructions(profile, &code->ranges.at[i]))
			return false;
	for (size_t i = 0; i < code->branches.count; i++)
		if (code->branches.at[i].is_call &&
		    !hp_vector_push(&profile->calls, code->branches.at[i]))
			return false;
	if (profile->instructions.count)
		qsort(profile->instructions.at, profile->instructions.count,
		      sizeof(*profile->instructions.at), compare_instructions);
	if (profile->calls.count)
		qsort(profile->calls.at, profile->calls.count, sizeof(*profile->calls.at),
		      compare_items);
	return true;
}

/* Removes suffixes that the compiler adds to special copies and parts of a function. */
static const char *plain_name(struct sample_profile *profile, const char *name)
{
	static const char *const suffixes[] = { ".llvm.", ".part.", ".constprop.", ".isra.",
						".cold" };
	size_t length = strlen(name);

	for (size_t i = 0; i < HP_ARRAY_COUNT(suffixes); i++) {
		const char *suffix = strstr(name, suffixes[i]);

		if (suffix && suffix > name && (size_t)(suffix - name) < length)
			length = (size_t)(suffix - name);
	}
	return hp_profiles_format(profile->report->profiles, "%.*s", (int)length, name);
}

/* Finds or makes it; NULL: out of memory. */
static struct spot *spot_of(struct sample_profile *profile, struct spot *within, const char *name,
			    uint32_t line, uint32_t discriminator)
{
	struct spot_key key;
	struct spot *spot;

	memset(&key, 0, sizeof(key));
	key.within = within;
	key.name = name ? plain_name(profile, name) : NULL;
	key.line = line & 0xffff;
	key.discriminator = first_number(discriminator);
	if (name && !key.name)
		return NULL;
	HASH_FIND(hh, profile->index, &key, sizeof(key), spot);
	if (spot)
		return spot;
	spot = hp_arena_alloc(profile->report->profiles->arena, sizeof(*spot));
	if (!spot)
		return NULL;
	*spot = (struct spot){ .key = key };
	HASH_ADD(hh, profile->index, key, sizeof(key), spot);
	return spot->hh.tbl && hp_vector_push(&within->inside, spot) ? spot : NULL;
}

static bool has_place(const struct hp_frame *frame)
{
	return frame->linkage && frame->declared && frame->line;
}

static bool add_call(struct sample_profile *profile, struct spot *place,
		     const struct counted_item *call)
{
	const struct hp_procedure *callee =
		hp_image_procedure_at(profile->code->part->file, (hp_link_address){ call->to });
	struct call added = { .count = call->count };

	if (callee->address.value != call->to || callee->source != HP_PROCEDURE_SYMBOL)
		return true;
	added.callee = plain_name(profile, callee->linkage);
	if (!added.callee)
		return false;
	for (size_t i = 0; i < place->calls.count; i++)
		if (place->calls.at[i].callee == added.callee) {
			place->calls.at[i].count += added.count;
			return true;
		}
	return hp_vector_push(&place->calls, added);
}

static bool add_calls(struct sample_profile *profile, struct spot *place, uint64_t address)
{
	size_t at = hp_bisect(i, profile->calls.count, profile->calls.at[i].from < address);

	for (; at < profile->calls.count && profile->calls.at[at].from == address; at++)
		if (!add_call(profile, place, &profile->calls.at[at]))
			return false;
	return true;
}

/* Descends from the function's own code into inlined functions. Code without a line of its function
 * has no place. */
static bool add_instruction(struct sample_profile *profile, const struct instruction *one,
			    const struct hp_frames *frames)
{
	const struct hp_procedure *procedure =
		hp_image_procedure_at(profile->code->part->file, one->address);
	uint32_t discriminator = frames->count ? frames->frames[0].discriminator : 0;
	uint64_t copies = second_number(discriminator);
	uint64_t count = one->count * (copies ? copies : 1);
	struct spot *spot = &profile->root;

	if (!frames->count)
		return true;
	for (size_t i = frames->count; i-- > 0;) {
		const struct hp_frame *frame = &frames->frames[i];
		const struct hp_frame *caller = frame + 1;

		if (!has_place(frame))
			return true;
		spot = i + 1 == frames->count
			       ? spot_of(profile, spot, frame->linkage, 0, 0)
			       : spot_of(profile, spot, frame->linkage,
					 caller->line - caller->declared, caller->discriminator);
		if (!spot)
			return false;
		spot->count += one->count * one->bytes;
		if (i + 1 == frames->count && procedure->owner == procedure &&
		    one->address.value == procedure->address.value)
			spot->entered += one->count;
	}
	spot = spot_of(profile, spot, NULL, frames->frames[0].line - frames->frames[0].declared,
		       discriminator);
	if (!spot)
		return false;
	if (one->is_jump) {
		spot->jumped = count > spot->jumped ? count : spot->jumped;
	} else {
		spot->count = count > spot->count ? count : spot->count;
		spot->has_others = true;
	}
	return add_calls(profile, spot, one->address.value);
}

static struct hp_error *add_all(struct sample_profile *profile)
{
	size_t count = profile->instructions.count;
	_cleanup_free_ hp_link_address *addresses = calloc(count + 1, sizeof(*addresses));
	_cleanup_free_ struct hp_frames *frames = calloc(count + 1, sizeof(*frames));
	bool is_fine = addresses && frames;
	struct hp_error *error = is_fine ? NULL : hp_error_create_no_memory();

	for (size_t i = 0; i < count && is_fine; i++)
		addresses[i] = profile->instructions.at[i].address;
	if (!error)
		error = hp_image_frames(profile->code->part->file, addresses, count, true, frames);
	for (size_t i = 0; i < count && is_fine && !error; i++)
		is_fine = add_instruction(profile, &profile->instructions.at[i], &frames[i]);
	return !error && !is_fine ? hp_error_create_no_memory() : error;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Places come before functions; both are sorted by line. */
static int compare_spots(const void *left, const void *right)
{
	const struct spot_key *a = &(*(const struct spot *const *)left)->key;
	const struct spot_key *b = &(*(const struct spot *const *)right)->key;

	if (!a->name != !b->name)
		return a->name ? 1 : -1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->discriminator != b->discriminator)
		return a->discriminator < b->discriminator ? -1 : 1;
	return a->name ? strcmp(a->name, b->name) : 0;
}

static int compare_calls(const void *left, const void *right)
{
	return strcmp(((const struct call *)left)->callee, ((const struct call *)right)->callee);
}

static void sort_inside(struct spot *spot)
{
	if (spot->inside.count)
		qsort(spot->inside.at, spot->inside.count, sizeof(struct spot *), compare_spots);
	for (size_t i = 0; i < spot->inside.count; i++)
		sort_inside(spot->inside.at[i]);
}

static void put_place(const struct spot *spot, unsigned depth, FILE *out)
{
	fprintf(out, "%*s%" PRIu32, (int)depth, "", spot->key.line);
	if (spot->key.discriminator)
		fprintf(out, ".%" PRIu32, spot->key.discriminator);
	fputs(": ", out);
}

static void put_inside(const struct spot *function, unsigned depth, FILE *out)
{
	for (size_t i = 0; i < function->inside.count; i++) {
		const struct spot *spot = function->inside.at[i];

		put_place(spot, depth, out);
		if (spot->key.name) {
			fprintf(out, "%s:%" PRIu64 "\n", spot->key.name, spot->count);
			put_inside(spot, depth + 1, out);
			continue;
		}
		fprintf(out, "%" PRIu64, spot->has_others ? spot->count : spot->jumped);
		if (spot->calls.count)
			qsort(spot->calls.at, spot->calls.count, sizeof(*spot->calls.at),
			      compare_calls);
		for (size_t k = 0; k < spot->calls.count; k++)
			fprintf(out, " %s:%" PRIu64, spot->calls.at[k].callee,
				spot->calls.at[k].count);
		putc('\n', out);
	}
}

static struct hp_error *put_functions(struct sample_profile *profile, FILE *out)
{
	if (!profile->root.inside.count)
		return hp_error_advise(
			hp_error_create(HP_ERROR_INSUFFICIENT,
					"%s has no debugging information that tells the lines of "
					"functions: the profile would be empty",
					profile->code->part->image->id.path),
			"compile it with -g -fdebug-info-for-profiling (clang) or -g");
	sort_inside(&profile->root);
	for (size_t i = 0; i < profile->root.inside.count; i++) {
		const struct spot *function = profile->root.inside.at[i];

		if (!function->count)
			continue;
		fprintf(out, "%s:%" PRIu64 ":%" PRIu64 "\n", function->key.name, function->count,
			function->entered);
		put_inside(function, 1, out);
	}
	return NULL;
}

static void tell_of_samples(const struct report *report)
{
	hp_profiles_warn(
		report->profiles, "hpcprof record --shadow counts them",
		"executions were not counted: how often code ran is estimated from samples "
		"of time");
}

static void tell_of_probes(const struct report *report, const struct counted_code *code)
{
	if (hp_image_has_pseudo_probes(code->part->file))
		hp_profiles_warn(report->profiles,
				 "export --format=llvm-profgen instead: clang gets more of the "
				 "counts by probes",
				 "a profile by lines does not use the pseudo-probes of %s",
				 code->part->image->short_name);
}

static void clear(struct sample_profile *profile)
{
	struct spot *spot;
	struct spot *next;

	HASH_ITER(hh, profile->index, spot, next)
	{
		HASH_DEL(profile->index, spot);
		hp_vector_free(&spot->calls);
		hp_vector_free(&spot->inside);
	}
	hp_vector_free(&profile->root.inside);
	hp_vector_free(&profile->instructions);
	hp_vector_free(&profile->calls);
}

struct hp_error *export_llvm_sample(struct report *report, FILE *out)
{
	struct counted_code code;
	struct sample_profile profile = { .report = report, .code = &code };
	struct hp_error *error = counted_code_find(report, true, &code);

	if (!error && !list_code(&profile))
		error = hp_error_create_no_memory();
	if (!error)
		error = add_all(&profile);
	if (!error)
		error = put_functions(&profile, out);
	if (!error && code.is_sampled)
		tell_of_samples(report);
	else if (!error)
		tell_of_probes(report, &code);
	clear(&profile);
	counted_code_clear(&code);
	return error;
}
