/** Builds the site into docs/site/dist: `node tools/site` in the repository. */
import { fileURLToPath } from 'node:url'
import { build } from 'vitepress'
import { stage } from './stage.mjs'

stage()
await build(fileURLToPath(new URL('.', import.meta.url)))
