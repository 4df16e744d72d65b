/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lengths and kinds of the instructions that compilers use most. Following code needs nothing
 * else of an instruction, and asks for many millions of them.
 */
#ifndef ISA_X86_64_COMMON_H
#define ISA_X86_64_COMMON_H

#include <hpcprof/isa/insn.h>

/* True when the bytes begin with such an instruction; then `flow` is what Zydis says of it
 * (tests/isa/test_common.c compares both). False: ask Zydis. */
bool x86_64_common_flow(const uint8_t *bytes, size_t size, uint64_t address, struct hp_flow *flow);

#endif
