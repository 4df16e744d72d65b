/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instruction forms, each in a slot of 128 bytes that ends in traps, to be run at PUPPET_CODE: what
 * is relative to the instruction pointer reaches PUPPET_DATA, 1 MiB further on.
 *
 * On entry rbx, rbp, rsi, rdi, r12 and r13 point into the data, rsp too; rcx is a small number; the
 * rest, flags included, is random.
 */
	.section .rodata.forms, "a"
	.set data, forms + 0x100000
	.macro form name:req
	.pushsection .rodata.form_names, "aMS", @progbits, 1
900:	.asciz "\name"
	.popsection
	.pushsection .data.rel.ro.forms, "aw"
	.quad 900b
	.popsection
	.balign 128, 0xcc
	.endm

	.globl forms, forms_end, form_names, form_names_end
	.pushsection .data.rel.ro.forms, "aw"
	.balign 8
form_names:
	.popsection
	.balign 128
forms:

/* --- registers and flags ------------------------------------------------------------------------ */
	form "add reg"
	add %rax, %rdx
	form "adc reg"
	adc %r8, %rdx
	form "sbb memory"
	sbb %rax, 8(%rbx)
	form "inc keeps carry"
	inc %r9
	form "cmov"
	cmovg %r10, %r11
	form "setcc high byte"
	setb %ah
	form "mov high bytes"
	mov %ah, %bh
	mov %dh, %cl
	form "add high byte from memory"
	add 3(%rsi), %ch
	form "pushf, popf"
	pushf
	pop %rax
	push %rax
	popf
	form "lahf, sahf"
	lahf
	sahf
	form "std, cld"
	std
	cld
	form "stc, clc, cmc"
	stc
	cmc
	form "mul, imul"
	mul %r8
	imul %r9, %r10
	form "shift by cl"
	shl %cl, %rax
	sar %cl, %rdx
	rcl %cl, %r8
	form "double shift"
	shld $5, %rax, %rdx
	form "bit scans and tests"
	bsf %rax, %rdx
	btc %r8, %r9
	form "bit scans of nothing"
	xor %eax, %eax
	bsf %eax, %edx
	bsr %rax, %r8
	form "bmi"
	andn %rax, %rdx, %r8
	rorx $7, %rax, %r9
	pext %rax, %rdx, %r10
	tzcnt %rax, %r11
	form "popcnt"
	popcnt %rax, %rdx
	form "cmpxchg16b"
	lea data+0x100(%rip), %rsi
	lock cmpxchg16b (%rsi)
	form "xadd locked"
	lock xadd %rax, 16(%rbx)
	form "xchg high byte"
	xchg %ah, (%rdi)
	form "movbe"
	movbe (%rsi), %rax
	form "crc32"
	crc32q %rax, %rdx
	form "divide"
	xor %edx, %edx
	mov $3, %r8d
	div %r8
	form "divide by zero"
	xor %r8d, %r8d
	div %r8
	form "enter, leave"
	enter $32, $0
	leave
	form "push, pop memory"
	pushq 8(%rbx)
	popq 16(%rbx)
	form "push immediates, 16 bits"
	push $-3
	pushw $77
	form "pop to where rsp points"
	popq 8(%rsp)
	form "xlat"
	lea data(%rip), %rbx
	xlatb
	form "prefetch, nops, endbr"
	endbr64
	prefetcht0 data(%rip)
	nopl 0(%rax,%rax,1)
	pause
	form "read the time of another clock"
	rdtscp
	form "random"
	rdrand %rax
	form "what cpu"
	rdpid %rax
	form "what kind of cpu"
	xor %eax, %eax
	xor %ecx, %ecx
	cpuid

