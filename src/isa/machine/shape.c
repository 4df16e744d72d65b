/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the shape of an instruction: the kinds of its operands, without their values. */
#include <hpcprof/isa/machine.h>

enum shape {
	SHAPE_NONE,
	SHAPE_BYTE, /* general registers */
	SHAPE_WORD,
	SHAPE_DOUBLE,
	SHAPE_QUAD,
	SHAPE_X87, /* also MMX */
	SHAPE_VECTOR_16,
	SHAPE_VECTOR_32,
	SHAPE_VECTOR_64,
	SHAPE_MASK,
	SHAPE_SPECIAL, /* segments, control registers … */
	SHAPE_IMMEDIATE,
	SHAPE_MEMORY_8, /* up to 8 bytes */
	SHAPE_MEMORY_16,
	SHAPE_MEMORY_32,
	SHAPE_MEMORY_64, /* or more */
};

static enum shape by_width(unsigned bytes, unsigned smallest, unsigned first)
{
	unsigned step = 0;

	while (step < 3 && bytes > smallest << step)
		step++;
	return (enum shape)(first + step);
}

static enum shape shape_of(const struct hp_operand *operand)
{
	switch (operand->type) {
	case HP_OPERAND_IMMEDIATE:
		return SHAPE_IMMEDIATE;
	case HP_OPERAND_MEMORY:
		return by_width(operand->bytes, 8, SHAPE_MEMORY_8);
	default:
		break;
	}
	if (operand->number < HP_REGISTER_VECTOR)
		return by_width(operand->bytes, 1, SHAPE_BYTE);
	if (operand->number < HP_REGISTER_MASK)
		return by_width(operand->bytes < 64 ? operand->bytes : 64, 16, SHAPE_VECTOR_16);
	if (operand->number < HP_REGISTER_X87)
		return SHAPE_MASK;
	return operand->number < HP_REGISTER_SEGMENT ? SHAPE_X87 : SHAPE_SPECIAL;
}

/* An address that is slow to compute has a shape of its own, whatever its width. */
static enum shape address_shape(const struct hp_memory *memory)
{
	bool has_index = memory->index != HP_REGISTER_NONE;
	bool has_base = memory->base != HP_REGISTER_NONE;
	bool is_scaled = has_index && memory->scale > 1;
	bool has_three = has_index && has_base && memory->displacement != 0;

	if (memory->base == HP_REGISTER_PC)
		return SHAPE_MEMORY_64;
	if (is_scaled && has_three)
		return SHAPE_SPECIAL;
	if (is_scaled)
		return SHAPE_MEMORY_32;
	return has_three ? SHAPE_MEMORY_16 : SHAPE_MEMORY_8;
}

uint16_t hp_insn_shape(const struct hp_insn *insn)
{
	unsigned shape = 0;

	if (insn->operation == HP_OPERATION_ADDRESS && insn->operand_count == 2 &&
	    insn->memory_count == 1)
		return (uint16_t)(shape_of(&insn->operands[0]) << 12 |
				  address_shape(&insn->memories[0]) << 8);
	for (size_t i = 0; i < HP_INSN_OPERANDS; i++)
		shape = shape << 4 |
			(i < insn->operand_count ? shape_of(&insn->operands[i]) : SHAPE_NONE);
	return (uint16_t)shape;
}
