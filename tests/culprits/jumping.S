/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that jumps: one block a cache line, each to a line far away, through all of them (a linear
 * congruential order has the full period), as many times as there are rounds.
 */
	.text

	.macro jumper name, lines
	.globl \name
	.type \name, @function
	.balign 64
\name:
	movq (%rdi), %rcx		/* rounds */
	xorl %eax, %eax
	testq %rcx, %rcx
	jz 9f
	jmp .Llines_\name
9:	ret
	.balign 64
.Llines_\name:
	.set i, 0
	.rept \lines
	.if i == 0
	subq $1, %rcx
	jb 9b
	.else
	addq %rcx, %rax
	.endif
	xorq $i, %rax
	jmp .Llines_\name + 64 * ((i * 20501 + 4099) & (\lines - 1))
	.balign 64
	.set i, i + 1
	.endr
	.size \name, . - \name
	.endm

	jumper jumping, 65536		/* 4 MiB */
	jumper jumping_little, 64	/* 4 KiB */

	.section .note.GNU-stack, "", @progbits