/* --- relative to the instruction pointer ---------------------------------------------------------- */
	form "load relative"
	mov data+8(%rip), %rax
	form "load relative, all of the low registers used around"
	mov data+16(%rip), %rsi
	mov data+24(%rip), %edi
	mov data+32(%rip), %r9
	form "store relative with immediate"
	movl $0x12345678, data+40(%rip)
	movb $7, data+44(%rip)
	form "add to relative"
	addq $5, data+48(%rip)
	add %r8, data+56(%rip)
	form "compare relative"
	cmpl $3, data+60(%rip)
	form "lea relative, 64, 32, 16 bits"
	lea data+3(%rip), %r12
	lea data+3(%rip), %edx
	lea data+3(%rip), %r8w
	form "relative with 32-bit addresses"
	lea data+3(%eip), %rax
	form "relative high byte"
	add %ah, data+64(%rip)
	mov data+65(%rip), %bh
	form "relative push, pop"
	pushq data+72(%rip)
	popq data+80(%rip)
	form "relative cmpxchg8b, cmpxchg16b"
	lock cmpxchg8b data+88(%rip)
	lock cmpxchg16b data+96(%rip)
	form "relative cmpxchg"
	lock cmpxchg %r9, data+112(%rip)
	form "relative with ignored extension"
	.byte 0x49, 0x8b, 0x05	/* rex.WB mov rax, [rip + ...] */
	.long data + 120 - . - 4
	form "relative sse"
	movdqu data+128(%rip), %xmm3
	paddd data+144(%rip), %xmm4
	form "relative avx, 3-byte prefix with extension"
	vpaddd data+160(%rip), %ymm12, %ymm13
	.byte 0xc4, 0xc1, 0x7e, 0x6f, 0x05 /* vmovdqu ymm0, [rip + ...], base extended */
	.long data + 192 - . - 4
	form "relative fma and gather-free permutes"
	vfmadd231pd data+224(%rip), %ymm1, %ymm2
	vpermilps $27, data+256(%rip), %ymm3
	form "relative avx-512"
	vmovdqu64 data+0x200(%rip), %zmm17
	vpaddd data+0x240(%rip), %zmm17, %zmm30{%k1}
	vpaddd data+0x280(%rip){1to16}, %zmm1, %zmm2
	form "relative x87"
	fldl data+0x40(%rip)
	fldt data+0x48(%rip)
	fstpl data+0x60(%rip)
	fstpl data+0x68(%rip)
	form "relative bit test"
	btsl $3, data+0x70(%rip)
	form "relative in fs"
	mov %fs:0, %rax
	form "imul relative with immediate"
	imul $1000, data+0x78(%rip), %rdx
	form "movzx, movsx relative"
	movzbl data+0x80(%rip), %eax
	movslq data+0x84(%rip), %rdx
	form "shift relative by immediate and cl"
	shlq $3, data+0x88(%rip)
	shlq %cl, data+0x90(%rip)
	form "3dnow-style suffixes: pclmul relative"
	pclmulqdq $0x11, data+0xa0(%rip), %xmm1

/* --- strings ------------------------------------------------------------------------------------ */
	form "rep movsb"
	rep movsb
	form "rep movsq"
	rep movsq
	form "rep stosl"
	rep stosl
	form "repe cmpsb"
	repe cmpsb
	form "repne scasb"
	repne scasb
	form "lodsw"
	lodsw
	form "movsb, backward"
	std
	movsb
	form "rep with 32-bit count"
	rep movsb (%esi), (%edi)

/* --- vectors, x87 --------------------------------------------------------------------------------- */
	form "sse"
	pxor %xmm1, %xmm2
	cvtsi2sd %rax, %xmm3
	ucomisd %xmm3, %xmm1
	form "ptest"
	ptest %xmm1, %xmm2
	form "pcmpistri"
	pcmpistri $0, %xmm1, %xmm2
	form "avx"
	vaddps %ymm1, %ymm2, %ymm3
	vzeroupper
	form "gather"
	vpcmpeqd %ymm1, %ymm1, %ymm1
	vpxor %ymm2, %ymm2, %ymm2
	vpgatherdd %ymm1, (%rbx,%ymm2,4), %ymm3
	form "avx-512 masks"
	kmovw %eax, %k1
	vmovdqu32 %zmm3, (%rbx){%k1}
	vpcmpd $1, %zmm1, %zmm2, %k2
	kortestw %k1, %k2
	form "x87"
	fld1
	fldpi
	faddp
	fcomi
	fstp %st(0)
	form "mmx"
	movq (%rbx), %mm1
	paddb %mm1, %mm2
	form "aes"
	aesenc %xmm1, %xmm2
	form "stmxcsr, ldmxcsr"
	stmxcsr 8(%rbx)
	ldmxcsr 8(%rbx)
	form "maskmovdqu"
	maskmovdqu %xmm1, %xmm2
	form "non-temporal store"
	movnti %rax, (%rbx)

/* --- branches ----------------------------------------------------------------------------------- */
	form "jmp short"
	jmp 1f
	int3
1:	nop
	form "jmp long backward"
	jmp 2f
1:	mov $1, %eax
	int3
	.fill 40, 1, 0xcc
2:	{disp32} jmp 1b
	.macro jump_both condition
	form "j\condition forward, backward"
	j\condition 2f
1:	inc %r8
	int3
2:	add $3, %r9
	j\condition 1b
	.endm
	.irp condition, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	jump_both \condition
	.endr
	form "jcc long"
	{disp32} jc 1f
	int3
	.fill 20, 1, 0x90
1:	nop
	form "jcc with a hint"
	.byte 0x3e
	jz 1f
	mov $9, %r8d
1:	nop
	form "loop"
	mov $5, %ecx
1:	add $3, %rax
	loop 1b
	form "loop once around the whole range"
	xor %ecx, %ecx
	dec %rcx
	loop 1f
	int3
1:	nop
	form "loope"
	add $2, %rcx
1:	cmp %al, (%rbx)
	loope 1b
	form "loopne"
	add $2, %rcx
1:	cmp %al, (%rbx)
	loopne 1b
	form "loop on ecx"
	mov $3, %rcx
	bts $40, %rcx
1:	inc %rdx
	.byte 0x67
	loop 1b
	form "jrcxz"
	jrcxz 1f
	mov $1, %edx
