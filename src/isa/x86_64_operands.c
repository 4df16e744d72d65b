/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes registers, memory and the stack, as operands name them. */
#include "x86_64_step.h"

static const uint64_t red_zone_bytes = 128;
static const uint64_t frame_bytes = 4096; /* of the stack: spills of a frame are within this */

/* A general register by number; unknown for other numbers. */
static struct hp_partial step_register(const struct hp_state *state, unsigned number,
				       unsigned width)
{
	return number < HP_STATE_REGISTERS ? partial_cut(state->registers[number], width)
					   : partial_unknown(width);
}

void step_set_register(struct hp_state *state, unsigned number, unsigned width, unsigned from,
		       struct hp_partial value)
{
	uint64_t mask = partial_mask(width) << from;
	struct hp_partial *whole;

	if (number >= HP_STATE_REGISTERS)
		return;
	whole = &state->registers[number];
	if (width >= 32) {
		*whole = partial_cut(value, width);
		return;
	}
	whole->value = (whole->value & ~mask) | ((value.value << from) & mask);
	whole->known = (whole->known & ~mask) | ((value.known << from) & mask);
}

struct hp_partial step_address(const struct step *step, const struct hp_memory *memory)
{
	struct hp_partial sum = partial_of((uint64_t)memory->displacement);

	if (memory->base == HP_REGISTER_PC)
		sum = partial_add(sum, partial_of(step->shift), 0, 64);
	else if (memory->base != HP_REGISTER_NONE)
		sum = partial_add(sum, step_register(step->state, memory->base, 64), 0, 64);
	if (memory->index != HP_REGISTER_NONE)
		sum = partial_add(sum,
				  partial_multiply(step_register(step->state, memory->index, 64),
						   partial_of(memory->scale), 64),
				  0, 64);
	return sum;
}

/* False for an unknown address, such as that of thread-local memory. */
static bool address_of(const struct step *step, const struct hp_memory *memory, uint64_t *address)
{
	struct hp_partial sum = step_address(step, memory);

	*address = sum.value;
	return memory->segment == HP_REGISTER_NONE && partial_is_known(sum);
}

static bool is_near_stack(const struct hp_state *state, uint64_t address)
{
	struct hp_partial stack = state->registers[RSP];

	return partial_is_known(stack) &&
	       address - (stack.value - red_zone_bytes) < red_zone_bytes + frame_bytes;
}

/* A store to an unknown address: only what is near the stack pointer stays known. */
static void store_anywhere(struct hp_state *state)
{
	for (unsigned i = 0; i < HP_STATE_STORES; i++)
		if (!is_near_stack(state, state->stores[i].address))
			state->stores[i].bytes = 0;
}

/* Forgets `bytes` of memory at the address; they may be many. */
static void forget_at(struct hp_state *state, uint64_t address, uint64_t bytes)
{
	for (uint64_t done = 0; done < bytes; done += 8)
		state->stores[state->store_count++ % HP_STATE_STORES] = (struct hp_stored){
			.address = address + done,
			.bytes = (uint8_t)(bytes - done < 8 ? bytes - done : 8),
		};
}

static void store_at(struct hp_state *state, uint64_t address, unsigned bytes,
		     struct hp_partial value)
{
	state->stores[state->store_count++ % HP_STATE_STORES] =
		(struct hp_stored){ address, value, (uint8_t)bytes };
}

static struct hp_partial load_elsewhere(const struct step *step, uint64_t address, unsigned bytes)
{
	const struct hp_step_memory *memory = step->memory;
	uint8_t held[8] = { 0 };
	uint64_t value = 0;

	/* When the list of stores is full, any memory may have changed. */
	if (!memory || !memory->read(memory->context, address, bytes,
				     step->state->store_count > HP_STATE_STORES, held))
		return partial_unknown(bytes * 8);
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)held[i] << 8 * i;
	return partial_of(value);
}

struct hp_partial step_load(const struct step *step, uint64_t address, unsigned bytes)
{
	const struct hp_state *state = step->state;
	unsigned count = state->store_count < HP_STATE_STORES ? state->store_count
							      : HP_STATE_STORES;

