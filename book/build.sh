#!/usr/bin/env bash
# Builds the book into book/book and fails on anything mdbook complains about: it exits with 0 even where an
# `{{#include}}` finds no file. Takes mdbook from the PATH or from target/tools; else installs it there.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.5.4
tools=target/tools

mdbook=$(command -v mdbook || true)
[[ -n $mdbook && $("$mdbook" --version) == "mdbook v$version" ]] || mdbook=$tools/bin/mdbook
if [[ ! -x $mdbook || $("$mdbook" --version) != "mdbook v$version" ]]; then
    echo "installing mdbook $version into $tools"
    # For a book of this size an unoptimised one is as good, and takes a quarter of the time to build. The book needs
    # its search, and neither `mdbook serve` nor `watch`.
    CARGO_PROFILE_DEV_DEBUG=false cargo install --quiet --locked --debug --no-default-features --features search --root "$tools" "mdbook@$version"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$mdbook" build book 2>&1 | tee "$log"
if grep -Eq '\b(WARN|ERROR)\b' "$log"; then
    echo "the book: mdbook complains (see above)" >&2
    exit 1
fi
