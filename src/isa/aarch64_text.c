/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "aarch64_text.h"

#include <hpcprof/base/library.h>

#include <capstone/capstone.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { WORD_BYTES = 4 };

static struct {
	typeof(&cs_open) open;
	typeof(&cs_disasm) disasm;
	typeof(&cs_free) free;
	typeof(&cs_close) close;
} capstone;

static void load_capstone(void)
{
	capstone.open = HP_LIBRARY_FUNCTION(CAPSTONE_LIBRARY, cs_open);
	capstone.disasm = HP_LIBRARY_FUNCTION(CAPSTONE_LIBRARY, cs_disasm);
	capstone.free = HP_LIBRARY_FUNCTION(CAPSTONE_LIBRARY, cs_free);
	capstone.close = HP_LIBRARY_FUNCTION(CAPSTONE_LIBRARY, cs_close);
}

static uint32_t word_of(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

size_t aarch64_length(size_t size)
{
	return size < WORD_BYTES ? 0 : WORD_BYTES;
}

/* Finds the target of a branch: a signed number of words from the branch (Arm Architecture
 * Reference Manual, C4.1 "Branches"). */
bool aarch64_target(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *target)
{
	static const struct {
		uint32_t mask;
		uint32_t value;
		uint8_t shift;
		uint8_t bits;
	} branches[] = {
		{ 0x7c000000, 0x14000000, 0, 26 }, /* B, BL */
		{ 0xff000000, 0x54000000, 5, 19 }, /* B.cond, BC.cond */
		{ 0x7e000000, 0x34000000, 5, 19 }, /* CBZ, CBNZ */
		{ 0x7e000000, 0x36000000, 5, 14 }, /* TBZ, TBNZ */
	};
	uint32_t word;

	if (size < WORD_BYTES)
		return false;
	word = word_of(bytes);
	for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
		uint64_t sign = 1ull << (branches[i].bits - 1);
		uint64_t words = word >> branches[i].shift & (2 * sign - 1);

		if ((word & branches[i].mask) != branches[i].value)
			continue;
		*target = address + ((words ^ sign) - sign) * WORD_BYTES;
		return true;
	}
	return false;
}

/* ADR and ADRP also name addresses. */
static bool names_address(const uint8_t *bytes, uint64_t address)
{
	uint64_t target;

	return aarch64_target(bytes, WORD_BYTES, address, &target) ||
	       (word_of(bytes) & 0x1f000000) == 0x10000000;
}

size_t aarch64_text(const uint8_t *bytes, size_t size, uint64_t address, char *text,
		    size_t text_bytes)
{
	static pthread_once_t loaded = PTHREAD_ONCE_INIT;
	cs_insn *instruction;
	csh handle;
	int written = -1;

	pthread_once(&loaded, load_capstone);
	if (size >= WORD_BYTES &&
	    !(capstone.open && capstone.disasm && capstone.free && capstone.close)) {
		snprintf(text, text_bytes, "(%s is missing)", CAPSTONE_LIBRARY);
		return WORD_BYTES;
	}
	if (size < WORD_BYTES || capstone.open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle))
		return 0;
	if (capstone.disasm(handle, bytes, WORD_BYTES, address, 1, &instruction) == 1) {
		const char *operands = instruction->op_str;
		const char *number = strrchr(operands, '#');

		/* Addresses are written without the sign of a constant. */
		if (number && names_address(bytes, address))
			written = snprintf(text, text_bytes, "%s %.*s%s", instruction->mnemonic,
					   (int)(number - operands), operands, number + 1);
		else
			written = snprintf(text, text_bytes, "%s%s%s", instruction->mnemonic,
					   *operands ? " " : "", operands);
		capstone.free(instruction, 1);
	}
	capstone.close(&handle);
	return written >= 0 && (size_t)written < text_bytes ? WORD_BYTES : 0;
}
