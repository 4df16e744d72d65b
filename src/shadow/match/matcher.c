/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "matcher.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	WORD = 8,
	PIECE_MOST = 4096, /* bytes that are compared in one step */
};
/* The flags that are compared: carry, parity, adjust, zero, sign, direction, overflow. */
static const uint64_t flags_compared = 0xcd5;
static const uint64_t arithmetic_flags = 0x8d5;

struct matcher_state {
	struct x86_check check;
	uint32_t false_alarms;
	uint64_t seen_ns; /* when its state occurred last; 0: never */
	/* its state occurs repeatedly, or too much differs only slightly from it */
	bool is_given_up;
	bool has_matched;
	bool has_recurred; /* its state occurred again, later than a match is watched */
};

/* --- which registers to compare first --------------------------------------------------------- */

/* Compares first the registers that differ from the previous sample and from the start of the
 * window. */
static void choose_order(struct x86_check *check, const struct hp_engine_sample *sample,
			 const uint64_t *before, const uint64_t *start)
{
	size_t count = 0;

	for (int pass = 0; pass < 2; pass++)
		for (unsigned reg = 0; reg < X86_REGISTERS; reg++) {
			bool changes = sample->general[reg] != before[reg] &&
				       sample->general[reg] != start[reg];

			if (changes == (pass == 0))
				check->order[count++] = (uint8_t)reg;
		}
}

/* --- arming ----------------------------------------------------------------------------------- */

static void disarm_all(struct matcher *matcher)
{
	struct code_cache *cache = matcher->translator->cache;

	for (size_t i = 0; i < matcher->armed_blocks.count; i++)
		code_cache_arm(cache, &cache->blocks.at[matcher->armed_blocks.at[i]], NULL);
	matcher->armed_blocks.count = 0;
}

static void check_armed(void *context, const struct code_block *block, uint64_t address,
			struct x86_emitter *emitter)
{
	const struct matcher *matcher = context;
	const struct code_zone *zone = &matcher->translator->cache->zones[block->zone];

	for (size_t i = 0; i < matcher->armed_count; i++) {
		size_t sample = matcher->armed[i];

		if (matcher->samples[sample].ip == address)
			x86_emit_check(zone, emitter, &matcher->samples[sample],
				       &matcher->states[sample].check,
				       MATCHER_TRAP | (uint32_t)sample);
	}
}

static void arm_block(struct matcher *matcher, uint32_t number)
{
	struct code_cache *cache = matcher->translator->cache;
	struct code_block *block = &cache->blocks.at[number];
	struct code_zone *zone = &cache->zones[block->zone];
	const uint8_t *copy;

	if (block->is_armed ||
	    !hp_vector_reserve(&matcher->armed_blocks, matcher->armed_blocks.count + 1))
		return;
	copy = x86_copy_with_checks(matcher->translator, number, check_armed, matcher);
	if (!copy) {
		matcher->is_full = true;
		zone->copies.is_full = false;
		return;
	}
	code_cache_arm(cache, block, copy);
	(void)!hp_vector_push(&matcher->armed_blocks, number);
}

/* A block starts on the page of the address or on the page before, since it is shorter than a
 * page. */
static void arm_sample(struct matcher *matcher, size_t sample)
{
	const struct code_cache *cache = matcher->translator->cache;
	uint64_t ip = matcher->samples[sample].ip;

	for (uint64_t back = 0; back < 2; back++) {
		uint32_t number = shadow_table_find(&cache->by_page, ip / PAGE - back);

		for (; number != CODE_NO_NUMBER; number = cache->blocks.at[number].next_on_page)
			if (ip - cache->blocks.at[number].address <
			    cache->blocks.at[number].next - cache->blocks.at[number].address)
				arm_block(matcher, number);
	}
}

void matcher_arm_new(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->armed_count; i++)
		arm_sample(matcher, matcher->armed[i]);
}

/* The newest copy of the code, in which the shadow runs, is kept, with the others in use; the
 * oldest are dropped. */
static void make_room(struct code_cache *cache)
{
	for (size_t i = 0; i < cache->zone_count; i++) {
		struct code_zone *zone = &cache->zones[i];

		if (zone->copies.end - zone->copies.at < ARMING_ROOM_BYTES)
			zone->copies.at = zone->copies_start;
	}
}

/* Arms the next few samples and some later ones: when several in a row are missed (the original was
 * in the kernel or elsewhere), the match can continue at those. */
