/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "outcomes.h"

#include "code_file.h"
#include "counted.h"
#include "registers.h"
#include "../tuning.h"

#include <hpcprof/base/number.h>

#include <elf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum {
	LONGEST_BYTES = 15, /* of one instruction */
	CACHE_LINE_BYTES = 64,
};

/* A file, and how often its slot in the table was reused. */
struct held_file {
	struct image *image; /* a reference; NULL: unused */
	struct code_file code;
	uint32_t generation;
};

struct cached {
	uint64_t address; /* link-time */
	uint32_t file;
	uint32_t generation; /* generation of the file's slot */
	bool is_used;
	bool is_valid; /* it can be decoded */
	struct hp_insn insn;
};

/* One way in which a branch went. */
struct way {
	struct image *image; /* references; NULL: the slot is free */
	struct image *to_image;
	uint64_t at; /* offsets of the branch and its target in the images */
	uint64_t to;
	uint32_t command;
	uint8_t kind;	/* enum hp_counted_kind */
	uint8_t source; /* HP_OUTCOMES_OF_* */
	uint32_t count;
};

struct outcomes {
	uint64_t recording;
	const struct hp_isa *isa;
	struct held_file files[OUTCOMES_FILES];
	uint32_t next_file;
	struct code_pieces *pieces; /* owned by `files` */
	struct cached *cache;
	struct way *ways;
	size_t way_count;
	uint64_t dropped;
	/* samples since the last flush that were followed, by command */
	uint64_t followed[EVIDENCE_COMMANDS];
	uint64_t seen[EVIDENCE_COMMANDS]; /* all samples ever, by command */
	struct hp_random random;
	outcomes_beginning *tell; /* may be NULL */
	void *tell_context;
};

struct hp_error *outcomes_create(uint64_t recording, struct outcomes **created)
{
	struct outcomes *outcomes = calloc(1, sizeof(*outcomes));

	if (!outcomes)
		return hp_error_create_no_memory();
	outcomes->recording = recording;
	outcomes->random = hp_random_seeded(recording | 1);
	outcomes->isa = hp_isa_of(EM_X86_64);
	outcomes->pieces = calloc(1, sizeof(*outcomes->pieces));
	outcomes->cache = calloc(OUTCOMES_CACHED, sizeof(*outcomes->cache));
	outcomes->ways = calloc(OUTCOMES_WAYS, sizeof(*outcomes->ways));
	for (size_t i = 0; i < OUTCOMES_FILES; i++)
		outcomes->files[i].code.fd = -1;
	if (!outcomes->pieces || !outcomes->cache || !outcomes->ways) {
		outcomes_destroy(outcomes);
		return hp_error_create_no_memory();
	}
	*created = outcomes;
	return NULL;
}

static void forget_ways(struct outcomes *outcomes)
{
	for (size_t i = 0; i < OUTCOMES_WAYS && outcomes->way_count; i++) {
		image_release(outcomes->ways[i].image);
		image_release(outcomes->ways[i].to_image);
		outcomes->ways[i] = (struct way){ 0 };
	}
	outcomes->way_count = 0;
	outcomes->dropped = 0;
	memset(outcomes->followed, 0, sizeof(outcomes->followed));
}

void outcomes_destroy(struct outcomes *outcomes)
{
	if (!outcomes)
		return;
	forget_ways(outcomes);
	for (size_t i = 0; i < OUTCOMES_FILES; i++) {
		code_file_close(&outcomes->files[i].code);
		image_release(outcomes->files[i].image);
	}
	free(outcomes->pieces);
	free(outcomes->cache);
	free(outcomes->ways);
	free(outcomes);
}

/* --- code ------------------------------------------------------------------------------------- */

/* State of following one sample. */
struct walk {
	struct outcomes *outcomes;
	const struct context *context;
	const struct hp_record *record;
	struct hp_state state;
	const struct mapping *mapping;
	const struct held_file *file; /* that the mapping is of */
	uint64_t shift;		      /* run-time address minus link-time address */
	uint64_t stack;		      /* address of the copied stack */
	unsigned branches;	      /* number of conditional branches so far */
	uint8_t source;		      /* HP_OUTCOMES_OF_* */
	uint32_t command;
};

