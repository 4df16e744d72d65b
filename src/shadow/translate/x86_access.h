/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of the decoder: which memory an instruction accesses, according to Zydis's operands. */
#ifndef SHADOW_TRANSLATE_X86_ACCESS_H
#define SHADOW_TRANSLATE_X86_ACCESS_H

#include "x86_decode.h"

#include <Zydis/Zydis.h>

/* Sets accesses, access_count, has_other_accesses and uses_gs. */
void x86_decode_accesses(const ZydisDecodedInstruction *raw, const ZydisDecodedOperand *operands,
			 struct x86_insn *insn);

#endif
