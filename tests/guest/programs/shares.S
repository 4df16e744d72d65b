/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs 100 rounds, each of them a call of sixty, thirty and ten, which take 600,000, 300,000 and
 * 100,000 instructions: shares of samples that can be told beforehand, down to single instructions.
 *
 * CPI is 1 here, which makes loops more regular than on any real machine: samples at equal distances
 * would meet the same part of a short round over and over. So a round is a hundred times longer than
 * the distances in the tests, and with the calls and the loop it takes 1,000,033 instructions, a
 * prime, so that the next round is met elsewhere. All of it takes 100,003,304: tests/guest/guest.test
 * knows these numbers.
 */
	.text

	.globl	_start
	.type	_start, %function
_start:
	mov	x19, #100
1:	bl	sixty
	bl	thirty
	bl	ten
	.rept	28
	nop
	.endr
	subs	x19, x19, #1
	b.ne	1b
	mov	x0, #0
	mov	x8, #93		/* exit */
	svc	#0
	.size	_start, . - _start

	/* 1 + 74,999 * 8 + 6 + 1 = 600,000 */
	.type	sixty, %function
sixty:
	ldr	x0, =74999
1:	nop
	nop
	nop
	nop
	nop
	nop
	subs	x0, x0, #1
	b.ne	1b
	nop
	nop
	nop
	nop
	nop
	nop
	ret
	.size	sixty, . - sixty

	/* 1 + 49,999 * 6 + 4 + 1 = 300,000 */
	.type	thirty, %function
thirty:
	mov	x0, #49999
1:	add	x1, x1, #1
	add	x2, x2, #1
	add	x3, x3, #1
	add	x4, x4, #1
	subs	x0, x0, #1
	b.ne	1b
	nop
	nop
	nop
	nop
	ret
	.size	thirty, . - thirty

	/* 1 + 49,999 * 2 + 1 = 100,000 */
	.type	ten, %function
ten:
	mov	x0, #49999
1:	subs	x0, x0, #1
	b.ne	1b
	ret
	.size	ten, . - ten
