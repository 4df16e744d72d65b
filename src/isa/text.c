/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/isa/text.h>

#include "aarch64_text.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>

/* Makes numbers look as in objdump: lower-case digits, no leading zeros. */
static bool init_formatter(ZydisFormatter *formatter, enum hp_isa_syntax syntax)
{
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} wanted[] = {
		{ ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE },
		{ ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED },
	};
	ZydisFormatterStyle style = syntax == HP_SYNTAX_ATT ? ZYDIS_FORMATTER_STYLE_ATT
							    : ZYDIS_FORMATTER_STYLE_INTEL;

	if (!ZYAN_SUCCESS(ZydisFormatterInit(formatter, style)))
		return false;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter, wanted[i].property,
							    wanted[i].value)))
			return false;
	return true;
}

static bool init_decoder(ZydisDecoder *decoder, uint16_t machine)
{
	if (machine == EM_X86_64)
		return ZYAN_SUCCESS(ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64,
						     ZYDIS_STACK_WIDTH_64));
	if (machine == EM_386)
		return ZYAN_SUCCESS(ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LEGACY_32,
						     ZYDIS_STACK_WIDTH_32));
	return false;
}

size_t hp_isa_length(uint16_t machine, const uint8_t *bytes, size_t size)
{
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;

	if (machine == EM_AARCH64)
		return aarch64_length(size);
	/* It leaves out what the length does not need. */
	if (!init_decoder(&decoder, machine) ||
	    !ZYAN_SUCCESS(
		    ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &instruction)))
		return 0;
	return instruction.length;
}

bool hp_isa_target(uint16_t machine, const uint8_t *bytes, size_t size, uint64_t address,
		   uint64_t *target)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;

	if (machine == EM_AARCH64)
		return aarch64_target(bytes, size, address, target);
	if (!init_decoder(&decoder, machine) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &instruction, operands)) ||
	    !instruction.operand_count_visible ||
	    operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !operands[0].imm.is_relative)
		return false;
	return ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &operands[0], address, target));
}

size_t hp_isa_step(uint16_t machine)
{
	switch (machine) {
	case EM_AARCH64:
	case EM_PPC64:
	case EM_MIPS:
	case EM_LOONGARCH:
		return 4;
	case EM_RISCV:
	case EM_S390:
	case EM_ARM:
		return 2;
	default:
		return 1;
	}
}

static size_t x86_text(uint16_t machine, enum hp_isa_syntax syntax, const uint8_t *bytes,
		       size_t size, uint64_t address, char *text, size_t text_bytes)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	ZydisFormatter formatter;
	ZydisDecoder decoder;

	if (!init_decoder(&decoder, machine) || !init_formatter(&formatter, syntax))
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
	size_t length = machine == EM_AARCH64
				? aarch64_text(bytes, size, address, text, text_bytes)
				: x86_text(machine, syntax, bytes, size, address, text, text_bytes);

	if (!length)
		snprintf(text, text_bytes, "(bad)");
	return length;
}
