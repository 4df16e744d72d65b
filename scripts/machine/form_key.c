/* SPDX-License-Identifier: GPL-2.0-or-later */
/* form_key: for each line of hexadecimal bytes on standard input, "MNEMONIC SHAPE" as the tables
 * know the instruction, or "-" when it does not decode. */
#include <hpcprof/base/number.h>
#include <hpcprof/isa/machine.h>

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	const struct hp_isa *isa = hp_isa_of(EM_X86_64);
	char line[128];

	while (fgets(line, sizeof(line), stdin)) {
		uint8_t bytes[32];
		struct hp_insn insn;
		unsigned value;
		size_t size = 0;

		while (size < HP_ARRAY_COUNT(bytes) && sscanf(line + 2 * size, "%2x", &value) == 1)
			bytes[size++] = (uint8_t)value;
		if (isa->decode(bytes, size, 0, &insn) && insn.length == size)
			printf("%s %04x\n", isa->mnemonic(insn.mnemonic), hp_insn_shape(&insn));
		else
			puts("-");
	}
	return 0;
}
