/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the targets of an indirect jump.
 *
 * requires	the code around it followed, and how that code was reached (code.runs)
 * provides	the jump's targets inside the procedure, and whether it leaves the
 *		procedure; or that neither is known
 *
 * The shortest known path from the entry to the jump is evaluated (trace.h). A jump through an
 * entry of a table is a switch. The comparison that guards it gives the length of the table;
 * without one, the table ends at the first entry that cannot be a target. A jump to a pointer,
 * with the stack as it was on entry, is a tail call. Any other jump is a computed goto: its
 * targets are all places in the procedure whose addresses are in the image's data; if there are
 * none, the jump is not resolved.
 */
#include "code.h"
#include "trace.h"

#include <hpcprof/base/search.h>

#include <string.h>

struct way {
	struct trace trace;
	struct hp_insn jump;
	bool is_whole; /* it begins at the procedure's entry */
};

/* --- the way to the jump ---------------------------------------------------------------------- */

/* Evaluates one run up to and including `last`, after skipping instructions of `skip` bytes. */
static bool trace_run(const struct code *code, struct way *way, uint32_t start, uint32_t last,
		      uint64_t *skip, bool is_taken)
{
	const struct code_part *part = code_part_of(code, start);
	const struct hp_isa *isa = code->shared->isa;

	for (uint32_t at = start; at <= last;) {
		uint32_t offset = at - part->base;
		uint8_t length = code->lengths[at];
		struct hp_insn insn;

		if (length == 0)
			return false;
		if (*skip > 0) {
			*skip -= *skip < length ? *skip : length;
		} else {
			if (!isa->decode(part->bytes + offset, part->size - offset,
					 part->address + offset, &insn))
				return false;
			if (insn.kind == HP_INSN_CONDITIONAL)
				trace_branch(&way->trace, insn.condition, at == last && is_taken);
			trace_insn(&way->trace, &insn);
		}
		at += length;
	}
	return true;
}

static bool follow_way(struct code *code, const struct indirect *jump, uint64_t budget,
		       struct way *way)
{
	uint32_t chain[LONGEST_CHAIN];
	const struct code_part *part = code_part_of(code, jump->at);
	uint32_t offset = jump->at - part->base;
	uint32_t number = jump->run;
	uint64_t bytes = 0;
	uint64_t skip;
	size_t count = 0;
	uint32_t last = jump->at;

	/* At least the jump's own run. */
	do {
		const struct run *run = &code->runs.at[number];

		chain[count++] = number;
		bytes += last - run->start + 1;
		last = run->from;
		number = run->from_run;
	} while (number != NOWHERE && count < LONGEST_CHAIN && bytes <= budget);
	skip = bytes > budget ? bytes - budget : 0;
	way->is_whole = number == NOWHERE && skip == 0 &&
			!code->runs.at[chain[count - 1]].is_orphan;
	code->traced_bytes += bytes;
	trace_begin(&way->trace, code->shared->isa);
	while (count-- > 0) {
		const struct run *run = &code->runs.at[chain[count]];
		uint32_t end = count ? code->runs.at[chain[count - 1]].from : jump->at;

		/* The last stop is directly before the jump. */
		if (count == 0 && run->start == jump->at)
			break;
		if (!trace_run(code, way, run->start, count ? end : end - 1, &skip, count > 0))
			return false;
	}
	return code->shared->isa->decode(part->bytes + offset, part->size - offset,
					 part->address + offset, &way->jump);
}

