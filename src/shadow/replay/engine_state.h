/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's state, shared by its files: engine.c replays, engine_place.c puts the cache into
 * shadows.
 */
#ifndef SHADOW_REPLAY_ENGINE_STATE_H
#define SHADOW_REPLAY_ENGINE_STATE_H

#include "../copy/areas.h"
#include "../match/matches.h"
#include "../translate/code_cache.h"
#include "../translate/text.h"
#include "../translate/x86_translate.h"
#include "engine.h"

struct hp_engine {
	uint64_t near; /* preferred address of the cache; 0: near the code */
	struct code_cache cache;
	struct shadow_text *text;
	struct areas areas;
	const struct areas *program; /* borrowed, for one window */
	struct x86_translator translator;
	struct hp_engine_mapping mappings[HP_ENGINE_MAPPINGS];
	size_t mapping_count;
	int memory_fd; /* /proc/PID/mem of the latest shadow */
	bool is_full;  /* drop everything before the next window */
	struct matches_past past;
};

#endif
