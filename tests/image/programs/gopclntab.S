/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two functions without symbols and the table that Go would give them: -DMAGIC=, and -DHAS_START for
 * the layouts from 1.18 on. Nothing of it runs. */
	.text
	.globl _start
_start:
.Lone:
	.skip 16
.Ltwo:
	.skip 32
.Lend:
	.skip 16

	.section .gopclntab, "a"
	.balign 8
.Ltable:
	.long MAGIC
	.short 0
	.byte 1, 8
	.quad 2, 0
#ifdef HAS_START
	.quad .Lone
#endif
	.quad .Lnames - .Ltable, 0, 0, 0, .Lfunctions - .Ltable
.Lnames:
	.byte 0
.Lname_of_one:
	.asciz "main.one"
.Lname_of_two:
	.asciz "main.(*T).two"
	.balign 8
.Lfunctions:
#ifdef HAS_START
	.long 0, .Lmore_of_one - .Lfunctions
	.long .Ltwo - .Lone, .Lmore_of_two - .Lfunctions
	.long .Lend - .Lone
.Lmore_of_one:
	.long 0, .Lname_of_one - .Lnames
.Lmore_of_two:
	.long .Ltwo - .Lone, .Lname_of_two - .Lnames
#else
	.quad .Lone, .Lmore_of_one - .Lfunctions
	.quad .Ltwo, .Lmore_of_two - .Lfunctions
	.quad .Lend
.Lmore_of_one:
	.quad .Lone
	.long .Lname_of_one - .Lnames
.Lmore_of_two:
	.quad .Ltwo
	.long .Lname_of_two - .Lnames
#endif
	.long 0