	for (unsigned back = 1; back <= count; back++) {
		const struct hp_stored *stored =
			&state->stores[(state->store_count - back) % HP_STATE_STORES];
		uint64_t into = address - stored->address;

		if (stored->bytes == 0)
			continue;
		if (into < stored->bytes && into + bytes <= stored->bytes)
			return partial_cut(partial_shift_right(stored->value, (unsigned)into * 8),
					   bytes * 8);
		if (into < stored->bytes || stored->address - address < bytes)
			return partial_unknown(bytes * 8);
	}
	return load_elsewhere(step, address, bytes);
}

unsigned step_width(const struct step *step, unsigned number)
{
	return step->insn->operands[number].bytes * 8u;
}

struct hp_partial step_get(const struct step *step, unsigned number)
{
	const struct hp_operand *operand = &step->insn->operands[number];
	unsigned width = step_width(step, number);
	uint64_t address;

	switch ((enum hp_operand_type)operand->type) {
	case HP_OPERAND_REGISTER:
		if (operand->is_high_byte)
			return partial_cut(
				partial_shift_right(step_register(step->state, operand->number, 16),
						    8),
				8);
		return step_register(step->state, operand->number, width);
	case HP_OPERAND_MEMORY:
		if (!address_of(step, &step->insn->memories[operand->number], &address))
			return partial_unknown(width);
		return step_load(step, address, operand->bytes);
	case HP_OPERAND_IMMEDIATE:
		return partial_of((uint64_t)operand->immediate);
	}
	return partial_unknown(width);
}

void step_put(const struct step *step, unsigned number, struct hp_partial value)
{
	const struct hp_operand *operand = &step->insn->operands[number];
	uint64_t address;

	if (operand->type == HP_OPERAND_REGISTER) {
		step_set_register(step->state, operand->number, step_width(step, number),
				  operand->is_high_byte ? 8 : 0, value);
	} else if (operand->type == HP_OPERAND_MEMORY) {
		const struct hp_memory *memory = &step->insn->memories[operand->number];

		if (address_of(step, memory, &address))
			store_at(step->state, address, operand->bytes, value);
		else if (memory->segment == HP_REGISTER_NONE)
			store_anywhere(step->state);
	}
}

void step_push(const struct step *step, unsigned bytes, struct hp_partial value)
{
	struct hp_state *state = step->state;
	struct hp_partial *stack = &state->registers[RSP];

	*stack = partial_subtract(*stack, partial_of(bytes), 0, 64);
	if (partial_is_known(*stack))
		store_at(state, stack->value, bytes, value);
}

struct hp_partial step_pop(const struct step *step, unsigned bytes)
{
	struct hp_partial *stack = &step->state->registers[RSP];
	struct hp_partial value = partial_is_known(*stack) ? step_load(step, stack->value, bytes)
							   : partial_unknown(bytes * 8);

	*stack = partial_add(*stack, partial_of(bytes), 0, 64);
	return value;
}

void step_forget(const struct step *step)
{
	const struct hp_insn *insn = step->insn;
	struct hp_state *state = step->state;

	for (unsigned i = 0; i < insn->memory_count; i++) {
		const struct hp_memory *memory = &insn->memories[i];
		uint64_t address;

		if (!(memory->access & HP_ACCESS_WRITE) || memory->segment != HP_REGISTER_NONE)
			continue;
		/* Vector registers store more than is kept, and strings have an unknown length. */
		if (!insn->is_repeated && !memory->is_implicit && memory->bytes <= 64 &&
		    address_of(step, memory, &address))
			forget_at(state, address, memory->bytes ? memory->bytes : 64);
		else
			store_anywhere(state);
	}
	for (unsigned i = 0; i < HP_STATE_REGISTERS; i++)
		if (hp_register_in(&insn->written, i))
			state->registers[i] = (struct hp_partial){ 0, 0 };
	flags_forget(state, insn->flags_written);
}
