/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An instruction as text, for views. Decoding into `struct insn` for analysis is not done here. */
#ifndef HPCPROF_ISA_TEXT_H
#define HPCPROF_ISA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* x86 only. */
enum hp_isa_syntax { HP_SYNTAX_INTEL, HP_SYNTAX_ATT };

/* Formats the instruction at `bytes`; `machine` is ELF's e_machine, `address` its link-time
 * address (branch targets come out absolute). Returns its length, 0 when the bytes do not decode
 * or the machine is not known; `text` (always terminated) is then "(bad)". */
size_t hp_isa_text(uint16_t machine, enum hp_isa_syntax syntax, const uint8_t *bytes, size_t size,
		   uint64_t address, char *text, size_t text_bytes);

/* Only the instruction's length, much faster; 0 as above, but on machines with fixed-length
 * instructions any bytes have that length. */
size_t hp_isa_length(uint16_t machine, const uint8_t *bytes, size_t size);

/* Where a direct jump or call goes; false for every other instruction. */
bool hp_isa_target(uint16_t machine, const uint8_t *bytes, size_t size, uint64_t address,
		   uint64_t *target);

/* A hash of an instruction's text (Intel syntax) that is the same in another build: for direct
 * jumps and calls of the mnemonic only; operands relative to the code only count as such. */
uint64_t hp_isa_text_hash(const char *text, bool has_target);
/* The mnemonic, and which operands are memory. */
uint64_t hp_isa_text_shape(const char *text);
/* Whether the instruction is padding. */
bool hp_isa_text_is_padding(const char *text);

/* The minimum distance of two instructions of this machine in bytes: how to continue after bytes
 * that do not decode. */
size_t hp_isa_step(uint16_t machine);

#endif