static struct held_file *find_file(struct outcomes *outcomes, struct image *image, uint32_t pid)
{
	struct held_file *held;

	for (size_t i = 0; i < OUTCOMES_FILES; i++)
		if (outcomes->files[i].image == image)
			return &outcomes->files[i];
	held = &outcomes->files[outcomes->next_file];
	outcomes->next_file = (outcomes->next_file + 1) % OUTCOMES_FILES;
	code_file_close(&held->code);
	image_release(held->image);
	held->generation++;
	held->image = image;
	image->references++;
	code_file_open(&held->code, outcomes->pieces, &image->id, pid);
	if (held->code.machine != outcomes->isa->machine)
		code_file_close(&held->code);
	return held;
}

/* Finds the file of the next instruction. False: there is none. */
static bool find_code(struct walk *walk)
{
	uint64_t address = walk->state.address;
	const struct mapping *mapping = walk->mapping;
	uint64_t linked;

	if (mapping && address >= mapping->start && address < mapping->end)
		return true;
	mapping = space_find(walk->context->space, address);
	if (!mapping || !mapping->image || mapping->image->id.kind != HP_IMAGE_FILE)
		return false;
	walk->mapping = mapping;
	walk->file = find_file(walk->outcomes, mapping->image, walk->context->pid);
	if (walk->file->code.fd < 0 ||
	    !code_file_address(&walk->file->code, mapping->offset + (address - mapping->start),
			       &linked)) {
		walk->mapping = NULL;
		return false;
	}
	walk->shift = address - linked;
	return true;
}

static struct cached *slot_of(const struct outcomes *outcomes, uint64_t address, uint32_t file)
{
	uint64_t hash = (address ^ (uint64_t)file << 56) * UINT64_C(0x9e3779b97f4a7c15);

	return &outcomes->cache[hash >> 40 & (OUTCOMES_CACHED - 1)];
}

/* Asks for the memory of the instruction that is likely to be next: the target has used the caches
 * since this one was seen. */
static void fetch_next(const struct outcomes *outcomes, const struct hp_insn *insn, uint32_t file)
{
	bool goes_there = insn->kind == HP_INSN_JUMP || insn->kind == HP_INSN_CALL;
	const char *next = (const char *)slot_of(
		outcomes, goes_there ? insn->target : insn->address + insn->length, file);

	for (size_t i = 0; i < sizeof(struct cached); i += CACHE_LINE_BYTES)
		__builtin_prefetch(next + i);
}

static const struct hp_insn *find_insn(struct walk *walk)
{
	struct outcomes *outcomes = walk->outcomes;
	uint32_t file = (uint32_t)(walk->file - outcomes->files);
	uint64_t address = walk->state.address - walk->shift;
	struct cached *cached = slot_of(outcomes, address, file);
	uint8_t bytes[LONGEST_BYTES];

	if (!cached->is_used || cached->address != address || cached->file != file ||
	    cached->generation != walk->file->generation) {
		size_t size = code_file_read(&walk->file->code, outcomes->pieces, address, bytes,
					     sizeof(bytes));

		*cached = (struct cached){
			.address = address,
			.file = file,
			.generation = walk->file->generation,
			.is_used = true,
		};
		cached->is_valid = outcomes->isa->decode(bytes, size, address, &cached->insn) &&
				   cached->insn.length > 0;
	}
	if (!cached->is_valid)
		return NULL;
	fetch_next(outcomes, &cached->insn, file);
	return &cached->insn;
}

/* The copied stack may be larger, for call paths; using all of it would cost as much as finding
 * those. */
static size_t stack_held(const struct hp_record *record)
{
	size_t bytes = record->sample.stack_bytes;

	return bytes < OUTCOMES_STACK_BYTES ? bytes : OUTCOMES_STACK_BYTES;
}

