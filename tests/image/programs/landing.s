# SPDX-License-Identifier: GPL-2.0-or-later
# A function with an exception table written by hand: of three calls the second lands nowhere.
	.text
	.globl catches
	.type catches, @function
catches:
	.cfi_startproc
	.cfi_lsda 0x1b, .Ltable
first_call:
	call catches
after_first:
	call catches
third_call:
	call catches
after_third:
	ret
	.globl first_pad
first_pad:
	ret
	.globl third_pad
third_pad:
	ret
	.cfi_endproc
	.size catches, . - catches
	.globl plain
	.type plain, @function
plain:
	.cfi_startproc
	ret
	.cfi_endproc
	.size plain, . - plain

	.section .gcc_except_table, "a", @progbits
.Ltable:
	.byte 0xff			# landing pads count from the function
	.byte 0xff			# no types
	.byte 0x01			# call sites in ULEB128
	.uleb128 .Lend - .Lsites
.Lsites:
	.uleb128 first_call - catches
	.uleb128 after_first - first_call
	.uleb128 first_pad - catches
	.uleb128 0
	.uleb128 after_first - catches
	.uleb128 third_call - after_first
	.uleb128 0
	.uleb128 0
	.uleb128 third_call - catches
	.uleb128 after_third - third_call
	.uleb128 third_pad - catches
	.uleb128 1
.Lend:

	.section .data.rel.ro, "aw", @progbits
	.p2align 3
pointers:
	.quad plain
	.quad first_pad
	.quad pointers			# of data: not wanted
	.quad third_pad
