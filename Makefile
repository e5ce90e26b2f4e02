# The same commands as ./run, for those whose fingers type make.
.PHONY: run test check sandbox
run:
	./run
test:
	./run test
check:
	./run check
sandbox:
	./run sandbox
