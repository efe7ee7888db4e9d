#!/usr/bin/env bash
# Pictures of a run's report for the documentation, light and dark: tools/report_pictures.sh RUN (needs Chromium). Writes docs/images/report-{light,dark}.png.
set -euo pipefail
cd "$(dirname "$0")/.."
run=${1:?folder of a run}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "piton: no Chromium on PATH (apt-get install chromium)" >&2; exit 3; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$run/report.html" "$folder/report.html"
mkdir -p docs/images
options=(--headless --disable-gpu --hide-scrollbars --window-size=1280,1450 "--user-data-dir=$folder/profile")
[ "$(id -u)" != 0 ] || options+=(--no-sandbox)
scheme=0
for name in dark light; do # Chromium's numbers of the preferred schemes: 0 and 1
    timeout 60 "$browser" "${options[@]}" --blink-settings=preferredColorScheme=$scheme "--screenshot=$folder/$name.png" "file://$folder/report.html" 2>/dev/null
    mv "$folder/$name.png" "docs/images/report-$name.png"
    scheme=$((scheme + 1))
done
ls -l docs/images/report-*.png
