# Layer 2: ELF identity, symbols, procedures, lines.
noinst_LIBRARIES += src/image/libimage.a
src_image_libimage_a_SOURCES = \
	include/hpcprof/image/identity.h src/image/identity.c \
	include/hpcprof/image/image.h src/image/image.c \
	include/hpcprof/image/code.h src/image/code.h src/image/code.c src/image/exceptions.c \
	include/hpcprof/image/body.h src/image/body.c \
	src/image/cold.h src/image/cold.c \
	src/image/demangle.h src/image/demangle.c \
	src/image/debug_file.h src/image/debug_file.c \
	src/image/die_name.h src/image/die_name.c \
	src/image/elf_file.h src/image/elf_file.c src/image/elf_magic.c \
	src/image/excerpted.h src/image/excerpted.c \
	src/image/extent.h src/image/eh_frame.c src/image/plt.c src/image/symbols.c \
	src/image/gaps.h src/image/gaps.c \
	src/image/gopclntab.c \
	src/image/inflation.h src/image/inflation.c \
	src/image/inlines.h src/image/inlines.c \
	src/image/lines.h src/image/lines.c \
	src/image/our_file.h src/image/our_file.c \
	src/image/procedures.h src/image/procedures.c \
	src/image/resolve.h src/image/resolve.c \
	src/image/unsized.h src/image/unsized.c

IMAGE_LIBS = src/image/libimage.a $(ISA_LIBS) $(MODEL_LIBS) $(DW_LIBS) $(ELF_LIBS) $(XXHASH_LIBS) $(IBERTY_LIBS) $(LZMA_LIBS) $(ZLIB_LIBS)