/* Reads constants from the file of the code, and values from the copied stack. */
static bool read_memory(void *context, uint64_t address, size_t bytes, bool is_constant,
			uint8_t *into)
{
	const struct walk *walk = context;
	uint64_t above = address - walk->stack;
	size_t held = stack_held(walk->record);

	if (above < held && bytes <= held - above) {
		if (is_constant)
			return false;
		memcpy(into, walk->record->sample.stack + above, bytes);
		return true;
	}
	return code_file_read(&walk->file->code, walk->outcomes->pieces, address - walk->shift,
			      into, bytes) == bytes;
}

/* --- ways ------------------------------------------------------------------------------------- */

static bool is_same_way(const struct way *a, const struct way *b)
{
	return a->image == b->image && a->at == b->at && a->to_image == b->to_image &&
	       a->to == b->to && a->command == b->command && a->kind == b->kind &&
	       a->source == b->source;
}

/* The slot of this way, or the free slot where it belongs. */
static struct way *find_way(struct outcomes *outcomes, const struct way *wanted)
{
	uint64_t hash = (uintptr_t)wanted->image ^ wanted->at << 20 ^ wanted->to * 31 ^
			(uint64_t)wanted->command << 48 ^ wanted->kind ^ wanted->source;
	size_t at = (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 40);

	while (outcomes->ways[at % OUTCOMES_WAYS].image &&
	       !is_same_way(&outcomes->ways[at % OUTCOMES_WAYS], wanted))
		at++;
	return &outcomes->ways[at % OUTCOMES_WAYS];
}

static void count_way(struct outcomes *outcomes, const struct way *wanted)
{
	struct way *way = find_way(outcomes, wanted);

	if (!way->image) {
		/* Some slots stay free, so that each search ends. */
		if (outcomes->way_count > OUTCOMES_WAYS / 8 * 7) {
			outcomes->dropped++;
			return;
		}
		*way = *wanted;
		way->image->references++;
		way->to_image->references++;
		outcomes->way_count++;
	}
	if (way->count < UINT32_MAX)
		way->count++;
}

/* Notes that a branch at `from` in `image` led to the current instruction. */
static void note(struct walk *walk, const struct mapping *mapping, uint64_t from, uint8_t kind)
{
	const struct mapping *to = walk->mapping;
	uint64_t address = walk->state.address;

	if (!to || address < to->start || address >= to->end)
		to = space_find(walk->context->space, address);
	if (!to || !to->image)
		return;
	count_way(walk->outcomes, &(struct way){ .image = mapping->image,
						 .at = mapping->offset + (from - mapping->start),
						 .to_image = to->image,
						 .to = to->offset + (address - to->start),
						 .command = walk->command,
						 .kind = kind,
						 .source = walk->source });
}

void outcomes_tell(struct outcomes *outcomes, outcomes_beginning *tell, void *context)
{
	outcomes->tell = tell;
	outcomes->tell_context = context;
}

static void tell_of(const struct walk *walk, uint64_t address)
{
	const struct mapping *mapping = walk->mapping;

	if (address >= mapping->start && address < mapping->end)
		walk->outcomes->tell(walk->outcomes->tell_context, mapping->image,
				     mapping->offset + (address - mapping->start));
}

/* If this word of the stack is the return address of a direct call, the call tells where the
 * current procedure begins. */
static void tell_return(struct walk *walk, uint64_t address)
{
	uint8_t call[5];
	int32_t distance;

	walk->state.address = address;
	if (address < sizeof(call) || !find_code(walk) ||
	    code_file_read(&walk->file->code, walk->outcomes->pieces,
			   address - walk->shift - sizeof(call), call,
			   sizeof(call)) != sizeof(call) ||
	    call[0] != 0xe8)
		return;
	memcpy(&distance, call + 1, sizeof(distance));
	tell_of(walk, address);
	tell_of(walk, address + (uint64_t)(int64_t)distance);
}

