/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions as compilers and people have written them: a sample, drawn with a fixed seed, of all
 * distinct encodings (but for displacements and immediates) in large libraries, each run natively
 * and translated from random states whose memory operands are in the puppet's data.
 *
 * HPCPROF_SWEEP=N takes N of them; the default is a few thousand.
 */
#include "../support.h"

#include "../../src/shadow/translate/table.h"
#include "../../src/shadow/translate/x86_decode.h"
#include "states.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SLOT_BYTES = 32,
	SLOTS = 1024,
	DEFAULT_SAMPLE = 4000,
	ROUNDS = 2,
	OPERAND = 0x8000, /* offset of operands in the data */
	PIECE_BYTES = 1 << 17,
	PIECES = 12, /* of a library, spread over it */
};

static const char *const libraries[] = {
	"libc.so.6",	    "libm.so.6",       "libstdc++.so.6",       "libcrypto.so.3",
	"libLLVM-14.so.1",  "libLLVM-15.so.1", "libpython3.11.so.1.0", "libgmp.so.10",
	"libavcodec.so.59", "libx265.so.199",  "libopenblas.so.0",     "libfftw3.so.3",
	"libz.so.1",	    "libsqlite3.so.0",
};
static const char *const folders[] = { "/lib/x86_64-linux-gnu",
				       "/usr/lib/x86_64-linux-gnu",
				       "/lib64",
				       "/usr/lib64",
				       "/usr/lib",
				       "/lib" };

/* --- what there is ---------------------------------------------------------------------------- */

struct found {
	uint8_t bytes[X86_INSN_BYTES];
	uint8_t length;
};

struct sample {
	struct found *at; /* Owned */
	size_t wanted, count;
	size_t distinct, seen;
	struct shadow_table known; /* by the hash of what is distinct */
	struct hp_random random;
};

static uint64_t hash(const uint8_t *bytes, size_t size)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ bytes[i]) * 0x100000001b3;
	return sum;
}

/* Its state cannot be set or seen from outside, or is of the machine: the forms have them. */
static bool is_left_out(const ZydisDecodedInstruction *raw, const ZydisDecodedOperand *operands)
{
	for (size_t i = 0; i < raw->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (operands[i].mem.segment == ZYDIS_REGISTER_FS ||
		     operands[i].mem.segment == ZYDIS_REGISTER_GS))
			return true; /* the puppet's own thread-local data */
	switch ((unsigned)raw->mnemonic) {
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_FNSTENV: /* the address of the last x87 instruction */
	case ZYDIS_MNEMONIC_FNSAVE:
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
		return true;
	default:
		return false;
	}
}

/* Every distinct one is as likely to be kept: reservoir sampling. */
static void consider(struct sample *sample, const ZydisDecodedInstruction *raw,
		     const uint8_t *bytes)
{
	uint8_t shape[X86_INSN_BYTES];
	struct found found = { .length = raw->length };
	uint64_t key;
	size_t place;

	memcpy(shape, bytes, raw->length);
	memcpy(found.bytes, bytes, raw->length);
	if (raw->raw.disp.size)
		memset(shape + raw->raw.disp.offset, 0, raw->raw.disp.size / 8);
	for (size_t i = 0; i < 2; i++)
		if (raw->raw.imm[i].size)
			memset(shape + raw->raw.imm[i].offset, 0, raw->raw.imm[i].size / 8);
	key = hash(shape, raw->length);
	if (shadow_table_find(&sample->known, key) != SHADOW_TABLE_NONE)
		return;
	ck_assert(shadow_table_put(&sample->known, key, 0));
	place = sample->distinct++;
	if (place >= sample->wanted)
		place = hp_random_between(&sample->random, 0, place);
	if (place < sample->wanted)
		sample->at[place] = found;
	if (sample->count < sample->wanted)
		sample->count++;
}

static void consider_code(struct sample *sample, const uint8_t *code, size_t size)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < size;) {
		ZydisDecodedInstruction raw;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
		struct x86_insn insn;

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size - at, &raw,
							 operands))) {
			at++;
			continue;
		}
		sample->seen++;
		if (!is_left_out(&raw, operands) && x86_decode(code + at, size - at, 0, &insn) &&
		    insn.kind == X86_PLAIN)
			consider(sample, &raw, code + at);
		at += raw.length;
	}
}

static void consider_pieces(struct sample *sample, const uint8_t *code, size_t size)
{
	size_t step = size / PIECES > PIECE_BYTES ? size / PIECES : PIECE_BYTES;

	for (size_t at = 0; at < size; at += step)
		consider_code(sample, code + at, size - at < PIECE_BYTES ? size - at : PIECE_BYTES);
}

static bool consider_file(struct sample *sample, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	const uint8_t *file;
	const Elf64_Ehdr *header;

	if (fd < 0)
		return false;
	ck_assert_int_eq(fstat(fd, &status), 0);
	file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	ck_assert_ptr_ne(file, MAP_FAILED);
	header = (const Elf64_Ehdr *)(const void *)file;
	if (header->e_machine == EM_X86_64)
		for (size_t i = 0; i < header->e_phnum; i++) {
			const Elf64_Phdr *segment =
				(const Elf64_Phdr *)(const void *)(file + header->e_phoff) + i;

			if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
				consider_pieces(sample, file + segment->p_offset,
						segment->p_filesz);
		}
	munmap((void *)(uintptr_t)file, (size_t)status.st_size);
	return true;
}

