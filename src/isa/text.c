/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/isa/text.h>

#include <Zydis/Zydis.h>
#include <elf.h>
#include <stdio.h>

static size_t x86_text(ZydisMachineMode mode, ZydisStackWidth width, enum hp_isa_syntax syntax,
		       const uint8_t *bytes, size_t size, uint64_t address, char *text,
		       size_t text_bytes)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	ZydisFormatter formatter;
	ZydisDecoder decoder;

	if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, mode, width)) ||
	    !ZYAN_SUCCESS(ZydisFormatterInit(&formatter, syntax == HP_SYNTAX_ATT
								 ? ZYDIS_FORMATTER_STYLE_ATT
								 : ZYDIS_FORMATTER_STYLE_INTEL)))
		return 0;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &instruction, operands)) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
							  instruction.operand_count_visible, text,
							  text_bytes, address, NULL)))
		return 0;
	return instruction.length;
}

size_t hp_isa_text(uint16_t machine, enum hp_isa_syntax syntax, const uint8_t *bytes, size_t size,
		   uint64_t address, char *text, size_t text_bytes)
{
	size_t length = 0;

	if (machine == EM_X86_64)
		length = x86_text(ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64, syntax, bytes,
				  size, address, text, text_bytes);
	else if (machine == EM_386)
		length = x86_text(ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32, syntax, bytes,
				  size, address, text, text_bytes);
	if (!length)
		snprintf(text, text_bytes, "(bad)");
	return length;
}