1:	nop
	form "jecxz"
	bts $40, %rcx
	jecxz 1f
	mov $1, %edx
1:	nop
	form "a counted loop, flags kept"
	mov $200, %r8d
1:	lea 1(%r9), %r9
	dec %r8
	jnz 1b
	form "flags across a jump"
	cmp %rax, %rdx
	jmp 1f
	int3
1:	setg %r8b
	adc $0, %r9
	form "flags across a branch not taken and taken"
	cmp %rax, %rdx
	jb 1f
	cmova %rax, %r8
	pushf
	int3
1:	cmovo %rax, %r9
	pushf
	form "call, ret"
	call 1f
	inc %rax
	int3
1:	mov (%rsp), %rdx
	ret
	form "call with the linker's prefixes"
	.byte 0x66, 0x66, 0x48
	call 1f
	inc %rax
	int3
1:	ret
	form "ret with a number"
	push $1
	push $2
	call 1f
	inc %rax
	int3
1:	ret $16
	form "rep ret"
	call 1f
	inc %rax
	int3
1:	rep ret
	form "call, pop: where am I"
	call 1f
1:	pop %rax
	form "red zone"
	mov %rax, -8(%rsp)
	mov %rdx, -128(%rsp)
	call 1f
	int3
1:	lea 8(%rsp), %rsp
	mov -128(%rsp), %r8
	form "jmp register"
	lea 1f(%rip), %rax
	jmp *%rax
	int3
1:	nop
	form "jmp r11, notrack"
	lea 1f(%rip), %r11
	notrack jmp *%r11
	int3
1:	endbr64
	form "jmp rcx"
	lea 1f(%rip), %rcx
	jmp *%rcx
	int3
1:	nop
	form "call rsp-relative memory"
	lea 1f(%rip), %rax
	push %rax
	call *(%rsp)
	int3
1:	pop %rdx
	form "call memory, scaled index, extended registers"
	lea 1f(%rip), %rax
	mov %rax, 24(%r13)
	mov $3, %r9d
	call *(%r13,%r9,8)
	inc %rdx
	int3
1:	ret
	form "jmp memory, base rax"
	lea 1f(%rip), %rdx
	mov %rdx, 8(%rbx)
	mov %rbx, %rax
	jmp *8(%rax)
	int3
1:	nop
	form "jmp memory, rip-relative"
	lea 1f(%rip), %rdx
	mov %rdx, data+0x300(%rip)
	jmp *data+0x300(%rip)
	int3
1:	nop
	form "call memory, rip-relative, notrack"
	lea 1f(%rip), %rdx
	mov %rdx, data+0x308(%rip)
	notrack call *data+0x308(%rip)
	inc %rdx
	int3
1:	ret
	form "call memory, 32-bit address"
	call *(%esi)
	form "jmp memory in fs: a fault"
	xor %eax, %eax
	sub $1, %rax
	shr $1, %rax
	jmp *%fs:(%rax)
	form "jmp memory in fs and gs"
	rdfsbase %r8
	lea 1f(%rip), %rdx
	mov %rdx, 16(%rbx)
	mov %rbx, %rax
	sub %r8, %rax
	jmp *%fs:16(%rax)
	int3
1:	rdgsbase %r8
	lea 2f(%rip), %rdx
	mov %rdx, 16(%rbx)
	mov %rbx, %rax
	sub %r8, %rax
	call *%gs:16(%rax)
	int3
2:	pop %rdx
	form "one return to many places"
	xor %eax, %eax
	call 9f
	call 9f
	call 9f
	call 9f
	call 9f
	call 9f
	call 9f
	call 9f
	call 9f
	call 9f
	int3
9:	lea 1(%rax,%rax), %rax
	pushf
	pop %rdx
	ret
	form "a table of jumps"
	mov $24, %r8d
1:	lea 5f(%rip), %rax
	mov %r8, %rdx
	and $7, %edx
	lea (%rax,%rdx,4), %rax
	jmp *%rax
	.balign 4, 0x90
5:	jmp 2f
	.balign 4, 0x90
	jmp 3f
	.balign 4, 0x90
	jmp 2f
	.balign 4, 0x90
	jmp 3f
	.balign 4, 0x90
	jmp 2f
	.balign 4, 0x90
	jmp 3f
	.balign 4, 0x90
	jmp 2f
	.balign 4, 0x90
	jmp 3f
2:	inc %r9
3:	dec %r8
	jnz 1b
	int3
	form "jump to nowhere"
	mov $0x10, %r11d
	jmp *%r11
	form "far return"
	lretq
	form "interrupt"
	int $0x80
	form "undefined"
	ud2
	form "halt"
	hlt
	form "no instruction"
	.byte 0x06
	form "16-bit branch"
	.byte 0x66, 0xe9, 0, 0
	form "transaction"
	xbegin 1f
1:	nop
	.balign 128, 0xcc
forms_end:
	.pushsection .data.rel.ro.forms, "aw"
form_names_end:
	.popsection
	.section .note.GNU-stack, "", @progbits
