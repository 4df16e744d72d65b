/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures as assemblers of codecs write them: no sizes, no unwind data, and few symbols for linking. */
	.text
	.balign 16
	.globl visible
visible:
	dec %eax
	ret

	.balign 16
hidden:
	test %edi, %edi
	jz 1f
	ret
	.balign 16, 0x90
1:	ret

	.balign 16, 0xcc
loops:	jmp 2f
1:	nop
2:	dec %edi
	jnz 1b
	jmp tail

	.zero 8192, 0x90
	.balign 16
tail:	dec %eax
	ret
	.balign 16

	.section .note.GNU-stack, "", %progbits
