# SPDX-License-Identifier: GPL-2.0-or-later
# A program whose executions can be told by reading it.
	.text
	.globl main
main:
	mov $100, %ecx
again:				# 100 times
	test $3, %cl
skips:				# 75 times of them
	jnz skipped
calls:				# 25 times
	call callee
skipped:
	dec %ecx
repeats:			# 99 times
	jnz again
	jmp last
	ud2
last:
	xor %eax, %eax
	ret
callee:
	mov $5, %edx
inner:				# 5 for each of 25 calls
	dec %edx
	jnz inner
	ret
	.section .note.GNU-stack,"",@progbits
