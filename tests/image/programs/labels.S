/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assembly as people write it: no types, no sizes. */
	.text
	.globl bare_first
bare_first:
	.cfi_startproc
	nop
inside_first:
	nop
	ret
	.cfi_endproc
	.globl bare_second
bare_second:
	nop
	nop
	ret
	.globl typed_without_size
	.type typed_without_size, %function
typed_without_size:
	.cfi_startproc
	nop
label_in_typed:
	nop
	nop
	ret
	.cfi_endproc
	.globl outer
	.type outer, %function
outer:
	nop
	nop
	.globl second_entry
	.type second_entry, %function
second_entry:
	nop
	ret
	.size second_entry, . - second_entry
	nop
	ret
	.size outer, . - outer
	.weak alias_weak
	.globl alias
	.globl __alias_internal
	.type alias, %function
	.type alias_weak, %function
	.type __alias_internal, %function
alias_weak:
__alias_internal:
alias:
	ret
	.size alias, . - alias
	.size alias_weak, . - alias_weak
	.size __alias_internal, . - __alias_internal
	.section .note.GNU-stack, "", %progbits
