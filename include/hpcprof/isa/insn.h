/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One decoded instruction, in a form that suits every ISA. The analysis reads nothing else of the
 * code.
 *
 * There are two depths: `flow` finds only length, kind and target, for millions of instructions;
 * `decode` also finds registers, flags, operands and memory accesses, including implicit ones.
 * Neither allocates, keeps state, or reads more than `size` bytes. Any bytes are accepted; both
 * return false for bytes that are not an instruction.
 *
 * Addresses are link-time addresses. Widths are bytes.
 */
#ifndef HPCPROF_ISA_INSN_H
#define HPCPROF_ISA_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hp_insn_kind {
	HP_INSN_PLAIN, /* continues with the next instruction */
	HP_INSN_CALL,
	HP_INSN_CALL_INDIRECT,
	HP_INSN_JUMP,
	HP_INSN_CONDITIONAL, /* conditional jump */
	HP_INSN_JUMP_INDIRECT,
	HP_INSN_RETURN,
	HP_INSN_TRAP, /* deliberately undefined, or a breakpoint: execution does not continue */
	HP_INSN_HALT, /* privileged stop */
	HP_INSN_SYSCALL,
};

/* What the cheap decode finds. */
struct hp_flow {
	uint64_t target; /* direct jumps and calls */
	uint8_t length;
	uint8_t kind;	   /* enum hp_insn_kind */
	bool is_padding;   /* no effect: nop, or padding of assemblers */
	bool names_memory; /* indirect jumps and calls: `target` is the address of the pointer */
};

/*
 * Registers, as numbers below 128: general ones at 0, vector ones (each as its widest form) at 32,
 * masks at 64, x87 and MMX at 80, the rest (segments, control and status words) from 96.
 */
enum {
	HP_REGISTER_GENERAL = 0,
	HP_REGISTER_VECTOR = 32,
	HP_REGISTER_MASK = 64,
	HP_REGISTER_X87 = 80,
	HP_REGISTER_SEGMENT = 96,
	HP_REGISTER_STATUS = 104,
	HP_REGISTER_CONTROL = 112,
	HP_REGISTER_COUNT = 128,
	HP_REGISTER_PC = 254, /* as a base: already added in, see `displacement` */
	HP_REGISTER_NONE = 255,
};

struct hp_register_set {
	uint64_t bits[2];
};

static inline bool hp_register_in(const struct hp_register_set *set, unsigned number)
{
	return number < HP_REGISTER_COUNT && (set->bits[number / 64] >> number % 64 & 1);
}

static inline void hp_register_add(struct hp_register_set *set, unsigned number)
{
	if (number < HP_REGISTER_COUNT)
		set->bits[number / 64] |= (uint64_t)1 << number % 64;
}

enum hp_flag {
	HP_FLAG_CARRY = 1 << 0,
	HP_FLAG_ZERO = 1 << 1,
	HP_FLAG_SIGN = 1 << 2,
	HP_FLAG_OVERFLOW = 1 << 3,
	HP_FLAG_PARITY = 1 << 4,
	HP_FLAG_ADJUST = 1 << 5,
	HP_FLAG_DIRECTION = 1 << 6,
	HP_FLAG_X87 = 1 << 7, /* the condition codes of x87, together */
};

/* The operations that the analysis understands; everything else is OTHER. */
enum hp_operation {
	HP_OPERATION_OTHER,
	HP_OPERATION_MOVE,	  /* same width, or zero-extending */
	HP_OPERATION_SIGN_EXTEND, /* moves and widens with the sign */
	HP_OPERATION_ADDRESS,	  /* computes an address without accessing it */
	HP_OPERATION_ADD,
	HP_OPERATION_SUBTRACT,
	HP_OPERATION_SHIFT_LEFT,
	HP_OPERATION_AND,
	HP_OPERATION_XOR,
	HP_OPERATION_COMPARE, /* subtracts for the flags alone */
	HP_OPERATION_TEST,    /* ands for the flags alone */
	HP_OPERATION_PUSH,
	HP_OPERATION_POP,
	HP_OPERATION_LEAVE, /* removes a frame: stack pointer from frame pointer, pop it */
};

