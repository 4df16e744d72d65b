/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/encoded.h>

#include <dwarf.h>

bool hp_encoded_fixed(struct hp_encoded_form form, struct hp_cursor *cursor, size_t size,
		      bool is_signed, uint64_t *value)
{
	uint64_t raw = 0;

	if ((size_t)(cursor->end - cursor->at) < size)
		return false;
	for (size_t i = 0; i < size; i++) {
		size_t shift = 8 * (form.big_endian ? size - 1 - i : i);

		raw |= (uint64_t)cursor->at[i] << shift;
	}
	if (is_signed && size < 8 && (raw >> (8 * size - 1)) & 1)
		raw |= ~(uint64_t)0 << (8 * size);
	cursor->at += size;
	*value = raw;
	return true;
}

bool hp_encoded_leb128(struct hp_cursor *cursor, bool is_signed, uint64_t *value)
{
	uint64_t raw = 0;
	unsigned shift = 0;

	while (cursor->at < cursor->end && shift < 64) {
		uint8_t byte = *cursor->at++;

		raw |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if (is_signed && shift < 64 && (byte & 0x40))
				raw |= ~(uint64_t)0 << shift;
			*value = raw;
			return true;
		}
	}
	return false;
}

bool hp_encoded_pointer(struct hp_encoded_form form, struct hp_cursor *cursor, uint8_t encoding,
			uint64_t *value)
{
	switch (encoding & HP_ENCODING_FORMAT) {
	case DW_EH_PE_absptr:
		return hp_encoded_fixed(form, cursor, form.is_64 ? 8 : 4, false, value);
	case DW_EH_PE_uleb128:
		return hp_encoded_leb128(cursor, false, value);
	case DW_EH_PE_udata2:
		return hp_encoded_fixed(form, cursor, 2, false, value);
	case DW_EH_PE_udata4:
		return hp_encoded_fixed(form, cursor, 4, false, value);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return hp_encoded_fixed(form, cursor, 8, false, value);
	case DW_EH_PE_sleb128:
		return hp_encoded_leb128(cursor, true, value);
	case DW_EH_PE_sdata2:
		return hp_encoded_fixed(form, cursor, 2, true, value);
	case DW_EH_PE_sdata4:
		return hp_encoded_fixed(form, cursor, 4, true, value);
	default:
		return false;
	}
}
