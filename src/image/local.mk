# Layer 2: ELF identity, symbols, procedures, lines.
noinst_LIBRARIES += src/image/libimage.a
src_image_libimage_a_SOURCES = \
	include/hpcprof/image/identity.h \
	include/hpcprof/image/image.h

IMAGE_LIBS = src/image/libimage.a $(MODEL_LIBS) $(DW_LIBS) $(ELF_LIBS) $(XXHASH_LIBS) $(IBERTY_LIBS)
