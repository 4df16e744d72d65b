# Layer 3: exact counts from replayed copies of the target.
noinst_HEADERS += src/shadow/engine.h
