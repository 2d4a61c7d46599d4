/** Builds the site into docs/site/dist: `npm ci && npm run build` in this folder. A dead link fails the build. */
import { fileURLToPath } from 'node:url'
import { build } from 'vitepress'
import { stage } from './stage.mjs'

stage()
await build(fileURLToPath(new URL('.', import.meta.url)))
