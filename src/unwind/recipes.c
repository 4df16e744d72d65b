/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recipes.h"

#include <hpcprof/base/hash.h>

#include <stdlib.h>
#include <string.h>

static bool number_others(struct hp_unwind_table *table, const struct frame_state *state,
			  uint16_t *number)
{
	struct other_rules rules;

	memcpy(rules.at, state->at, sizeof(rules.at));
	for (size_t i = 1; i < table->others.count; i++) {
		*number = (uint16_t)i;
		if (memcmp(&table->others.at[i], &rules, sizeof(rules)) == 0)
			return true;
	}
	*number = (uint16_t)table->others.count;
	return table->others.count < MOST_EXPRESSIONS && hp_vector_push(&table->others, rules);
}

static bool is_followed(const struct frame_state *state)
{
	return !state->is_unsupported && state->at[HP_UNWIND_RIP].kind != RULE_UNSUPPORTED &&
	       state->at[HP_UNWIND_RIP].kind != RULE_SAME;
}

/* Every row looks for its recipe, so recipes are hashed and compared as four words, inline. The
 * words are made of a recipe's members, since a word that was just written in pieces is slow to
 * load. */
struct recipe_words {
	uint64_t at[4];
};

static inline uint64_t word_of(struct rule rule)
{
	return (uint32_t)rule.value | (uint64_t)rule.kind << 32;
}

static inline uint64_t word_of_cfa(int32_t cfa, uint8_t base, bool is_signal, uint16_t others)
{
	return (uint32_t)cfa | (uint64_t)base << 32 | (uint64_t)is_signal << 40 |
	       (uint64_t)others << 48;
}

static inline struct recipe_words words_of(const struct hp_unwind_recipe *recipe)
{
	return (struct recipe_words){
		{ word_of_cfa(recipe->cfa, recipe->cfa_register, recipe->is_signal, recipe->others),
		  word_of(recipe->rip), word_of(recipe->rbp), word_of(recipe->rbx) }
	};
}

static inline uint64_t hash_of(const struct recipe_words *words)
{
	return XXH3_64bits(words->at, sizeof(words->at));
}

static inline bool is_same(const struct hp_unwind_recipe *recipe, const struct recipe_words *words)
{
	struct recipe_words own = words_of(recipe);

	return ((own.at[0] ^ words->at[0]) | (own.at[1] ^ words->at[1]) |
		(own.at[2] ^ words->at[2]) | (own.at[3] ^ words->at[3])) == 0;
}

/* Returns the slot of the recipe, or the free slot for it. */
static inline size_t find_slot(const struct builder *builder, const struct recipe_words *words)
{
	const struct hp_unwind_recipe *recipes = builder->table->recipes.at;
	size_t slot = hash_of(words) & (builder->slot_count - 1);

	while (builder->slots[slot] && !is_same(&recipes[builder->slots[slot]], words))
		slot = (slot + 1) & (builder->slot_count - 1);
	return slot;
}

static bool grow(struct builder *builder)
{
	const struct hp_unwind_table *table = builder->table;
	uint16_t *slots = calloc(builder->slot_count * 4, sizeof(*slots));

	if (!slots)
		return false;
	free(builder->slots);
	builder->slots = slots;
	builder->slot_count *= 4;
	for (size_t i = RECIPES_OF_NOTHING; i < table->recipes.count; i++) {
		const struct recipe_words words = words_of(&table->recipes.at[i]);

		slots[find_slot(builder, &words)] = (uint16_t)i;
	}
	return true;
}

uint16_t recipe_number(struct builder *builder, const struct frame_state *state, bool is_signal)
{
	const struct rule *at = state->at;
	struct hp_unwind_table *table = builder->table;
	struct recipe_words words;
	uint16_t others = NO_OTHERS;
	uint16_t number;
	size_t slot;

	if (!is_followed(state) || (is_signal && !number_others(table, state, &others)))
		return RECIPE_UNSUPPORTED;
	words = (struct recipe_words){ { word_of_cfa(state->cfa, state->cfa_register, is_signal,
						     others),
					 word_of(at[HP_UNWIND_RIP]), word_of(at[HP_UNWIND_RBP]),
					 word_of(at[HP_UNWIND_RBX]) } };
	slot = find_slot(builder, &words);
	if (builder->slots[slot])
		return builder->slots[slot];
	if (table->recipes.count >= builder->most_recipes ||
	    !hp_vector_push(&table->recipes, (struct hp_unwind_recipe){
						     .cfa = state->cfa,
						     .cfa_register = state->cfa_register,
						     .is_signal = is_signal,
						     .others = others,
						     .rip = at[HP_UNWIND_RIP],
						     .rbp = at[HP_UNWIND_RBP],
						     .rbx = at[HP_UNWIND_RBX],
					     }))
		return RECIPE_UNSUPPORTED;
	number = (uint16_t)(table->recipes.count - 1);
	builder->slots[slot] = number;
	return table->recipes.count * 2 < builder->slot_count || grow(builder) ? number
									       : RECIPE_UNSUPPORTED;
}