static void choose_armed(struct matcher *matcher)
{
	size_t found = 0, chosen = 0;

	matcher->armed_count = 0;
	for (size_t i = 0; i < matcher->matches.watched_count; i++)
		matcher->armed[matcher->armed_count++] = matcher->matches.watched[i].sample;
	if (matches_is_kept(&matcher->matches, matcher->matches.kept))
		matcher->armed[matcher->armed_count++] = matcher->matches.kept;
	for (size_t i = matches_newest(&matcher->matches) + 1; i < matcher->count; i++) {
		bool is_chosen = chosen < MATCHER_AHEAD && found + 1 >= armed_ahead[chosen];

		if (matcher->states[i].is_given_up)
			continue;
		found++;
		chosen += is_chosen;
		if (is_chosen || matches_is_end(&matcher->matches, i))
			matcher->armed[matcher->armed_count++] = i;
	}
}

static void arm(struct matcher *matcher)
{
	disarm_all(matcher);
	make_room(matcher->translator->cache);
	choose_armed(matcher);
	matcher_arm_new(matcher);
}

void matcher_arm_again(struct matcher *matcher)
{
	arm(matcher);
}

struct hp_error *matcher_begin(struct matcher *matcher, struct x86_translator *translator,
			       pid_t pid, const struct hp_engine_sample *samples, size_t count,
			       size_t wanted, bool has_end, const uint64_t general[X86_REGISTERS],
			       const struct matches_past *past)
{
	*matcher = (struct matcher){
		.translator = translator,
		.samples = samples,
		.count = count,
		.translated = translator->translated,
		.seen_translated = translator->translated,
		.states = calloc(count + 1, sizeof(*matcher->states)),
	};
	if (!matcher->states)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		const struct hp_engine_sample *other = i	   ? &samples[i - 1]
						       : count > 1 ? &samples[1]
								   : &samples[0];

		choose_order(&matcher->states[i].check, &samples[i], other->general, general);
	}
	matches_begin(&matcher->matches, pid, samples, count, wanted, past);
	if (has_end)
		matches_set_end(&matcher->matches);
	arm(matcher);
	return NULL;
}

void matcher_end(struct matcher *matcher)
{
	disarm_all(matcher);
	hp_vector_free(&matcher->armed_blocks);
	matches_clear(&matcher->matches);
	free(matcher->states);
	matcher->states = NULL;
}

/* --- judging ---------------------------------------------------------------------------------- */

static bool flags_agree(struct matcher *matcher, const struct hp_engine_sample *sample,
			uint64_t flags)
{
	uint64_t differ = (flags ^ sample->flags) & flags_compared;

	return !differ || (!(differ & ~arithmetic_flags) &&
			   !x86_flags_matter(matcher->translator, sample->ip));
}

/* Words in that memory no longer tell states apart. */
static void unlearn(struct x86_check *check, const struct matcher_guess *guess)
{
	size_t kept = 0;

	for (size_t i = 0; i < check->word_count; i++) {
		uint64_t word = check->words[i].address;

		if (word + WORD <= guess->start || word >= guess->end)
			check->words[kept++] = check->words[i];
	}
	check->word_count = (uint8_t)kept;
}

/* A timespec or a timeval. */
static void note_time(struct matcher *matcher, uint64_t at, uint64_t bytes, int memory_fd)
{
	uint64_t words[2];

	if (bytes == sizeof(words) &&
	    pread(memory_fd, words, sizeof(words), (off_t)at) == sizeof(words))
		told_times_add(&matcher->told, words[0], words[1]);
}

void matcher_guess(struct matcher *matcher, uint64_t at, uint64_t bytes, int memory_fd)
{
	const struct matcher_guess guess = { at, at + bytes };

	note_time(matcher, at, bytes, memory_fd);
	/* Each place is listed once: most programs keep the time in one place. */
	for (size_t i = 0; i < MATCHER_GUESSES; i++)
		if (matcher->guesses[i].start == guess.start &&
		    matcher->guesses[i].end == guess.end)
			return;
	matcher->guesses[matcher->guessed++ % MATCHER_GUESSES] = guess;
	for (size_t i = 0; i < matcher->count; i++)
		unlearn(&matcher->states[i].check, &guess);
}

static bool is_guessed(const struct matcher *matcher, uint64_t address)
{
	for (size_t i = 0; i < MATCHER_GUESSES; i++)
		if (address >= matcher->guesses[i].start && address < matcher->guesses[i].end)
			return true;
	return false;
}

