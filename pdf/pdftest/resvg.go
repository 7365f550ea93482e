package pdftest

import (
	"encoding/json"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// resvgModules is where `make tools` puts resvg, a renderer of SVG.
const resvgModules = ".tools/resvg/node_modules"

// resvgScript draws the files that it is given as JSON.
const resvgScript = `
const { Resvg } = require('@resvg/resvg-js');
const fs = require('fs');
const job = JSON.parse(fs.readFileSync(0, 'utf8'));
for (const [i, file] of job.files.entries()) {
  const r = new Resvg(fs.readFileSync(file, 'utf8'), {
    background: 'white',
    fitTo: { mode: 'zoom', value: job.zoom },
    font: { loadSystemFonts: false, fontFiles: job.fonts, defaultFontFamily: job.family,
      sansSerifFamily: 'Liberation Sans', serifFamily: 'Liberation Serif', monospaceFamily: 'Liberation Mono' },
  });
  fs.writeFileSync(job.out + '/' + i + '.png', r.render().asPng());
}
`

// Resvg draws SVG files with resvg on white, zoom pixels to each of theirs, with fonts from files
// only; family is for texts that name none.
func Resvg(tb testing.TB, files, fonts []string, family string, zoom float64) []image.Image {
	tb.Helper()
	Need(tb, "resvg")
	root, err := Root()
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	job, err := json.Marshal(map[string]any{"files": files, "fonts": fonts, "family": family, "zoom": zoom, "out": dir})
	if err != nil {
		tb.Fatal(err)
	}
	input := Write(tb, "job.json", job)
	in, err := os.Open(input)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	cmd := exec.CommandContext(tb.Context(), Need(tb, "node"), "-e", resvgScript) //nolint:gosec // G204: a fixed judge on files of the test
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(root, filepath.FromSlash(resvgModules)))
	cmd.Stdin = in
	if _, errs, code := output(tb, cmd); code != 0 {
		tb.Fatalf("resvg: exit %d: %s", code, errs)
	}
	images := make([]image.Image, len(files))
	for i := range files {
		images[i] = readPNG(tb, filepath.Join(dir, strconv.Itoa(i)+".png"))
	}
	return images
}
