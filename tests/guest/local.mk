# The real PMU driver of an emulated Arm machine, and Yama on an emulated x86-64 one. scripts/test.sh
# makes the guest and gets the kernels before it tests.
dist_check_SCRIPTS += \
	tests/guest/guest.test \
	tests/guest/yama.test
EXTRA_DIST += \
	tests/guest/build \
	tests/guest/fetch-kernel \
	tests/guest/init \
	tests/guest/programs/shares.S \
	tests/guest/programs/threads.S \
	tests/guest/said.sh \
	tests/guest/script \
	tests/guest/yama-script