/* Where the shadow's memory differs from what the sample recorded, and what the shadow has
 * there. */
struct difference {
	uint64_t address; /* of one byte */
	/* The word around it, if the sample recorded all of it. */
	struct x86_check_word word;
	bool has_word;
};

/* The end of what does not tell states apart: `at`, unless there is the word of a time. */
static size_t end_of_time(const struct matcher *matcher, const uint8_t *found, size_t at,
			  size_t bytes)
{
	size_t start = at - at % WORD;
	uint64_t word;

	if (start + WORD > bytes)
		return at;
	memcpy(&word, found + start, WORD);
	return told_times_have(&matcher->told, word) ? start + WORD : at;
}

/* The first byte that differs, from `at` on. */
static size_t first_difference(const struct matcher *matcher, uint64_t address,
			       const uint8_t *recorded, const uint8_t *found, size_t at,
			       size_t bytes)
{
	while (at < bytes && (found[at] == recorded[at] || is_guessed(matcher, address + at)))
		at++;
	return at;
}

static bool differs(const struct matcher *matcher, int memory_fd, uint64_t address,
		    const uint8_t *recorded, size_t bytes, struct difference *difference)
{
	uint8_t found[PIECE_MOST];
	size_t at, next = 0;

	if (bytes > sizeof(found))
		bytes = sizeof(found);
	if (bytes && pread(memory_fd, found, bytes, (off_t)address) != (ssize_t)bytes) {
		*difference = (struct difference){ .address = address };
		return true;
	}
	do {
		at = first_difference(matcher, address, recorded, found, next, bytes);
		next = end_of_time(matcher, found, at, bytes);
	} while (next > at);
	if (at == bytes)
		return false;
	*difference = (struct difference){ .address = address + at, .has_word = true };
	at -= at % WORD;
	difference->word.address = address + at;
	if (at + WORD <= bytes)
		memcpy(&difference->word.value, recorded + at, WORD);
	else
		difference->has_word = false;
	return true;
}

static bool state_differs(const struct matcher *matcher, const struct hp_engine_sample *sample,
			  int memory_fd, struct difference *difference)
{
	const struct reached *reached = sample->reached;

	if (differs(matcher, memory_fd, sample->general[X86_RSP], sample->stack,
		    sample->stack_bytes, difference))
		return true;
	for (size_t i = 0; reached && i < reached->count; i++)
		if (differs(matcher, memory_fd, reached->pieces[i].address,
			    reached->bytes + reached->pieces[i].offset, reached->pieces[i].bytes,
			    difference))
			return true;
	return false;
}

/* Makes the code compare this word, too, from now on. False: the sample has not recorded all of it,
 * or there are too many words. */
static bool learn(struct x86_check *check, const struct difference *difference)
{
	if (!difference->has_word || check->word_count >= X86_CHECK_WORDS)
		return false;
	for (size_t i = 0; i < check->word_count; i++)
		if (check->words[i].address == difference->word.address)
			return false;
	check->words[check->word_count++] = difference->word;
	return true;
}

/* The state is not the sample's: adds a word that distinguishes them, if one is known, or gives up the
 * sample. */
static void judge_other(struct matcher *matcher, size_t number, const struct difference *difference)
{
	struct matcher_state *state = &matcher->states[number];
	bool learned = difference && learn(&state->check, difference);

	if (++state->false_alarms >= FALSE_ALARMS && !state->is_given_up)
		state->is_given_up = learned = true;
	if (learned)
		arm(matcher);
}

/* The state is the sample's; decides whether this is the sample's moment. */
static enum matcher_verdict judge_moment(struct matcher *matcher, size_t number)
{
	struct matches *matches = &matcher->matches;
	struct matcher_state *state = &matcher->states[number];
	uint64_t now_ns = matches_now(matches);
	bool is_back = state->seen_ns && now_ns - state->seen_ns < matches->watch_ns;
	bool has_recurred = state->seen_ns && !is_back && matches->watch_ns;
	bool is_watched, is_of_round;

