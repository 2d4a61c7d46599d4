/**
 * Builds the documentation as a web site (`docs/site/dist`), and follows every link of its pages. A line for each that leads to nothing;
 * exit 1 on any.
 *
 *   node tools/site
 *
 * The first run installs VitePress into docs/site.
 */
const { exitWith } = require('../start.js')

exitWith(require('./main.ts').main())
