/**
 * Builds the documentation as a web site (`docs/site/dist`), and looks at every page in Chromium as a reader meets it: links, contrast,
 * narrow windows, light and dark. A line for each finding; exit 1 on any.
 *
 *   node tools/site [--build]      with --build: only builds it
 *
 * The first run installs VitePress into docs/site. Takes three minutes.
 */
const { exitWith } = require('../start.js')

exitWith(require('./main.ts').main(process.argv.slice(2)))
