/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code made to mislead whoever reads it without running it, and a main that runs all of it, as
 * often as its first argument says (in tens of thousands). Each procedure's trick is told above it.
 */
	.text
	.intel_syntax noprefix

	.macro procedure name
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.endm

/* jumps into itself: eb ff is a jump to the ff, and ff c0 is inc eax */
procedure middle
	mov ecx, 30
1:	.byte 0xeb, 0xff, 0xc0
	dec ecx
	jne 1b
	ret
	.size middle, . - middle

/* a branch that is always taken, and behind it the beginning of a call that swallows real code */
procedure opaque
	mov ecx, 30
1:	xor eax, eax
	je 2f
	.byte 0xe8
2:	add eax, 1
	imul edx, eax, 3
	dec ecx
	jne 1b
	ret
	.size opaque, . - opaque

/* a table and a string in the middle of the code */
procedure data_in_text
	mov ecx, 30
1:	lea rdx, [rip + 4f]
	mov eax, ecx
	and eax, 3
	cmp eax, 3
	ja 3f
	movsxd rax, dword ptr [rdx + rax*4]
	add rax, rdx
	jmp rax
2:	.ascii "not code: \377\377\377\377\0"
	.p2align 2
4:	.long 5f - 4b, 6f - 4b, 7f - 4b, 8f - 4b
5:	inc esi
6:	inc esi
7:	inc esi
8:	dec ecx
	jne 1b
3:	ret
	.size data_in_text, . - data_in_text

/* jumps to an address that it computes from what its caller left in memory */
procedure lost
	push rbx
	mov ecx, 30
1:	mov rbx, [rip + where]
	xor rbx, [rip + key]
	lea rdx, [rbx + 2]
	sub rdx, 2
	mov rax, [rip + slots]
	mov [rax + 8], rdx
	jmp [rax + 8]
2:	ud2
	.globl lost_label
lost_label:
	dec ecx
	jne 1b
	pop rbx
	ret
	.size lost, . - lost

/* changes a constant of its own */
	.section .changing, "awx", @progbits
procedure patched
	mov ecx, 30
1:	add dword ptr [rip + 2f + 1], 1
2:	mov eax, 1
	dec ecx
	jne 1b
	ret
	.size patched, . - patched
	.text

/* a path that nothing takes leads to bytes that are no instruction */
procedure broken
	mov ecx, 30
1:	cmp ecx, 1000
	ja 2f
	dec ecx
	jne 1b
	ret
2:	.byte 0x06, 0x07, 0x0e
	.size broken, . - broken

/* three symbols over the same code */
	.globl outer, inner, tail
	.type outer, @function
	.type inner, @function
	.type tail, @function
	.p2align 4
outer:	mov ecx, 30
inner:	nop
1:	dec ecx
	jne 1b
tail:	nop
	ret
	.size outer, . - outer
	.size inner, . - inner
	.size tail, 1

/* no size at all, and a size that goes past everything */
	.globl zero, endless
	.type zero, @function
	.type endless, @function
	.p2align 4
zero:	mov ecx, 30
1:	dec ecx
	jne 1b
	ret
	.p2align 4
endless:
	mov ecx, 30
1:	dec ecx
	jne 1b
	ret
	.size endless, 0x7fffffffffff

procedure main
	push rbp
	push r12
	mov r12d, 1
	cmp edi, 2
	jb 1f
	mov rdi, [rsi + 8]
	call atoi
	mov r12d, eax
1:	imul r12d, r12d, 10000
2:	call middle
	call opaque
	call data_in_text
	call lost
	call patched
	call broken
	call outer
	call zero
	call endless
	dec r12d
	jne 2b
	xor eax, eax
	pop r12
	pop rbp
	ret
	.size main, . - main

	.data
	.p2align 3
key:	.quad 0x5555
where:	.quad 0
slots:	.quad slot_bytes
slot_bytes:
	.quad 0, 0
	.section .init_array, "aw"
	.quad fill
	.text
fill:
	lea rax, [rip + lost_label]
	xor rax, [rip + key]
	mov [rip + where], rax
	ret
	.section .note.GNU-stack, "", @progbits