enum hp_condition {
	HP_CONDITION_NONE,
	HP_CONDITION_EQUAL,
	HP_CONDITION_NOT_EQUAL,
	HP_CONDITION_BELOW, /* unsigned */
	HP_CONDITION_BELOW_EQUAL,
	HP_CONDITION_ABOVE,
	HP_CONDITION_ABOVE_EQUAL,
	HP_CONDITION_LESS, /* signed */
	HP_CONDITION_LESS_EQUAL,
	HP_CONDITION_GREATER,
	HP_CONDITION_GREATER_EQUAL,
	HP_CONDITION_OTHER, /* sign, parity, overflow, a counter … */
};

enum hp_operand_type { HP_OPERAND_REGISTER, HP_OPERAND_MEMORY, HP_OPERAND_IMMEDIATE };
enum hp_access { HP_ACCESS_READ = 1, HP_ACCESS_WRITE = 2 };

/* An explicit operand, destination first. */
struct hp_operand {
	uint8_t type;	   /* enum hp_operand_type */
	uint8_t access;	   /* enum hp_access, or both */
	uint8_t bytes;	   /* width; 255 for more */
	uint8_t number;	   /* of the register, or index into `memory` */
	bool is_high_byte; /* ah, bh, ch, dh */
	int64_t immediate; /* sign-extended where the ISA does so */
};

struct hp_memory {
	uint8_t base;	/* register, HP_REGISTER_PC or HP_REGISTER_NONE */
	uint8_t index;	/* register or HP_REGISTER_NONE */
	uint8_t scale;	/* 1, 2, 4, 8; 0 without index */
	uint8_t access; /* enum hp_access; 0 for address computations; a prefetch reads */
	uint16_t bytes;
	uint8_t segment;      /* register when it has a base of its own (fs, gs), else NONE */
	bool is_implicit;     /* the stack of push and call, the strings of movs … */
	int64_t displacement; /* with HP_REGISTER_PC: the link-time address itself */
};

enum { HP_INSN_OPERANDS = 4, HP_INSN_MEMORIES = 3 };

struct hp_insn {
	uint64_t address;
	uint64_t target; /* direct jumps and calls */
	uint8_t length;
	uint8_t kind;	   /* enum hp_insn_kind */
	uint8_t operation; /* enum hp_operation */
	uint8_t condition; /* enum hp_condition: of jumps, moves and sets */
	uint16_t mnemonic; /* machine-specific number; see hp_isa.mnemonic */
	uint8_t operand_count;
	uint8_t memory_count;
	uint8_t flags_read;    /* enum hp_flag */
	uint8_t flags_written; /* undefined ones too */
	bool is_padding;
	bool is_zeroing;		/* its result does not depend on the registers it names */
	bool is_locked;			/* atomic read-modify-write */
	bool is_repeated;		/* string operation with a repeat prefix */
	bool is_prefetch;		/* asks for a line, and waits for its page alone */
	struct hp_register_set read;	/* for 8- and 16-bit general writes also the old value */
	struct hp_register_set written; /* including implicit ones */
	struct hp_operand operands[HP_INSN_OPERANDS];
	struct hp_memory memories[HP_INSN_MEMORIES];
};

/* Whether one of its operands in memory is addressed with this register. */
static inline bool hp_insn_addresses_with(const struct hp_insn *insn, unsigned number)
{
	for (size_t i = 0; i < insn->memory_count; i++)
		if (insn->memories[i].base == number || insn->memories[i].index == number)
			return true;
	return false;
}

/* What an ISA provides. */
struct hp_isa {
	uint16_t machine; /* ELF e_machine */
	uint8_t pointer_bytes;
	uint8_t longest;       /* instruction, in bytes */
	uint8_t stack_pointer; /* register numbers */
	uint8_t frame_pointer;
	uint8_t return_address_bytes; /* that a call leaves on the stack */
	struct hp_register_set call_clobbers;
	bool (*flow)(const uint8_t *bytes, size_t size, uint64_t address, struct hp_flow *flow);
	bool (*decode)(const uint8_t *bytes, size_t size, uint64_t address, struct hp_insn *insn);
	/* Whether this instruction, with the bytes before it, asks the kernel to end the thread. */
	bool (*is_exit)(const uint8_t *before, size_t before_bytes);
	const char *(*mnemonic)(uint16_t mnemonic);
};

/* NULL for a machine that cannot be decoded. */
const struct hp_isa *hp_isa_of(uint16_t machine);

#endif
