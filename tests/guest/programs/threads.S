/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two busy threads: the first runs 60,000,000 instructions in its loop, the one that it starts
 * 40,000,000, and 30 are outside of these; tests/guest/guest.test knows these numbers. With an
 * argument both run until they are killed.
 */
	.text

	.globl	_start
	.type	_start, %function
_start:
	ldr	x19, [sp]	/* the number of arguments */
	mov	x0, #0x0f00	/* address space, files and signals in common */
	movk	x0, #0x0035, lsl #16	/* a thread; its number there until it has ended */
	adr	x1, stack
	adr	x2, number
	mov	x3, #0
	mov	x4, x2
	mov	x8, #220	/* clone */
	svc	#0
	cbz	x0, 2f

	ldr	x0, =30000000
	bl	spin
	adr	x0, number
1:	ldr	w2, [x0]
	cbz	w2, 3f
	mov	x1, #0		/* FUTEX_WAIT */
	mov	x3, #0
	mov	x8, #98		/* futex */
	svc	#0
	adr	x0, number
	b	1b
3:	mov	x0, #0
	mov	x8, #94		/* exit_group */
	svc	#0

2:	ldr	x0, =20000000
	bl	spin
	mov	x0, #0
	mov	x8, #93		/* exit */
	svc	#0
	.size	_start, . - _start

	.type	spin, %function
spin:
	subs	x0, x0, #1
	b.ne	spin
	cmp	x19, #1
	b.ne	spin		/* 2^64 more */
	ret
	.size	spin, . - spin

	.data
	.balign	16
	.skip	256
stack:
number:	.quad	0
