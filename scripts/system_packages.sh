#!/bin/sh
# Checks for what pip cannot install; installs it as root, otherwise says what is missing and why.
# With the argument "tests", also what only the tests use.
set -eu

need() { # package, test, why
    sh -c "$2" >/dev/null 2>&1 || echo "  $1: $3"
}

found=$(
    need python3-venv "python3 -m venv --help && python3 -c 'import ensurepip'" "makes the virtual environment"
    need git "command -v git" "reads CUDA from git repositories"
    need g++ "command -v g++" "nvcc compiles and links host code with it"
    need clang-19 "command -v clang-19" "compiles HIP for gfx1100"
    need lld-19 "command -v ld.lld-19" "links AMD code objects"
    need dpkg "command -v dpkg-deb" "unpacks the HIP headers (Debian packages) without root"
    need bubblewrap "command -v bwrap" "isolates the compilers that scraped code is given to"
    need util-linux "command -v prlimit" "limits the compilers that scraped code is given to"
    need ca-certificates "test -d /etc/ssl/certs" "lets pip check the package index"
    if [ "${1:-}" = tests ]; then
        need docker.io "command -v dockerd" "runs the toolchain containers that the tests build"
        need debootstrap "command -v debootstrap" "makes the containers' base image without a registry"
        need iptables "command -v iptables" "gives containers a network while their images are built"
        need chromium "command -v chromium" "opens the Dagster UI in a real browser"
        need datefudge "command -v datefudge" "moves the clock for the nightly schedule's test"
    fi
)
missing=$(printf '%s\n' "$found" | sed -n 's/^  \([^:]*\):.*/\1/p' | tr '\n' ' ')
if [ -z "${missing% }" ]; then
    exit 0
fi

echo "These Debian packages are missing:"
printf '%s\n' "$found"
if [ "$(id -u)" -ne 0 ]; then
    echo "Installing them needs root, once:  sudo apt-get install ${missing% }" >&2
    exit 1
fi
echo "Installing them (running as root)."
apt-get update -q
# shellcheck disable=SC2086 # a list of package names
DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
