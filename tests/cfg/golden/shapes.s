# SPDX-License-Identifier: GPL-2.0-or-later
# Procedures whose graphs can be read off by eye. Built with -nostdlib -shared.
	.text
	.macro procedure name
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.endm
	.macro end name
	.size \name, . - \name
	.endm

# 0 branches to 1 or 2, both go on to 3.
procedure diamond
	test %edi, %edi
	je 1f
	inc %eax
	jmp 2f
1:	dec %eax
2:	ret
end diamond

# An inner loop (block 1) in an outer one (blocks 1 and 2).
procedure nest
	mov $10, %ecx
1:	mov $10, %edx
2:	dec %edx
	jne 2b
	dec %ecx
	jne 1b
	ret
end nest

# Entered at 1 or at 2, which go to each other.
procedure irreducible
	test %edi, %edi
	je 2f
1:	dec %edi
2:	dec %esi
	jne 1b
	ret
end irreducible

# Never left.
procedure forever
	xor %eax, %eax
1:	inc %eax
	test $1, %al
	je 1b
	dec %ecx
	jmp 1b
end forever

# A bounded table relative to itself, as GCC and Clang make with -fPIC.
procedure table
	cmp $2, %edi
	ja 9f
	mov %edi, %edi
	lea .Ltable(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	notrack jmp *%rax
1:	mov $1, %eax
	ret
2:	mov $2, %eax
	ret
3:	mov $3, %eax
9:	ret
end table
	.section .rodata
	.p2align 2
.Ltable:
	.long 1b - .Ltable
	.long 2b - .Ltable
	.long 3b - .Ltable
	# Not of the table: would be a fourth target.
	.long 9b - .Ltable
	.text

# Goes to whatever label the caller says: both addresses are in data.
procedure labels
	sub $8, %rsp
	lea .Llabels(%rip), %rcx
	jmp *(%rcx,%rdi,8)
1:	inc %eax
	add $8, %rsp
	ret
2:	dec %eax
	add $8, %rsp
	ret
end labels
	.section .data.rel.ro, "aw"
	.p2align 3
.Llabels:
	.quad 1b
	.quad 2b
	.text

# With no address anywhere the jump stays unresolved; what it may go to is an orphan.
procedure lost
	push %rbx
	mov %rdi, %rbx
	jmp *%rbx
	pop %rbx
	ret
end lost

# Only asks the kernel to end.
	.local finish
	.type finish, @function
finish:
	mov $60, %eax
	syscall
	.size finish, . - finish

# Comes back only when the condition holds, which is not after `finish`.
procedure careful
	test %edi, %edi
	jne 1f
	ret
1:	mov $1, %edi
	call finish
	.byte 0x0f, 0x0b
end careful

# Tail calls: direct, of an argument, and through a table of pointers in an object.
procedure tails
	cmp $1, %esi
	je 1f
	jb diamond
	mov 8(%rdi), %rax
	jmp *16(%rax)
1:	jmp *%rdi
end tails

# Jumps past a prefix: two instructions share bytes.
procedure shared_bytes
	cmpl $0, 8(%rdi)
	je 1f
	.byte 0xf0
1:	cmpxchg %ecx, (%rdi)
	ret
end shared_bytes

# What follows is no instruction.
procedure broken
	test %edi, %edi
	je 1f
	.byte 0x06
1:	ret
end broken

# Its other part is elsewhere and jumps back.
procedure split
	test %edi, %edi
	je split.cold
.Lsplit_back:
	inc %eax
	ret
end split
	.section .text.unlikely, "ax", @progbits
	.type split.cold, @function
split.cold:
	dec %eax
	jmp .Lsplit_back
	.size split.cold, . - split.cold
