/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs 100,000 rounds, each of them a call of sixty, thirty and ten, which take 600, 300 and 100
 * instructions: shares of samples that can be told beforehand, down to single instructions. With the
 * calls and the loop a round takes 1,009, a prime, so that no period locks onto it; all of it takes
 * 100,900,004. tests/guest/guest.test knows these numbers.
 */
	.text

	.globl	_start
	.type	_start, %function
_start:
	ldr	x19, =100000
1:	bl	sixty
	bl	thirty
	bl	ten
	nop
	nop
	nop
	nop
	subs	x19, x19, #1
	b.ne	1b
	mov	x0, #0
	mov	x8, #93		/* exit */
	svc	#0
	.size	_start, . - _start

	/* 1 + 74 * 8 + 6 + 1 = 600 */
	.type	sixty, %function
sixty:
	mov	x0, #74
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

	/* 1 + 49 * 6 + 4 + 1 = 300 */
	.type	thirty, %function
thirty:
	mov	x0, #49
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

	/* 1 + 49 * 2 + 1 = 100 */
	.type	ten, %function
ten:
	mov	x0, #49
1:	subs	x0, x0, #1
	b.ne	1b
	ret
	.size	ten, . - ten
