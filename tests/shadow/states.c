/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states.h"

#include <check.h>
#include <cpuid.h>
#include <stdio.h>
#include <string.h>

/* Where things are in what XSAVE writes (Intel SDM 13.4). */
enum {
	X87_LAST = 6,	   /* opcode, instruction and operand of the last x87 instruction: */
	X87_LAST_END = 24, /* it really was elsewhere, and processors keep it as they like */
	XMM_REGISTERS = 160,
	XMM_END = 416,
	SOFTWARE = 464, /* the kernel's: which components there are */
	HEADER = 512,	/* which components are not as they were born */
	HEADER_END = 576,
};
static const uint64_t flags_compared = 0xcd5;

static unsigned long long *register_of(struct user_regs_struct *r, unsigned number)
{
	unsigned long long *const registers[16] = {
		&r->rax, &r->rcx, &r->rdx, &r->rbx, &r->rsp, &r->rbp, &r->rsi, &r->rdi,
		&r->r8,	 &r->r9,  &r->r10, &r->r11, &r->r12, &r->r13, &r->r14, &r->r15,
	};

	return registers[number];
}

unsigned long long *state_register(struct puppet_state *state, unsigned number)
{
	return register_of(&state->registers, number);
}

/* Those that the processor has, where it says they are. x87 stays as it was born: random words are
 * mostly no numbers. */
static void randomise_vectors(struct puppet_state *state, struct hp_random *random)
{
	/* Upper halves of ymm, masks, upper halves of zmm, the other zmm. */
	static const unsigned components[] = { 2, 5, 6, 7 };
	uint64_t present, used;

	for (size_t i = XMM_REGISTERS; i < XMM_END; i++)
		state->extended[i] = (uint8_t)hp_random_next(random);
	memcpy(&present, state->extended + SOFTWARE, sizeof(present));
	memcpy(&used, state->extended + HEADER, sizeof(used));
	used |= 2 & present;
	for (size_t i = 0; i < HP_ARRAY_COUNT(components); i++) {
		unsigned bytes, start, ecx, edx;

		if (!(present >> components[i] & 1))
			continue;
		__cpuid_count(0xd, components[i], bytes, start, ecx, edx);
		ck_assert_uint_le(start + bytes, state->extended_bytes);
		used |= (uint64_t)1 << components[i];
		for (unsigned j = 0; j < bytes; j++)
			state->extended[start + j] = (uint8_t)hp_random_next(random);
	}
	memcpy(state->extended + HEADER, &used, sizeof(used));
}

void state_randomise(struct puppet_state *state, const struct puppet *puppet,
		     struct hp_random *random)
{
	static const unsigned pointers[] = { 3, 5, 6, 7, 12, 13 };

	*state = *puppet->fresh;
	for (size_t i = 0; i < PUPPET_DATA_BYTES; i += sizeof(uint64_t)) {
		uint64_t word = hp_random_next(random);

		memcpy(state->data + i, &word, sizeof(word));
	}
	for (unsigned i = 0; i < 16; i++)
		*state_register(state, i) = hp_random_next(random);
	for (size_t i = 0; i < HP_ARRAY_COUNT(pointers); i++)
		*state_register(state, pointers[i]) =
			PUPPET_DATA + 0x4000 + hp_random_between(random, 0, 0x1000);
	state->registers.rsp = PUPPET_DATA + 0xc000 + 16 * hp_random_between(random, 0, 64);
	state->registers.rcx = hp_random_between(random, 0, 7);
	state->registers.eflags = 0x202 | (hp_random_next(random) & 0x8d5);
	randomise_vectors(state, random);
}

static const char *bytes_difference(const char *what, const uint8_t *left, const uint8_t *right,
				    size_t start, size_t end)
{
	static char sentence[128];

	for (size_t i = start; i < end; i++)
		if (left[i] != right[i]) {
			snprintf(sentence, sizeof(sentence), "%s at 0x%zx: %02x, %02x", what, i,
				 left[i], right[i]);
			return sentence;
		}
	return NULL;
}

const char *state_difference(const struct puppet_state *left, const struct puppet_state *right)
{
	static char sentence[128];
	struct user_regs_struct a = left->registers, b = right->registers;
	const char *found;

	for (unsigned i = 0; i < 16; i++)
		if (*register_of(&a, i) != *register_of(&b, i)) {
			snprintf(sentence, sizeof(sentence), "register %u: %llx, %llx", i,
				 *register_of(&a, i), *register_of(&b, i));
			return sentence;
		}
	if ((a.eflags ^ b.eflags) & flags_compared) {
		snprintf(sentence, sizeof(sentence), "flags: %llx, %llx", a.eflags, b.eflags);
		return sentence;
	}
	if (a.rip != b.rip) {
		snprintf(sentence, sizeof(sentence), "rip: %llx, %llx", a.rip, b.rip);
		return sentence;
	}
	found = bytes_difference("x87 control", left->extended, right->extended, 0, X87_LAST);
	if (!found)
		found = bytes_difference("vectors", left->extended, right->extended, X87_LAST_END,
					 SOFTWARE);
	if (!found)
		found = bytes_difference("wide vectors", left->extended, right->extended,
					 HEADER_END, left->extended_bytes);
	return found ? found
		     : bytes_difference("memory", left->data, right->data, 0, PUPPET_DATA_BYTES);
}