static bool stack_is_as_on_entry(const struct way *way)
{
	const struct value *stack = &way->trace.registers[way->trace.isa->stack_pointer];

	return stack->kind == VALUE_LINEAR && stack->unknown == way->trace.stack &&
	       stack->scale == 1 && stack->offset == 0;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Most reads follow each other. */
static void log_read(struct code *code, uint64_t address, uint64_t size)
{
	struct read_log *log = code->shared->log;
	struct hp_excerpt_text *last =
		log && log->reads.count ? &log->reads.at[log->reads.count - 1] : NULL;

	if (!log)
		return;
	if (last && address == last->end)
		last->end += size;
	else if (!hp_vector_push(&log->reads, (struct hp_excerpt_text){ address, address + size }))
		code->is_short_of_memory = true;
}

static bool read_entry(struct code *code, const struct value *entry, uint64_t address,
		       uint64_t *target)
{
	const uint8_t *bytes;
	uint64_t number = 0;

	if (hp_image_text(code->shared->image, (hp_link_address){ address }, entry->entry_bytes,
			  &bytes) != entry->entry_bytes)
		return false;
	log_read(code, address, entry->entry_bytes);
	for (unsigned i = 0; i < entry->entry_bytes; i++)
		number |= (uint64_t)bytes[i] << 8 * i;
	if (entry->entry_bytes == 4 && entry->entry_is_signed)
		number = (uint64_t)(int64_t)(int32_t)number;
	*target = number + (uint64_t)entry->offset;
	return true;
}

/* The next address that the code names after a table's beginning belongs to something else. */
static uint64_t next_constant(const struct code *code, uint64_t address)
{
	size_t after = hp_bisect(i, code->constants.count, code->constants.at[i] <= address);

	return after < code->constants.count ? code->constants.at[after] : UINT64_MAX;
}

static bool push_target(struct code *code, uint32_t position)
{
	if (code->targets.count >= MOST_TARGETS) {
		code->is_truncated = true;
		return false;
	}
	if (hp_vector_push(&code->targets, position))
		return true;
	code->is_short_of_memory = true;
	return false;
}

/* Clang directs cases that cannot occur to an empty block at the very end. */
static bool is_just_past(const struct code *code, uint64_t target)
{
	for (uint64_t back = 1; back <= code->shared->isa->longest; back++)
		if (code_position(code, target - back) != NOWHERE)
			return code_position(code, target) == NOWHERE;
	return false;
}

static bool read_table(struct code *code, struct indirect *jump, const struct value *entry,
		       uint64_t first, uint64_t count, bool is_bounded)
{
	uint64_t limit = is_bounded ? UINT64_MAX : next_constant(code, first);
	size_t begin = code->targets.count;
	uint64_t address = first;
	uint64_t i;

	for (i = 0; i < count && address < limit; i++, address += entry->entry_bytes) {
		uint64_t target;
		uint32_t position;

		if (!read_entry(code, entry, address, &target))
			break;
		position = code_position(code, target);
		if (position != NOWHERE && (is_bounded || code_is_boundary(code, position))) {
			if (!push_target(code, position))
				break;
		} else if (is_just_past(code, target)) {
			continue;
		} else if (is_bounded && position == NOWHERE &&
			   hp_image_is_code(code->shared->image, target)) {
			jump->goes_out = true; /* it may be a cold part without a name */
		} else {
			break;
		}
	}
	code->traced_bytes += i * entry->entry_bytes;
	if (code->targets.count == begin)
		return false;
	jump->first_target = (uint32_t)begin;
	jump->target_count = (uint32_t)(code->targets.count - begin);
	jump->is_partial = is_bounded && i < count;
	if (!hp_vector_push(&code->tables, (struct table){ first, address }))
		code->is_short_of_memory = true;
	return true;
}

/* Entries relative to a base count from the beginning of their table, or from a label in the code
 * (as in the C library's printf). */
static bool has_base(const struct code *code, const struct value *entry)
{
	return entry->entry_bytes == 4 && entry->offset != 0 &&
	       code_position(code, (uint64_t)entry->offset) == NOWHERE;
}

/* The comparison that guards the index gives the beginning and the length of the table. */
static bool read_bounded(struct code *code, struct indirect *jump, const struct way *way,
			 const struct value *entry, bool allow_loose)
{
	const struct bound *bound = trace_bound(&way->trace, entry->unknown);
	uint64_t first;
	uint64_t count;
	bool is_guard;

	if (!bound || bound->most >= MOST_ENTRIES)
		return false;
	is_guard = !bound->is_natural;
	first = entry->table - (uint64_t)bound->offset * (uint64_t)entry->entry_scale;
	count = bound->most + 1;
	/* A switch's guard bounds exactly its index. A bound with which the table would begin in
	 * the middle comes from elsewhere on the way, and may be loose. */
	if (has_base(code, entry) && (uint64_t)entry->offset != first) {
		is_guard = false;
		if (first - (uint64_t)entry->offset > MOST_ENTRIES)
			return false;
		count += (first - (uint64_t)entry->offset) / entry->entry_bytes;
		first = (uint64_t)entry->offset;
	}
	if (!is_guard && !allow_loose)
		return false;
	return read_table(code, jump, entry, first, count, is_guard);
}

/* --- labels ----------------------------------------------------------------------------------- */

static bool is_in_table(const struct code *code, uint64_t where)
{
	for (size_t i = 0; i < code->tables.count; i++)
		if (where >= code->tables.at[i].start && where < code->tables.at[i].end)
			return true;
	return false;
}

static void find_labels_in(struct code *code, const struct code_part *part)
{
	const struct hp_code_pointer *pointers;
	size_t count;
	bool check_tables;

	hp_image_code_pointers(code->shared->image, part->address, part->address + part->size,
			       &pointers, &count);
	check_tables = count <= MOST_COMPARED / (code->tables.count + 1);
	for (size_t i = 0; i < count; i++) {
		uint32_t position = code_position(code, pointers[i].target);

		if (pointers[i].target == code->procedure->address.value || position == NOWHERE ||
		    !code_is_boundary(code, position) ||
		    (i > 0 && pointers[i].target == pointers[i - 1].target) ||
		    (check_tables && is_in_table(code, pointers[i].where)))
			continue;
		if (!push_target(code, position))
			return;
	}
}

static bool goes_to_labels(struct code *code, struct indirect *jump)
{
	if (!code->has_labels) {
		code->has_labels = true;
		code->first_label = (uint32_t)code->targets.count;
		for (size_t i = 0; i < code->parts.count; i++)
			find_labels_in(code, &code->parts.at[i]);
		code->label_count = (uint32_t)code->targets.count - code->first_label;
	}
	if (code->label_count == 0)
		return false;
	jump->first_target = code->first_label;
	jump->target_count = code->label_count;
	return true;
}

/* A table of pointers that the jump itself names has its targets, and no others. Without this, two
 * switches of one procedure whose guards the compiler left out have each other's cases, too. */
static bool reads_own_table(struct code *code, struct indirect *jump, const struct way *way,
			    const struct value *entry)
{
	const struct hp_memory *memory = &way->jump.memories[0];

	return way->jump.memory_count && memory->base == HP_REGISTER_NONE &&
	       memory->index != HP_REGISTER_NONE && memory->segment == HP_REGISTER_NONE &&
	       read_table(code, jump, entry, (uint64_t)memory->displacement, MOST_GUESSED, false);
}

/* --- all together ----------------------------------------------------------------------------- */

static bool resolve_entry(struct code *code, struct indirect *jump, const struct way *way,
			  const struct value *target, bool guess)
{
	if (read_bounded(code, jump, way, target, false))
		return true;
	/* Pointers may be labels or functions; offsets exist in switches only. */
	if (target->entry_bytes == 8) {
		if (guess &&
		    (reads_own_table(code, jump, way, target) || goes_to_labels(code, jump)))
			return true;
		if (guess && way->is_whole && stack_is_as_on_entry(way)) {
			jump->goes_out = true;
			return true;
		}
	}
	if (!guess)
		return false;
	return read_bounded(code, jump, way, target, true) ||
	       read_table(code, jump, target,
			  has_base(code, target) ? (uint64_t)target->offset : target->table,
			  MOST_GUESSED, false);
}

static bool resolve_pointer(struct code *code, struct indirect *jump, const struct way *way,
			    const struct value *target, bool guess)
{
	uint32_t position;

	if (target->unknown == 0) {
		position = code_position(code, (uint64_t)target->offset);
		jump->goes_out = position == NOWHERE;
		jump->first_target = (uint32_t)code->targets.count;
		jump->target_count = position != NOWHERE;
		return position == NOWHERE || push_target(code, position);
	}
	if (way->is_whole ? stack_is_as_on_entry(way) && target->origin != ORIGIN_INDEXED
			  : target->origin != ORIGIN_INDEXED) {
		jump->goes_out = true;
		return true;
	}
	if (guess && goes_to_labels(code, jump))
		return true;
	/* A table of pointers in an object: `return this->handlers[i]()`. */
	if (guess && way->is_whole && stack_is_as_on_entry(way)) {
		jump->goes_out = true;
		return true;
	}
	return false;
}

static bool try_way(struct code *code, struct indirect *jump, uint64_t budget, bool guess)
{
	uint64_t most = (uint64_t)code->total * TRACED_PER_BYTE + FREE_TRACED_BYTES;
	bool is_short = budget == SHORT_WAY_BYTES;
	struct way way;
	struct value target;

	if (code->traced_bytes > (most < MOST_TRACED_BYTES ? most : MOST_TRACED_BYTES) ||
	    !follow_way(code, jump, budget, &way))
		return false;
	target = trace_operand(&way.trace, &way.jump, 0);
	if (guess && !code_sweep(code))
		return false;
	if (target.kind == VALUE_ENTRY)
		return is_short ? read_bounded(code, jump, &way, &target, false)
				: resolve_entry(code, jump, &way, &target, guess);
	return !is_short && resolve_pointer(code, jump, &way, &target, guess);
}

/* A jump through the global offset table or a variable; or through the only entry of a table that
 * is left if the compiler knows the index. */
static void resolve_variable(struct code *code, struct indirect *jump, uint64_t where)
{
	const struct value pointer = { .entry_bytes = 8 };
	uint64_t target;
	uint32_t position = NOWHERE;

	if (read_entry(code, &pointer, where, &target))
		position = code_position(code, target);
	if (position == NOWHERE || !push_target(code, position)) {
		jump->goes_out = true;
		return;
	}
	/* The dynamic linker fills in this slot. The file contains the address from which it is
	 * resolved at the first call; all later calls leave the image. */
	jump->goes_out = hp_image_import(code->shared->image, where) != NULL;
	jump->first_target = (uint32_t)code->targets.count - 1;
	jump->target_count = 1;
	code_add_leader(code, position, jump->run, jump->at);
}

static bool has_target(const struct code *code, const struct indirect *jump, uint32_t position)
{
	for (uint32_t i = 0; i < jump->target_count; i++)
		if (code->targets.at[jump->first_target + i] == position)
			return true;
	return false;
}

/* Copies known targets to a list of the jump's own, since the list may be shared. */
static bool own_targets(struct code *code, struct indirect *jump)
{
	uint32_t first = (uint32_t)code->targets.count;

	for (uint32_t i = 0; i < jump->target_count; i++)
		if (!push_target(code, code->targets.at[jump->first_target + i]))
			return false;
	jump->first_target = first;
	return true;
}

/* Adds observed targets. If these are more than the code tells, the code does not tell all. */
static bool add_known(struct code *code, struct indirect *jump, bool is_resolved)
{
	const struct hp_known_jump *known;
	bool is_own = false;
	size_t count;

	image_jumps_from(code->shared, code_address(code, jump->at), &known, &count);
	if (count == 0 || count > MOST_ENTRIES)
		return is_resolved;
	jump->is_partial |= !is_resolved;
	for (size_t i = 0; i < count; i++) {
		uint32_t position = code_position(code, known[i].to.value);

		if (position == NOWHERE) {
			jump->goes_out = true;
			continue;
		}
		if (has_target(code, jump, position))
			continue;
		if ((!is_own && !own_targets(code, jump)) || !push_target(code, position))
			break;
		is_own = true;
		jump->is_partial = true;
		jump->target_count++;
	}
	return true;
}

static bool resolve(struct code *code, struct indirect *jump, bool guess)
{
	const struct code_part *part = code_part_of(code, jump->at);
	uint32_t offset = jump->at - part->base;
	struct hp_flow flow;

	if (code->shared->isa->flow(part->bytes + offset, part->size - offset,
				    part->address + offset, &flow) &&
	    flow.names_memory) {
		resolve_variable(code, jump, flow.target);
		return true;
	}
	return (!guess && try_way(code, jump, SHORT_WAY_BYTES, false)) ||
	       try_way(code, jump, LONG_WAY_BYTES, guess);
}

bool indirect_resolve(struct code *code, struct indirect *jump, bool guess)
{
	bool is_resolved = resolve(code, jump, guess);

	if (!is_resolved && !guess)
		return false;
	if (!add_known(code, jump, is_resolved))
		return false;
	for (uint32_t i = 0; i < jump->target_count; i++)
		code_add_leader(code, code->targets.at[jump->first_target + i], jump->run,
				jump->at);
	return true;
}
