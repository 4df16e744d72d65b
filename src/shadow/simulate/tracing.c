/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracing.h"

#include "../translate/x86_access.h"

#include <hpcprof/base/file.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIECE_BYTES = 1 << 20, /* bytes that are written at once */
	/* longest sequence that may still follow: a block, its run and the end */
	LAST_BYTES = 20000,
};

bool tracing_begin(struct tracing *tracing, int fd, uint64_t bytes_most)
{
	*tracing = (struct tracing){
		.fd = fd,
		.bytes_most = bytes_most < HP_TRACE_BYTES_MOST ? bytes_most : HP_TRACE_BYTES_MOST,
		.numbers = calloc(PATH_MOST_BLOCKS, sizeof(*tracing->numbers)),
		.accesses = calloc(HP_TRACE_ACCESSES_MOST, sizeof(*tracing->accesses)),
	};
	if (!tracing->numbers || !tracing->accesses) {
		tracing_clear(tracing);
		return false;
	}
	hp_trace_begin(&tracing->writer, EM_X86_64);
	return true;
}

void tracing_begin_window(struct tracing *tracing)
{
	memset(tracing->numbers, 0, PATH_MOST_BLOCKS * sizeof(*tracing->numbers));
	tracing->is_apart = true;
}

static void flush(struct tracing *tracing)
{
	struct hp_writer *out = &tracing->writer.out;

	if (!tracing->errno_value)
		tracing->errno_value = hp_file_write_fd(tracing->fd, out->bytes, out->size);
	tracing->bytes += out->size;
	tracing->is_over |= tracing->errno_value || out->failed;
	out->size = 0;
}

static bool add_block(struct tracing *tracing, uint64_t number, const struct path_plan *plan)
{
	static const enum hp_trace_access_kind kinds[] = {
		[X86_LOAD] = HP_TRACE_LOAD,
		[X86_STORE] = HP_TRACE_STORE,
		[X86_MODIFY] = HP_TRACE_MODIFY,
		[X86_PREFETCH] = HP_TRACE_PREFETCH,
	};
	struct hp_trace_block block = {
		.address = plan->address,
		.insn_count = plan->insn_count,
		.access_count = plan->access_count,
		.lengths = plan->lengths,
		.code = plan->code,
		.accesses = tracing->accesses,
	};

	for (size_t i = 0; i < plan->access_count; i++)
		tracing->accesses[i] = (struct hp_trace_access){
			.bytes = plan->accesses[i].bytes ? plan->accesses[i].bytes : 1,
			.insn = plan->accesses[i].insn,
			.kind = (uint8_t)kinds[plan->accesses[i].kind],
			.is_repeated = plan->accesses[i].count_word != PATH_NO_WORD,
		};
	if (!hp_trace_add_block(&tracing->writer, &block))
		return false;
	tracing->numbers[number] = (uint32_t)tracing->writer.block_count;
	return true;
}

void tracing_take(struct tracing *tracing, uint64_t number, const struct path_plan *plan,
		  const uint64_t *words, uint64_t fs_base)
{
	struct hp_trace_run run;

	if (tracing->is_over)
		return;
	if (!tracing->numbers[number] && !add_block(tracing, number, plan)) {
		tracing->is_over = true;
		return;
	}
	run.block = tracing->numbers[number] - 1;
	run.is_apart = tracing->is_apart;
	for (size_t i = 0; i < plan->access_count; i++) {
		run.addresses[i] = path_access_address(plan, &plan->accesses[i], words, fs_base);
		run.elements[i] = path_access_elements(&plan->accesses[i], words);
	}
	hp_trace_add_run(&tracing->writer, &run);
	tracing->is_apart = false;
	tracing->instructions += plan->insn_count;
	if (tracing->writer.out.size >= PIECE_BYTES)
		flush(tracing);
	tracing->is_over |= tracing->bytes + tracing->writer.out.size + LAST_BYTES >
			    tracing->bytes_most;
}

void tracing_end(struct tracing *tracing)
{
	hp_trace_end(&tracing->writer);
	flush(tracing);
	tracing->is_over = true;
}

void tracing_clear(struct tracing *tracing)
{
	hp_trace_writer_free(&tracing->writer);
	free(tracing->numbers);
	free(tracing->accesses);
	tracing->numbers = NULL;
	tracing->accesses = NULL;
}
