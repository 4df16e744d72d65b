/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The demonstration's program: writes itself a text, counts its words, sorts them by how often they
 * occur, and looks for likely misspellings. It has the kind of fault that profilers are for: hash()
 * mixes so little that words crowd into few chains, and find_word() spends its time walking them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXT_BYTES = 8 << 20,
	ROUNDS = 10,
	VOCABULARY = 12000,
	LONGEST = 16,
	CHAINS = 1 << 14,
	COMPARED = 4000,
};

struct word {
	struct word *next;
	unsigned long count;
	char text[LONGEST];
};

struct table {
	struct word *chains[CHAINS];
	struct word words[VOCABULARY];
	size_t count;
};

static uint32_t random_next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void invent_word(uint32_t *state, char *word)
{
	static const char consonants[] = "bcdfghklmnprstvz";
	static const char vowels[] = "aeiou";
	size_t syllables = 2 + random_next(state) % 3;

	for (size_t i = 0; i < syllables; i++) {
		*word++ = consonants[random_next(state) % (sizeof(consonants) - 1)];
		*word++ = vowels[random_next(state) % (sizeof(vowels) - 1)];
	}
	*word = '\0';
}

/* Words of rising rarity, as in a real text: the product of two draws favours small numbers. */
static size_t write_text(char *text, size_t room)
{
	static char vocabulary[VOCABULARY][LONGEST];
	uint32_t state = 1;
	size_t length = 0;

	for (size_t i = 0; i < VOCABULARY; i++)
		invent_word(&state, vocabulary[i]);
	while (length + LONGEST < room) {
		uint64_t draw = (uint64_t)(random_next(&state) % VOCABULARY) *
				(random_next(&state) % VOCABULARY);
		const char *word = vocabulary[draw / VOCABULARY];
		size_t bytes = strlen(word);

		memcpy(text + length, word, bytes);
		length += bytes;
		text[length++] = random_next(&state) % 12 ? ' ' : '\n';
	}
	return length;
}

/* The fault: a sum of letters has few values, and does not see their order. */
static unsigned int hash(const char *word, size_t length)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < length; i++)
		sum += (unsigned char)word[i];
	return sum % CHAINS;
}

static struct word *find_word(struct table *table, const char *word, size_t length)
{
	struct word **link = &table->chains[hash(word, length)];

	for (; *link; link = &(*link)->next)
		if (strncmp((*link)->text, word, length) == 0 && (*link)->text[length] == '\0')
			return *link;
	if (table->count == VOCABULARY)
		return NULL;
	*link = &table->words[table->count++];
	memcpy((*link)->text, word, length);
	return *link;
}

static unsigned long count_words(struct table *table, const char *text, size_t length)
{
	unsigned long total = 0;
	size_t start = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] != ' ' && text[i] != '\n')
			continue;
		if (i > start && i - start < LONGEST) {
			struct word *word = find_word(table, text + start, i - start);

			if (word) {
				word->count++;
				total++;
			}
		}
		start = i + 1;
	}
	return total;
}

static int more_frequent(const void *left, const void *right)
{
	const struct word *a = left;
	const struct word *b = right;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return strcmp(a->text, b->text);
}

/* How many letters must be changed, dropped or inserted (Wagner and Fischer 1974). */
static unsigned int edit_distance(const char *from, const char *to)
{
	unsigned int row[LONGEST + 1];
	size_t width = strlen(to);

	for (size_t j = 0; j <= width; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; from[i - 1]; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= width; j++) {
			unsigned int best = diagonal + (from[i - 1] != to[j - 1]);

			if (best > row[j] + 1)
				best = row[j] + 1;
			if (best > row[j - 1] + 1)
				best = row[j - 1] + 1;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[width];
}

static unsigned long count_misspellings(const struct table *table)
{
	size_t compared = table->count < COMPARED ? table->count : COMPARED;
	unsigned long close = 0;

	for (size_t i = 0; i < compared; i++)
		for (size_t j = i + 1; j < compared; j++)
			close += edit_distance(table->words[i].text, table->words[j].text) == 1;
	return close;
}

int main(void)
{
	static struct table table;
	char *text = malloc(TEXT_BYTES);
	unsigned long total = 0;
	size_t length;

	if (!text)
		return EXIT_FAILURE;
	length = write_text(text, TEXT_BYTES);
	for (int i = 0; i < ROUNDS; i++)
		total += count_words(&table, text, length);
	qsort(table.words, table.count, sizeof(table.words[0]), more_frequent);
	printf("%lu words, %zu different, most often '%s'; %lu pairs one letter apart\n", total,
	       table.count, table.words[0].text, count_misspellings(&table));
	free(text);
	return EXIT_SUCCESS;
}