static void tell_callers(const struct walk *from)
{
	struct walk walk = *from;
	size_t bytes = stack_held(walk.record);

	for (size_t i = 0; i + 8 <= bytes; i += 8) {
		uint64_t word;

		memcpy(&word, walk.record->sample.stack + i, sizeof(word));
		tell_return(&walk, word);
	}
}

static void tell_beginnings(const struct walk *walk, const struct hp_insn *insn, uint64_t from)
{
	if (!walk->outcomes->tell ||
	    (insn->kind != HP_INSN_CONDITIONAL && insn->kind != HP_INSN_CALL))
		return;
	tell_of(walk, insn->target + walk->shift);
	tell_of(walk, from + insn->length);
}

/* False when following ends. */
static bool follow_one(struct walk *walk, const struct hp_step_memory *memory)
{
	uint64_t from = walk->state.address;
	const struct mapping *mapping;
	const struct hp_insn *insn;
	enum hp_step step;

	if (!find_code(walk) || !(insn = find_insn(walk)))
		return false;
	mapping = walk->mapping;
	tell_beginnings(walk, insn, from);
	step = hp_step_x86_64(insn, walk->shift, memory, &walk->state);
	switch (step) {
	case HP_STEP_ON:
		return true;
	case HP_STEP_TAKEN:
	case HP_STEP_NOT_TAKEN:
		note(walk, mapping, from,
		     step == HP_STEP_TAKEN ? HP_COUNTED_TAKEN : HP_COUNTED_FALL);
		walk->branches++;
		return true;
	case HP_STEP_INDIRECT:
		if (insn->kind != HP_INSN_RETURN)
			note(walk, mapping, from,
			     insn->kind == HP_INSN_CALL_INDIRECT ? HP_COUNTED_INDIRECT_CALL
								 : HP_COUNTED_INDIRECT_JUMP);
		return true;
	case HP_STEP_UNKNOWN:
	case HP_STEP_END:
		break;
	}
	return false;
}

/* --- branch records --------------------------------------------------------------------------- */

/* Follows straight code to the branch that ended it; conditional jumps before that were not taken.
 * False if the code does not lead there: the record has a gap. */
static bool pass_straight(struct walk *walk, uint64_t end)
{
	for (unsigned steps = 0; steps < OUTCOMES_MOST_STEPS && walk->state.address < end;
	     steps++) {
		uint64_t from = walk->state.address;
		const struct hp_insn *insn;

		if (!find_code(walk) || !(insn = find_insn(walk)))
			return false;
		if (insn->kind != HP_INSN_PLAIN && insn->kind != HP_INSN_CONDITIONAL)
			return false;
		walk->state.address += insn->length;
		if (insn->kind == HP_INSN_CONDITIONAL)
			note(walk, walk->mapping, from, HP_COUNTED_FALL);
	}
	return walk->state.address == end;
}

/* Notes the branch itself, by its kind. */
static void take_branch(struct walk *walk, const struct hp_record_branch *branch)
{
	const struct mapping *mapping;
	const struct hp_insn *insn;
	uint8_t kind;

	walk->state.address = branch->from;
	if (!find_code(walk) || !(insn = find_insn(walk)))
		return;
	kind = insn->kind == HP_INSN_CONDITIONAL     ? HP_COUNTED_TAKEN
	       : insn->kind == HP_INSN_JUMP_INDIRECT ? HP_COUNTED_INDIRECT_JUMP
	       : insn->kind == HP_INSN_CALL_INDIRECT ? HP_COUNTED_INDIRECT_CALL
						     : 0;
	mapping = walk->mapping;
	tell_beginnings(walk, insn, branch->from);
	walk->state.address = branch->to;
	if (kind)
		note(walk, mapping, branch->from, kind);
}

/* From the oldest branch to the sample. */
static void follow_branches(const struct walk *start)
{
	const struct hp_record *record = start->record;
	struct walk walk = *start;

	walk.source = HP_OUTCOMES_OF_RECORDS;
	for (unsigned i = record->sample.branch_count; i-- > 0;) {
		const struct hp_record_branch *branch = &record->sample.branches[i];
		uint64_t end = i ? record->sample.branches[i - 1].from : record->sample.address;

		if (!branch->from || !branch->to || !end)
			continue;
		take_branch(&walk, branch);
		walk.state.address = branch->to;
		if (branch->to <= end)
			pass_straight(&walk, end);
	}
}