	matcher->seen_ns = now_ns;
	matcher->seen_translated = matcher->translator->translated;
	matches_settle(matches, now_ns);
	is_watched = matches_is_watched(matches, number);
	state->seen_ns = now_ns;
	is_of_round = matches_is_kept(matches, number) || (is_watched && has_recurred);
	matcher->recurring += has_recurred && !state->has_recurred;
	state->has_recurred |= has_recurred;
	if (is_of_round || matcher->recurring >= ROUND_SAMPLES)
		matches_meet_again(matches);
	if (is_watched || is_back) {
		/* It may have matched too early, while later samples are still to come. */
		matches_take_back(matches, number);
		state->is_given_up = true;
		arm(matcher);
		return MATCHER_OTHER;
	}
	if (is_of_round) {
		arm(matcher);
		return MATCHER_OTHER;
	}
	/* The state occurred once more. If a third occurrence follows soon, the sample is given
	 * up. */
	if (!matches_can_be(matches, number, now_ns))
		return MATCHER_OTHER;
	if (!matches_is_end(matches, number) &&
	    matches_is_too_late(matches, number, now_ns,
				matcher->translator->translated - matcher->translated)) {
		state->is_given_up = true;
		matches_add_late(matches);
		arm(matcher);
		return MATCHER_OTHER;
	}
	if (!matches_add(matches, number, now_ns, matcher->translator->cache))
		return MATCHER_NO_MEMORY;
	matcher->translated = matcher->translator->translated;
	matches_settle(matches, now_ns);
	arm(matcher);
	return MATCHER_NEXT;
}

bool matcher_take_end(struct matcher *matcher)
{
	struct matches *matches = &matcher->matches;
	uint64_t now_ns = matches_now(matches);

	return matches->end != SIZE_MAX && now_ns < matcher_lost_ns(matcher) &&
	       !matches_is_too_early(matches, matches->end, now_ns) &&
	       matches_add(matches, matches->end, now_ns, matcher->translator->cache);
}

enum matcher_verdict matcher_judge(struct matcher *matcher, size_t number, int memory_fd,
				   uint64_t flags)
{
	const struct hp_engine_sample *sample = &matcher->samples[number];
	size_t newest = matches_newest(&matcher->matches);
	struct difference difference = { 0 };

	/* It was armed when this copy of the code was made, and is not any more. */
	if (matcher->states[number].is_given_up ||
	    (newest != SIZE_MAX && number < newest && !matches_is_kept(&matcher->matches, number) &&
	     !matches_is_watched(&matcher->matches, number)))
		return MATCHER_OTHER;
	if (!flags_agree(matcher, sample, flags) ||
	    state_differs(matcher, sample, memory_fd, &difference)) {
		judge_other(matcher, number, &difference);
		return MATCHER_OTHER;
	}
	/* The original was in this state again, behind a call that the copy has not come to. */
	if (sample->follows_call && !matcher->has_called) {
		judge_other(matcher, number, NULL);
		return MATCHER_OTHER;
	}
	return judge_moment(matcher, number);
}

bool matcher_is_new(struct matcher *matcher, size_t sample)
{
	bool is_new = !matcher->states[sample].has_matched;

	matcher->states[sample].has_matched = true;
	return is_new;
}

/* The next sample that may match; the number of samples if there is none. */
static size_t next_sample(const struct matcher *matcher)
{
	const struct matches *matches = &matcher->matches;
	size_t newest = matches_newest(matches), next = newest + 1;

	if (matches->is_in_rounds && newest != matches->end)
		next = matches->end;
	while (next < matcher->count && matcher->states[next].is_given_up)
		next++;
	return next;
}

/* If no sample's state has occurred, only the window's own end may be distinguishable from other
 * states. */
uint64_t matcher_lost_ns(const struct matcher *matcher)
{
	const struct matches *matches = &matcher->matches;
	bool is_in_rounds = matches->is_in_rounds;
	size_t next = next_sample(matcher);

	if (next >= matcher->count)
		return is_in_rounds && matches_newest(matches) != matches->end ? 0 : UINT64_MAX;
	if (!matcher->seen_ns)
		next = matcher->count - 1;
	/* States that occur in each round do not tell that the copy is on its path. */
	return matches_lost_ns(matches, next, is_in_rounds ? 0 : matcher->seen_ns,
			       matcher->translator->translated - matcher->seen_translated);
}

bool matcher_is_done(const struct matcher *matcher)
{
	return next_sample(matcher) >= matcher->count;
}

bool matcher_is_hopeless(const struct matcher *matcher)
{
	const struct matches *matches = &matcher->matches;

	return matches->is_in_rounds && matcher_is_done(matcher) &&
	       !matches_is_end(matches, matches_newest(matches));
}
