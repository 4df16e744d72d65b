/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/base/vector.h>

enum { PAGE_BYTES = 4096 };

static void clear(struct history *history)
{
	hp_vector_free(&history->pages);
	hp_vector_free(&history->next);
	*history = (struct history){ 0 };
}

void histories_clear(struct histories *histories)
{
	for (size_t i = 0; i < HISTORIES; i++)
		clear(&histories->at[i]);
}

struct history *histories_of(struct histories *histories, pid_t pid, uint64_t now_ns)
{
	struct history *found = &histories->at[0];

	for (size_t i = 0; i < HISTORIES && found->pid != pid; i++) {
		struct history *history = &histories->at[i];

		if (history->pid == pid || history->used_ns < found->used_ns)
			found = history;
	}
	if (found->pid != pid)
		clear(found);
	found->pid = pid;
	found->used_ns = now_ns;
	return found;
}

void history_look(struct history *history, uint64_t now_ns)
{
	history->next.count = 0;
	history->passed = 0;
	history->now_ns = now_ns;
}

/* What is known of the page; NULL: nothing. */
static const struct page_past *past_of(struct history *history, uint64_t address)
{
	const struct page_pasts *pages = &history->pages;

	while (history->passed < pages->count && pages->at[history->passed].address < address)
		history->passed++;
	if (history->passed < pages->count && pages->at[history->passed].address == address)
		return &pages->at[history->passed];
	return NULL;
}

enum page_kind history_page(struct history *history, uint64_t address, const void *page)
{
	const struct page_past *past = past_of(history, address);
	struct page_past now = {
		.address = address,
		.hash = XXH3_64bits(page, PAGE_BYTES),
		.since_ns = history->now_ns,
	};

	if (past && past->hash == now.hash)
		now = *past;
	else
		now.has_changed = past != NULL;
	if (!hp_vector_push(&history->next, now))
		return PAGE_NEW;
	if (history->now_ns - now.since_ns >= (now.has_changed ? calm_again_ns : calm_ns))
		return PAGE_CALM;
	return now.has_changed ? PAGE_HOT : PAGE_NEW;
}

void history_looked(struct history *history)
{
	const struct page_pasts before = history->pages;

	history->pages = history->next;
	history->next = before;
	history->next.count = 0;
}