/* All of a command's first samples are followed, and fewer and fewer of the later ones. */
static bool is_worth_it(struct outcomes *outcomes, uint32_t command)
{
	uint64_t seen = outcomes->seen[command]++;
	uint64_t one_in = 1;

	for (uint64_t most = OUTCOMES_ALL_SAMPLES; one_in < OUTCOMES_ONE_IN && seen >= most;
	     most *= 2)
		one_in *= 2;
	return hp_random_between(&outcomes->random, 1, one_in) == 1;
}

void outcomes_follow(struct outcomes *outcomes, const struct hp_record *record,
		     const struct context *context)
{
	struct walk walk = { .outcomes = outcomes, .context = context, .record = record };
	struct hp_step_memory memory = { read_memory, &walk };
	unsigned steps = 0;

	walk.command = context->command < EVIDENCE_COMMANDS ? context->command : 0;
	if (!is_worth_it(outcomes, walk.command))
		return;
	if (record->sample.branch_count && record->cpu_mode == PERF_RECORD_MISC_USER) {
		follow_branches(&walk);
		outcomes->followed[walk.command]++;
		return;
	}
	if (!registers_state(record, &walk.state))
		return;
	walk.stack = walk.state.registers[outcomes->isa->stack_pointer].value;
	if (outcomes->tell)
		tell_callers(&walk);
	while (steps < OUTCOMES_MOST_STEPS && walk.branches < OUTCOMES_MOST_BRANCHES &&
	       follow_one(&walk, &memory))
		steps++;
	outcomes->followed[walk.command]++;
}

bool outcomes_is_full(const struct outcomes *outcomes)
{
	return outcomes->way_count > OUTCOMES_WAYS / 2;
}

/* --- to the epoch ----------------------------------------------------------------------------- */

static bool list_way(struct counted *counted, const struct way *way)
{
	struct hp_counted item = {
		.kind = way->kind,
		.is_relative = true,
		.at = { way->at },
		.to = { way->to },
	};

	way->image->references++;
	way->to_image->references++;
	if (!counted_image(counted, way->image, &item.image)) {
		image_release(way->to_image);
		return false;
	}
	if (!counted_image(counted, way->to_image, &item.to_image))
		return false;
	item.counts[way->source] = way->count;
	return hp_vector_push(&counted->items, item);
}

static struct hp_error *write_command(struct outcomes *outcomes, uint32_t command,
				      const struct names *commands, struct hp_window_evidence *sum)
{
	struct hp_window_stratum stratum = {
		.recording = outcomes->recording,
		.command = commands->text[command],
		.followed = outcomes->followed[command],
	};
	struct counted counted = { 0 };
	struct hp_error *error;

	for (size_t i = 0; i < OUTCOMES_WAYS && outcomes->way_count; i++)
		if (outcomes->ways[i].image && outcomes->ways[i].command == command)
			counted.dropped += !list_way(&counted, &outcomes->ways[i]);
	error = counted_add(&counted, &stratum, &stratum.outcomes, &stratum.outcome_count, sum);
	counted_clear(&counted);
	return error;
}

struct hp_error *outcomes_write(struct outcomes *outcomes, const struct names *commands,
				struct hp_epoch_writer *writer)
{
	struct hp_window_evidence sum = { .dropped = outcomes->dropped };
	struct hp_error *error = NULL;

	for (uint32_t i = 0; i < EVIDENCE_COMMANDS && !error; i++)
		if (outcomes->followed[i])
			error = write_command(outcomes, i, commands, &sum);
	if (!error)
		error = hp_epoch_writer_evidence(writer, &sum);
	hp_window_evidence_clear(&sum);
	if (!error)
		forget_ways(outcomes);
	return error;
}