static void draw(struct sample *sample)
{
	const char *wanted = getenv("HPCPROF_SWEEP");
	size_t files = 0;

	*sample = (struct sample){ .wanted = DEFAULT_SAMPLE, .random = hp_random_seeded(1999) };
	if (wanted)
		sample->wanted = strtoul(wanted, NULL, 10);
	sample->at = calloc(sample->wanted, sizeof(*sample->at));
	ck_assert_ptr_nonnull(sample->at);
	for (size_t i = 0; i < HP_ARRAY_COUNT(libraries); i++)
		for (size_t j = 0; j < HP_ARRAY_COUNT(folders); j++) {
			char path[256];

			snprintf(path, sizeof(path), "%s/%s", folders[j], libraries[i]);
			if (consider_file(sample, path)) {
				files++;
				break;
			}
		}
	/* Wherever libraries may be. */
	ck_assert(consider_file(sample, "/proc/self/exe"));
	printf("# %zu libraries, %zu instructions, %zu distinct, %zu drawn\n", files, sample->seen,
	       sample->distinct, sample->count);
	ck_assert_uint_gt(sample->count, 100);
}

/* --- making operands point into the data ------------------------------------------------------ */

static int number_of(ZydisRegister reg)
{
	if (ZydisRegisterGetClass(reg) != ZYDIS_REGCLASS_GPR64)
		return -1;
	return ZydisRegisterGetId(reg);
}

static void aim(struct puppet_state *state, const ZydisDecodedOperand *operand, uint64_t target)
{
	int base = number_of(operand->mem.base), index = number_of(operand->mem.index);
	uint64_t left = target - (uint64_t)operand->mem.disp.value;

	if (base >= 0 && base == index) {
		*state_register(state, (unsigned)base) = left / (operand->mem.scale + 1U);
		return;
	}
	if (base >= 0 && index >= 0) {
		uint64_t step = *state_register(state, (unsigned)index) % 16 * 64;

		*state_register(state, (unsigned)index) = step;
		*state_register(state, (unsigned)base) = left - step * operand->mem.scale;
	} else if (base >= 0) {
		*state_register(state, (unsigned)base) = left;
	} else if (index >= 0) {
		*state_register(state, (unsigned)index) = left / operand->mem.scale;
	}
}

/* The state to run it from; without one, its bytes as they have to be at `address`. */
static void set_up(struct puppet_state *state, struct found *insn, uint64_t address,
		   struct hp_random *random)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction raw;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t target = PUPPET_DATA + OPERAND + 64 * hp_random_between(random, 0, 64);

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ck_assert(ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&decoder, insn->bytes, insn->length, &raw, operands)));
	if (!state && raw.raw.disp.size == 32 && raw.raw.modrm.mod == 0 && raw.raw.modrm.rm == 5) {
		uint32_t distance = (uint32_t)(target - (address + insn->length));

		memcpy(insn->bytes + raw.raw.disp.offset, &distance, sizeof(distance));
	}
	if (!state)
		return;
	for (size_t i = raw.operand_count; i-- > 0;)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			aim(state, &operands[i], target);
}

/* --- comparing -------------------------------------------------------------------------------- */

static const char *hex(const struct found *insn)
{
	static char text[3 * X86_INSN_BYTES + 1];

	for (size_t i = 0; i < insn->length; i++)
		snprintf(text + 3 * i, 4, "%02x ", insn->bytes[i]);
	return text;
}

/* False: it faults. */
static bool compare_one(struct puppet *puppet, struct found *insn, uint64_t address,
			struct hp_random *random)
{
	static struct puppet_state native, engine;
	const char *difference;
	enum hp_window_end end;
	int native_signal, engine_signal;

	state_randomise(&native, puppet, random);
	set_up(&native, insn, address, random);
	native.registers.rip = address;
	engine = native;
	native_signal = puppet_run_native(puppet, &native);
	engine_signal = puppet_run_engine(puppet, &engine, &end);
	ck_assert_msg(native_signal == engine_signal, "%s: signal %d, %d (%s)", hex(insn),
		      native_signal, engine_signal, hp_window_end_name(end));
	if (native_signal != SIGTRAP)
		return false;
	difference = state_difference(&native, &engine);
	ck_assert_msg(!difference, "%s: %s", hex(insn), difference);
	return true;
}

static void compare_all(uint64_t near)
{
	static uint8_t code[SLOTS * SLOT_BYTES];
	struct hp_random random = hp_random_seeded(77);
	struct sample sample;
	struct puppet puppet;
	size_t ran = 0;

	draw(&sample);
	puppet_create(&puppet, near);
	for (size_t first = 0; first < sample.count; first += SLOTS) {
		size_t last = first + SLOTS < sample.count ? first + SLOTS : sample.count;

		memset(code, 0xcc, sizeof(code));
		for (size_t i = first; i < last; i++) {
			size_t at = (i - first) * SLOT_BYTES;

			set_up(NULL, &sample.at[i], PUPPET_CODE + at, &random);
			memcpy(code + at, sample.at[i].bytes, sample.at[i].length);
		}
		puppet_set_code(&puppet, code, sizeof(code));
		for (size_t i = first; i < last; i++)
			for (unsigned round = 0; round < ROUNDS; round++)
				ran += compare_one(&puppet, &sample.at[i],
						   PUPPET_CODE + (i - first) * SLOT_BYTES, &random);
	}
	printf("# %zu of %zu runs did not fault\n", ran, sample.count * ROUNDS);
	/* What the CPU does not know faults too. */
	ck_assert_uint_gt(ran, sample.count * ROUNDS / 2);
	puppet_destroy(&puppet);
	shadow_table_free(&sample.known);
	free(sample.at);
}

TEST(instructions_of_libraries_do_natively_and_translated_the_same)
{
	compare_all(PUPPET_CODE + (64 << 20));
}

TEST(out_of_reach_too)
{
	compare_all(0x300000000000);
}

HP_TEST_MAIN_UNLESS(PUPPET_REASON, "shadow/sweep")
