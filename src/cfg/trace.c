/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace.h"
#include "tuning.h"

#include <string.h>

static struct value fresh(struct trace *trace, enum value_origin origin)
{
	return (struct value){ .kind = VALUE_LINEAR,
			       .origin = (uint8_t)origin,
			       .unknown = ++trace->unknowns,
			       .scale = 1 };
}

static struct value constant(int64_t number)
{
	return (struct value){ .kind = VALUE_LINEAR, .offset = number };
}

static bool is_constant(const struct value *value)
{
	return value->kind == VALUE_LINEAR && value->unknown == 0;
}

/* Adds with wrap-around, like the machine. */
static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t times(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static struct value sum(struct trace *trace, struct value a, struct value b)
{
	if (is_constant(&a)) {
		b.offset = plus(b.offset, a.offset);
		return b;
	}
	if (is_constant(&b)) {
		a.offset = plus(a.offset, b.offset);
		return a;
	}
	if (a.kind == VALUE_LINEAR && b.kind == VALUE_LINEAR && a.unknown == b.unknown) {
		a.scale = plus(a.scale, b.scale);
		a.offset = plus(a.offset, b.offset);
		return a;
	}
	return fresh(trace, ORIGIN_INDEXED);
}

static struct value read_register(struct trace *trace, uint8_t number)
{
	return number < TRACE_REGISTERS ? trace->registers[number] : fresh(trace, ORIGIN_OTHER);
}

static void write_register(struct trace *trace, uint8_t number, struct value value)
{
	if (number < TRACE_REGISTERS)
		trace->registers[number] = value;
}

/* --- memory ----------------------------------------------------------------------------------- */

static struct slot *find_slot(struct trace *trace, uint32_t unknown, int64_t offset)
{
	unsigned used = trace->slot_count < TRACE_SLOTS ? trace->slot_count : TRACE_SLOTS;

	for (unsigned i = 0; i < used; i++)
		if (trace->slots[i].unknown == unknown && trace->slots[i].offset == offset)
			return &trace->slots[i];
	return NULL;
}

static void fill_slot(struct trace *trace, uint32_t unknown, int64_t offset, struct value value)
{
	struct slot *slot = find_slot(trace, unknown, offset);

	if (!slot)
		slot = &trace->slots[trace->slot_count++ % TRACE_SLOTS];
	*slot = (struct slot){ unknown, offset, value };
}

/* The value of a table's entry when it is itself compared or used as an index: an unknown, the same
 * for each use of that entry. */
static struct value as_linear(struct trace *trace, struct value value)
{
	uint32_t key = value.unknown | (uint32_t)1 << 31;
	const struct slot *slot;
	struct value found;

	if (value.kind != VALUE_ENTRY)
		return value;
	slot = find_slot(trace, key, (int64_t)value.table);
	if (slot) {
		found = slot->value;
	} else {
		found = fresh(trace, ORIGIN_INDEXED);
		fill_slot(trace, key, (int64_t)value.table, found);
	}
	found.offset = value.offset;
	return found;
}

static struct value product(struct trace *trace, struct value value, int64_t factor)
{
	if (factor == 1)
		return value;
	value = as_linear(trace, value);
	value.scale = times(value.scale, factor);
	value.offset = times(value.offset, factor);
	return value;
}

static struct value address_of(struct trace *trace, const struct hp_memory *memory)
{
	struct value address = constant(memory->displacement);

	if (memory->segment != HP_REGISTER_NONE)
		return fresh(trace, ORIGIN_OTHER);
	if (memory->base < HP_REGISTER_COUNT)
		address = sum(trace, address, read_register(trace, memory->base));
	if (memory->index < HP_REGISTER_COUNT)
		address = sum(trace, address,
			      product(trace, read_register(trace, memory->index), memory->scale));
	return address;
}

static bool is_place(const struct value *address)
{
	return address->kind == VALUE_LINEAR && (address->unknown == 0 || address->scale == 1);
}

static void store(struct trace *trace, struct value address, struct value value)
{
	if (is_place(&address))
		fill_slot(trace, address.unknown, address.offset, value);
}

/* An entry of a table is as wide as the scale of its index. */
static bool is_table_entry(const struct value *address, unsigned bytes)
{
	return address->kind == VALUE_LINEAR && address->unknown != 0 && bytes >= 4 &&
	       address->scale == (int64_t)bytes;
}

static struct value load(struct trace *trace, const struct hp_memory *memory, unsigned bytes)
{
	struct value address = address_of(trace, memory);
	struct value value;
	struct slot *slot;

	if (is_table_entry(&address, bytes))
		return (struct value){ .kind = VALUE_ENTRY,
				       .origin = ORIGIN_INDEXED,
				       .entry_bytes = (uint8_t)bytes,
				       .unknown = address.unknown,
				       .table = (uint64_t)address.offset,
				       .entry_scale = address.scale };
	if (!is_place(&address))
		return fresh(trace, ORIGIN_INDEXED);
	slot = find_slot(trace, address.unknown, address.offset);
	if (slot)
		return slot->value;
	value = fresh(trace, memory->index != HP_REGISTER_NONE ? ORIGIN_INDEXED : ORIGIN_LOADED);
	store(trace, address, value);
	return value;
}

/* --- operands --------------------------------------------------------------------------------- */

static void add_bound(struct trace *trace, struct bound bound)
{
	trace->bounds[trace->bound_count++ % TRACE_BOUNDS] = bound;
}

struct value trace_operand(struct trace *trace, const struct hp_insn *insn, size_t number)
{
	const struct hp_operand *operand = &insn->operands[number];

	if (number >= insn->operand_count)
		return fresh(trace, ORIGIN_OTHER);
	switch ((enum hp_operand_type)operand->type) {
	case HP_OPERAND_IMMEDIATE:
		return constant(operand->immediate);
	case HP_OPERAND_MEMORY:
		return load(trace, &insn->memories[operand->number], operand->bytes);
	case HP_OPERAND_REGISTER:
		if (operand->is_high_byte)
			break;
		return read_register(trace, operand->number);
	}
	return fresh(trace, ORIGIN_OTHER);
}

static void write_operand(struct trace *trace, const struct hp_insn *insn, struct value value)
{
	const struct hp_operand *operand = &insn->operands[0];

	if (operand->type == HP_OPERAND_MEMORY)
		store(trace, address_of(trace, &insn->memories[operand->number]), value);
	else if (operand->type == HP_OPERAND_REGISTER)
		write_register(trace, operand->number,
			       operand->is_high_byte ? fresh(trace, ORIGIN_OTHER) : value);
}

/* --- instructions ----------------------------------------------------------------------------- */

/* The registers that the instruction writes get new unknowns. */
static void forget_written(struct trace *trace, const struct hp_insn *insn)
{
	const struct hp_operand *operand = &insn->operands[0];

	for (unsigned i = 0; i < TRACE_REGISTERS; i++)
		if (hp_register_in(&insn->written, i) && i != trace->isa->stack_pointer)
			trace->registers[i] = fresh(trace, ORIGIN_OTHER);
	if (insn->operand_count && operand->type == HP_OPERAND_MEMORY &&
	    (operand->access & HP_ACCESS_WRITE))
		write_operand(trace, insn, fresh(trace, ORIGIN_OTHER));
	if (hp_register_in(&insn->written, trace->isa->stack_pointer) &&
	    insn->kind == HP_INSN_PLAIN)
		write_register(trace, trace->isa->stack_pointer, fresh(trace, ORIGIN_OTHER));
}

/* A small constant is the first value of a variable, which another way through the code may change.
 * Only addresses are kept. */
static struct value forget_small(struct trace *trace, struct value value)
{
	if (is_constant(&value) && value.offset > -SMALL_CONSTANT && value.offset < SMALL_CONSTANT)
		return fresh(trace, ORIGIN_OTHER);
	return value;
}

static void trace_move(struct trace *trace, const struct hp_insn *insn)
{
	const struct hp_operand *from = &insn->operands[1];
	struct value value = trace_operand(trace, insn, 1);

	if (value.kind == VALUE_ENTRY && insn->operation == HP_OPERATION_SIGN_EXTEND)
		value.entry_is_signed = true;
	/* A value widened from a byte is bounded even without a comparison. */
	if (from->bytes == 1 && insn->operands[0].bytes >= 4 && value.kind == VALUE_LINEAR &&
	    value.unknown && value.scale == 1)
		add_bound(trace, (struct bound){ .unknown = value.unknown,
						 .offset = value.offset,
						 .most = UINT8_MAX,
						 .is_natural = true });
	write_operand(trace, insn, forget_small(trace, value));
}

static void trace_compare(struct trace *trace, const struct hp_insn *insn)
{
	struct value left = as_linear(trace, trace_operand(trace, insn, 0));
	struct value right = trace_operand(trace, insn, 1);
	unsigned bytes = insn->operand_count ? insn->operands[0].bytes : 8;

	trace->has_compared = left.kind == VALUE_LINEAR && left.unknown && left.scale == 1 &&
			      is_constant(&right);
	trace->compared = left;
	/* A 32-bit value may wrap where 64 bits do not; what is close to zero stays close. */
	trace->compared_mask = bytes < 4 ? ((uint64_t)1 << 8 * bytes) - 1 : UINT64_MAX;
	trace->compared_with = (uint64_t)right.offset & trace->compared_mask;
}

static void trace_and(struct trace *trace, const struct hp_insn *insn)
{
	struct value mask = trace_operand(trace, insn, 1);
	struct value value = fresh(trace, ORIGIN_OTHER);

	if (is_constant(&mask) && mask.offset >= 0 && mask.offset < 4096)
		add_bound(trace, (struct bound){ .unknown = value.unknown,
						 .most = (uint64_t)mask.offset });
	write_operand(trace, insn, value);
}

static void move_stack(struct trace *trace, int64_t by)
{
	struct value *pointer = &trace->registers[trace->isa->stack_pointer];

	*pointer = sum(trace, *pointer, constant(by));
}

static void trace_stack(struct trace *trace, const struct hp_insn *insn)
{
	const struct hp_isa *isa = trace->isa;
	struct value *pointer = &trace->registers[isa->stack_pointer];
	struct value value;
	struct slot *slot;

	if (insn->operation == HP_OPERATION_PUSH) {
		value = trace_operand(trace, insn, 0);
		move_stack(trace, -isa->pointer_bytes);
		store(trace, *pointer, value);
		return;
	}
	if (insn->operation == HP_OPERATION_LEAVE)
		*pointer = trace->registers[isa->frame_pointer];
	slot = is_place(pointer) ? find_slot(trace, pointer->unknown, pointer->offset) : NULL;
	value = slot ? slot->value : fresh(trace, ORIGIN_LOADED);
	move_stack(trace, isa->pointer_bytes);
	if (insn->operation == HP_OPERATION_LEAVE)
		write_register(trace, isa->frame_pointer, value);
	else
		write_operand(trace, insn, value);
}

static void trace_arithmetic(struct trace *trace, const struct hp_insn *insn)
{
	struct value left = trace_operand(trace, insn, 0);
	struct value right = trace_operand(trace, insn, 1);

	switch ((unsigned)insn->operation) {
	case HP_OPERATION_ADD:
		write_operand(trace, insn, sum(trace, left, right));
		break;
	case HP_OPERATION_SUBTRACT:
		trace_compare(trace, insn);
		right = is_constant(&right) ? constant(times(right.offset, -1))
					    : fresh(trace, ORIGIN_OTHER);
		write_operand(trace, insn, sum(trace, left, right));
		return; /* its flags say something */
	case HP_OPERATION_SHIFT_LEFT:
		write_operand(trace, insn,
			      is_constant(&right) && right.offset >= 0 && right.offset < 8
				      ? product(trace, left, (int64_t)1 << right.offset)
				      : fresh(trace, ORIGIN_OTHER));
		break;
	default:
		return;
	}
	trace->has_compared = false;
}

/* The callee preserves the registers that the calling convention says. */
static void trace_call(struct trace *trace)
{
	for (unsigned i = 0; i < TRACE_REGISTERS; i++)
		if (hp_register_in(&trace->isa->call_clobbers, i))
			trace->registers[i] = fresh(trace, ORIGIN_OTHER);
	trace->has_compared = false;
}

static void trace_other(struct trace *trace, const struct hp_insn *insn)
{
	forget_written(trace, insn);
	if (insn->flags_written)
		trace->has_compared = false;
}

void trace_insn(struct trace *trace, const struct hp_insn *insn)
{
	bool narrow = insn->operand_count && insn->operands[0].bytes < 4 &&
		      insn->operands[0].type == HP_OPERAND_REGISTER &&
		      insn->operation != HP_OPERATION_COMPARE;

	if (insn->kind == HP_INSN_CALL || insn->kind == HP_INSN_CALL_INDIRECT) {
		trace_call(trace);
		return;
	}
	if (insn->is_zeroing) {
		trace_other(trace, insn);
		return;
	}
	if (narrow && insn->operation != HP_OPERATION_MOVE) {
		trace_other(trace, insn);
		return;
	}
	switch ((enum hp_operation)insn->operation) {
	case HP_OPERATION_MOVE:
	case HP_OPERATION_SIGN_EXTEND:
		trace_move(trace, insn);
		return;
	case HP_OPERATION_ADDRESS:
		write_operand(trace, insn, address_of(trace, &insn->memories[0]));
		return;
	case HP_OPERATION_ADD:
	case HP_OPERATION_SUBTRACT:
	case HP_OPERATION_SHIFT_LEFT:
		trace_arithmetic(trace, insn);
		return;
	case HP_OPERATION_AND:
		trace_and(trace, insn);
		trace->has_compared = false;
		return;
	case HP_OPERATION_COMPARE:
		trace_compare(trace, insn);
		return;
	case HP_OPERATION_PUSH:
	case HP_OPERATION_POP:
	case HP_OPERATION_LEAVE:
		trace_stack(trace, insn);
		return;
	case HP_OPERATION_OTHER:
	case HP_OPERATION_XOR:
	case HP_OPERATION_TEST:
		break;
	}
	trace_other(trace, insn);
}

/* The condition that holds if the branch goes the other way. */
static enum hp_condition opposite(enum hp_condition condition)
{
	static const uint8_t opposites[] = {
		[HP_CONDITION_NONE] = HP_CONDITION_NONE,
		[HP_CONDITION_EQUAL] = HP_CONDITION_NOT_EQUAL,
		[HP_CONDITION_NOT_EQUAL] = HP_CONDITION_EQUAL,
		[HP_CONDITION_BELOW] = HP_CONDITION_ABOVE_EQUAL,
		[HP_CONDITION_BELOW_EQUAL] = HP_CONDITION_ABOVE,
		[HP_CONDITION_ABOVE] = HP_CONDITION_BELOW_EQUAL,
		[HP_CONDITION_ABOVE_EQUAL] = HP_CONDITION_BELOW,
		[HP_CONDITION_LESS] = HP_CONDITION_GREATER_EQUAL,
		[HP_CONDITION_LESS_EQUAL] = HP_CONDITION_GREATER,
		[HP_CONDITION_GREATER] = HP_CONDITION_LESS_EQUAL,
		[HP_CONDITION_GREATER_EQUAL] = HP_CONDITION_LESS,
		[HP_CONDITION_OTHER] = HP_CONDITION_OTHER,
	};

	return condition <= HP_CONDITION_OTHER ? (enum hp_condition)opposites[condition]
					       : HP_CONDITION_OTHER;
}

void trace_branch(struct trace *trace, enum hp_condition condition, bool is_taken)
{
	struct bound bound = { .unknown = trace->compared.unknown,
			       .offset = trace->compared.offset,
			       .most = trace->compared_with };

	if (!trace->has_compared)
		return;
	switch ((unsigned)(is_taken ? condition : opposite(condition))) {
	case HP_CONDITION_BELOW:
	case HP_CONDITION_LESS:
		bound.most--;
		break;
	case HP_CONDITION_BELOW_EQUAL:
	case HP_CONDITION_LESS_EQUAL:
		break;
	case HP_CONDITION_ABOVE:
		bound.most++;
		__attribute__((fallthrough));
	case HP_CONDITION_ABOVE_EQUAL: /* not less than -n, unsigned: one of n values */
		bound.offset = plus(bound.offset, times((int64_t)bound.most, -1));
		bound.most = trace->compared_mask - bound.most;
		break;
	default:
		return;
	}
	if (bound.most <= UINT16_MAX)
		add_bound(trace, bound);
}

const struct bound *trace_bound(const struct trace *trace, uint32_t unknown)
{
	unsigned used = trace->bound_count < TRACE_BOUNDS ? trace->bound_count : TRACE_BOUNDS;
	const struct bound *natural = NULL;

	for (unsigned i = 1; i <= used; i++) {
		const struct bound *bound = &trace->bounds[(trace->bound_count - i) % TRACE_BOUNDS];

		if (bound->unknown != unknown)
			continue;
		if (!bound->is_natural)
			return bound;
		if (!natural)
			natural = bound;
	}
	return natural;
}

void trace_begin(struct trace *trace, const struct hp_isa *isa)
{
	memset(trace, 0, sizeof(*trace));
	trace->isa = isa;
	for (unsigned i = 0; i < TRACE_REGISTERS; i++)
		trace->registers[i] = fresh(trace, ORIGIN_UNSEEN);
	trace->stack = trace->registers[isa->stack_pointer].unknown;
}
