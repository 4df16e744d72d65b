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
	.text

# A byte compared with a number above 127, which the instruction holds as a negative one.
procedure wide_byte
	movzbl (%rdi), %eax
	cmp $0x81, %al
	ja 9f
	movzbl %al, %eax
	lea .Lwide(%rip), %rdx
	movslq (%rdx,%rax,4), %rax
	add %rdx, %rax
	jmp *%rax
1:	ret
2:	inc %eax
9:	ret
end wide_byte
	.section .rodata
	.p2align 2
.Lwide:
	.rept 129
	.long 1b - .Lwide
	.endr
	.long 2b - .Lwide
	.long 9b - .Lwide
	.text

# From -3 to -1, compared unsigned.
procedure below_zero
	cmp $-3, %edi
	jb 9f
	lea 3(%rdi), %esi
	lea .Lbelow(%rip), %rdx
	movslq (%rdx,%rsi,4), %rax
	add %rdx, %rax
	jmp *%rax
1:	inc %eax
2:	inc %eax
3:	inc %eax
9:	ret
end below_zero
	.section .rodata
	.p2align 2
.Lbelow:
	.long 1b - .Lbelow
	.long 2b - .Lbelow
	.long 3b - .Lbelow
	.long 9b - .Lbelow
	.text

# No guard: the table ends where the code names the next thing.
procedure unguarded
	lea .Lopen(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	jmp *%rax
1:	lea .Lnext(%rip), %rax
	ret
2:	xor %eax, %eax
	ret
end unguarded
	.section .rodata
	.p2align 2
.Lopen:
	.long 1b - .Lopen
	.long 2b - .Lopen
.Lnext:
	.long 1b - .Lopen + 7
	.text

# The first value of a variable is known, but not the only one.
procedure machine
	xor %ecx, %ecx
1:	cmp $1, %ecx
	ja 9f
	lea .Lmachine(%rip), %rdx
	movslq (%rdx,%rcx,4), %rax
	add %rdx, %rax
	jmp *%rax
2:	mov $1, %ecx
	jmp 1b
3:	mov %edi, %ecx
	jmp 1b
9:	ret
end machine
	.section .rodata
	.p2align 2
.Lmachine:
	.long 2b - .Lmachine
	.long 3b - .Lmachine
	.long 9b - .Lmachine
	.text
